"""The account of a search: every file below the manuals' folder is searched, or it is listed with the reason."""

from collections.abc import Sequence

from tokonoma.core.desk import Desk
from tokonoma.files.listing import LeftOut, LeftOutReason, is_name_visible
from tokonoma.modules.manual.model import SectionKey, section_address, to_file_key
from tokonoma.modules.manual.sync import ManualLibrary

_IRRELEVANT = frozenset({"hidden", "not_a_file", "not_a_manual_file", "policy"})


def list_left_out(desk: Desk, library: ManualLibrary, manual: str | None) -> list[LeftOut]:
    """What is not searched of one manual, or of all, as far as the caller may know of it."""
    unread = [LeftOut(file, note.reason) for file, note in library.notes.items() if note.reason]
    named = [LeftOut(file, "unindexed") for file in library.on_disk.unindexed if file in library.on_disk.files]
    named += library.on_disk.left_out
    listed = [*unread, *(each for each in named if _is_visible(desk, library, each))]
    if desk.principal.kind == "owner":  # others must not learn that there is more
        seen = {(name, path) for name, files in library.visible.items() for path in files}
        hidden = library.corpus.files.keys() - seen - library.on_disk.unindexed - library.on_disk.pending
        listed += [LeftOut(file, "policy") for file in hidden]
    return sorted(each for each in listed if manual in (None, to_file_key(each.parts)[0]))


def _is_visible(desk: Desk, library: ManualLibrary, left_out: LeftOut) -> bool:
    manual, path = to_file_key((left_out.path,))
    namespace = library.on_disk.namespace_of(manual) if path else "/"
    return is_name_visible(desk, section_address(manual, path), namespace, left_out.path)


def list_still_left_out(
    desk: Desk, library: ManualLibrary, left_out: Sequence[tuple[str, LeftOutReason, int]]
) -> list[LeftOut]:
    """What an earlier search has left out, as far as the caller may know of it now."""
    now = {each.path: each for each in list_left_out(desk, library, None)}
    listed: list[LeftOut] = []
    for path, _, files in left_out:
        manual, inside = to_file_key((path,))
        if path in now:
            listed.append(now[path])
        elif inside in library.visible.get(manual, ()):  # it can be read now, but that search did not see it
            listed.append(LeftOut((path,), "changed", files))
    return listed


def has_relevant(left_out: Sequence[LeftOut]) -> bool:
    """Whether a file that is left out could hold text of a manual."""
    return any(each.reason not in _IRRELEVANT for each in left_out)


def list_searched(library: ManualLibrary, manual: str | None) -> list[int]:
    """The sections of one manual, or of all, without those of files that could not be read."""
    files, unread = library.corpus.file_keys, {file for file, note in library.notes.items() if note.reason}
    positions = library.positions(manual)
    return [each for each in positions if files[each] not in unread] if unread else list(positions)


def list_remaining(
    library: ManualLibrary, positions: Sequence[int], keys: Sequence[SectionKey], left_out: Sequence[str]
) -> list[int]:
    """Of these sections, those that an earlier search has not searched. A file that has changed since is searched
    whole, and so is one that was left out and can be read now."""
    known = library.corpus.positions
    files = {key[:2] for key in keys if key not in known}
    files.update(to_file_key((path,)) for path in left_out)
    wanted = {known[key] for key in keys if key in known}
    return [each for each in positions if each in wanted or library.corpus.sections[each].file in files]
