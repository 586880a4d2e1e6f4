"""The tags that callers may hold under two policies: enough of them to compare what each policy shows to anybody."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.policy.name_patterns import can_match_both, covers_name, is_literal
from tokonoma.policy.rules import DEFAULT_TAGS, PolicyRules, list_readable

_OTHER = "another"  # stands for all names and tags that no policy mentions
_ANYBODY = "any other caller"


@dataclass(frozen=True, slots=True)
class TagPair:
    """The tags that the same callers hold under the old policy and under the new one."""

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def pair_callers(old: PolicyRules, new: PolicyRules) -> list[TagPair]:
    """For every caller a pair with its tags under both policies. Where two patterns may match the same name, but it is
    not certain, the pair is listed too."""
    if [name for name, _ in old.callers] == [name for name, _ in new.callers]:
        pairs = [TagPair(name, tags, new.callers[place][1]) for place, (name, tags) in enumerate(old.callers)]
        return [*pairs, TagPair(_ANYBODY, DEFAULT_TAGS, DEFAULT_TAGS)]
    kept = {name for name, _ in new.callers}
    lines = {(name, before, tags) for name, tags in new.callers for before in _list_tags(old, name)}
    gone = {(name, tags) for name, tags in old.callers if name not in kept and not _is_matched(new, name)}
    rest = {(name, tags, DEFAULT_TAGS) for name, tags in gone | {(_ANYBODY, DEFAULT_TAGS)}}
    return [TagPair(*each) for each in sorted(lines | rest)]


def _list_tags(rules: PolicyRules, name: str) -> Iterator[tuple[str, ...]]:
    """Every set of tags that a caller whose name matches this pattern may hold."""
    for other, tags in rules.callers:
        if can_match_both(name, other):
            yield tags
        if covers_name(other, name):
            return
    yield DEFAULT_TAGS


def _is_matched(rules: PolicyRules, name: str) -> bool:
    return is_literal(name) and any(fnmatchcase(name, other) for other, _ in rules.callers)


def list_tag_pairs(old: PolicyRules, new: PolicyRules) -> list[TagPair]:
    """One set of tags for each combination of classes that can be read under the old and under the new policy."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}

    def add(tags: tuple[str, ...]) -> bool:
        key = list_readable(old, tags), list_readable(new, tags)
        return found.setdefault(key, tags) is tags

    add(())
    alone = [tags for tags in sorted((tag,) for tag in _list_all_tags(old, new)) if add(tags)]
    while sum(add((*tags, *more)) for tags in list(found.values()) for more in alone):
        pass  # until no further combination appears
    return [TagPair(" + ".join(tags) or "no tags", tags, tags) for tags in found.values()]


def _list_all_tags(old: PolicyRules, new: PolicyRules) -> set[str]:
    """All tags that the policies mention, and for each group of them one that they do not."""
    tags = {"*", _OTHER, *DEFAULT_TAGS}
    for rules in (old, new):
        tags.update(tag for _, held in rules.callers for tag in held)
        tags.update(tag for each in CLASSIFICATIONS for tag in rules.class_rules[each].allow)
    groups = {tag.partition(":")[0] for tag in tags if ":" in tag}
    return tags | {f"{group}:*" for group in groups} | {f"{group}:{_OTHER}" for group in groups}
