"""Finds what two versions of a record were made from. Pure."""

from collections.abc import Sequence

from tokonoma.transfer.sync.merge import Edition, FieldRules, merge_editions
from tokonoma.transfer.sync.versions import Version, includes, join_versions, keep_greatest, meet_versions

_MAX_DEPTH = 8

KnownEditions = Sequence[tuple[Version, Edition]]


def find_base(rules: FieldRules, known: KnownEditions, one: Version, other: Version, depth: int = 0) -> Edition | None:
    """The edition that holds exactly the edits which are in both versions; None if it is not known.

    If no home ever had it, because three homes have merged their edits in different orders, it is merged from those
    that are known. An older edition would not do: an edit that one side has taken back since would come again.
    """
    common = meet_versions(one, other)
    inside = [(version, edition) for version, edition in known if includes(common, version)]
    parts = keep_greatest([version for version, _ in inside])
    if not parts or depth > _MAX_DEPTH:
        return None
    version, edition = parts[0], _pick(inside, parts[0])
    for part in parts[1:]:
        merged = merge_editions(rules, find_base(rules, known, version, part, depth + 1), edition, _pick(inside, part))
        if merged.clashes:
            return None
        version, edition = join_versions(version, part), Edition(merged.body, merged.at)
    return edition if includes(version, common) else None


def _pick(known: KnownEditions, wanted: Version) -> Edition:
    return next(edition for version, edition in known if version == wanted)
