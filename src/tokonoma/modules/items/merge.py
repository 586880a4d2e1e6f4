"""What becomes of an imported item beside the stored one. Pure."""

from typing import Any, Literal, NamedTuple

from tokonoma.modules.items.model import unique_tags
from tokonoma.modules.items.portable import PortableItem

Outcome = Literal["saved", "changed", "unchanged", "kept", "conflict", "skipped"]
# What an item says; the other fields tell where it comes from.
_CONTENT: dict[str, Any] = {
    "type": "", "title": "", "description": "", "content": "", "status": "Open", "priority": "MEDIUM", "category": "",
    "start_at": None, "end_at": None, "version": "", "tags": [], "assignee": "", "comments": [],
}  # fmt: skip


class LocalState(NamedTuple):
    """What happened to an imported item here."""

    imported_at: int = 0
    is_changed: bool = False


def merge_item(new: PortableItem, stored: PortableItem | None) -> tuple[Outcome, str]:
    """What becomes of an imported item beside the stored one, and why. Pure.

    An import never discards a change that was made here. A file that was not edited since its export is only older or
    newer; an edited one counts if the item is still at the revision of the export, and is a conflict otherwise.
    """
    if stored is None:
        return "saved", ""
    if _to_comparable(new) == _to_comparable(stored):
        return "unchanged", ""
    theirs, ours = new.get("revision", 0), stored.get("revision", 0)
    edited = new.get("edited", True)
    if stored.get("deleted_at") is not None and new.get("deleted_at") is None:
        return "conflict" if edited else "kept", "It is in the trash; restore_item brings it back."
    if theirs == ours if edited else theirs > ours:
        return "changed", ""
    if edited:
        return "conflict", f"The file was edited at revision {theirs}; the stored item is at revision {ours}."
    if theirs < ours:
        return "kept", f"The stored revision {ours} is newer than the imported revision {theirs}."
    return "conflict", f"Both sides changed since revision {ours - 1}."


def merge_foreign(new: PortableItem, stored: PortableItem | None, local: LocalState) -> tuple[Outcome, str]:
    """The same for an issue of another tracker. What was changed there since the last import is changed here, unless it
    was changed here, too. Pure."""
    if stored is None:
        return "saved", ""
    if fill_content(new) == fill_content(stored):
        return "unchanged", ""
    if stored.get("deleted_at") is not None:
        return "kept", "It is in the trash; restore_item brings it back."
    if not local.is_changed:
        return "changed", ""
    if new.get("updated_at", 0) <= local.imported_at:
        return "kept", "It was changed here since it was imported."
    return "conflict", "It was changed here and in the other tracker since it was imported."


def _to_comparable(item: PortableItem) -> tuple[dict[str, Any], set[tuple[str, str]], bool]:
    """What an item says, its links by what does not change (a uid or another module's address), and its state."""
    links = {(link.get("uid") or link["to"], link.get("kind", "related")) for link in item.get("links", ())}
    return fill_content(item), links, item.get("deleted_at") is not None


def fill_content(item: PortableItem) -> dict[str, Any]:
    """The fields of the content, with defaults for what is left out; each tag once."""
    content = {name: item.get(name, default) for name, default in _CONTENT.items()}
    return {**content, "tags": list(unique_tags(tag.strip() for tag in content["tags"]))}
