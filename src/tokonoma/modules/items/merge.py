"""What becomes of an item that comes from a file, seen beside the one that is here. Pure.

Nothing that was changed here is lost to an import. A file that nobody touched since its export is only older or newer;
one that was edited counts if the item is still what it was when it was exported, and is a conflict otherwise.
"""

from typing import Literal, NamedTuple

from tokonoma.modules.items.export_format import PortableItem, PortableLink, fill_content_fields

Outcome = Literal["saved", "changed", "unchanged", "kept", "conflict", "skipped"]
LinkKey = tuple[str, str]


class ItemMerge(NamedTuple):
    outcome: Outcome
    why: str = ""
    edited: bool = False  # by hand: it counts a revision more; else it is taken over as it was elsewhere


def merge_item(new: PortableItem, stored: PortableItem | None) -> ItemMerge:
    if stored is None:
        return ItemMerge("saved")
    if (
        fill_content_fields(new) == fill_content_fields(stored)
        and collect_link_keys(new) == collect_link_keys(stored)
        and _is_deleted(new) == _is_deleted(stored)
    ):
        return ItemMerge("unchanged")
    theirs, ours = new.get("revision", 0), stored.get("revision", 0)
    edited = new.get("edited", True)
    if _is_deleted(stored) and not _is_deleted(new):
        return ItemMerge("conflict" if edited else "kept", "It is in the trash here; restore_item brings it back.")
    if edited:
        if theirs == ours:
            return ItemMerge("changed", edited=True)
        return ItemMerge("conflict", f"The file was edited at revision {theirs}, and here it is at {ours}.")
    if theirs > ours:
        return ItemMerge("changed")
    if theirs < ours:
        return ItemMerge("kept", f"It is newer here: revision {ours}, and {theirs} came.")
    return ItemMerge("conflict", f"It was changed here and there since revision {ours - 1}.")


def collect_link_keys(item: PortableItem) -> set[LinkKey]:
    """By what does not change: an item's own id, or the address of another record."""
    return {build_link_key(link) for link in item.get("links", ())}


def build_link_key(link: PortableLink) -> LinkKey:
    return link.get("uid") or link["to"], link.get("kind", "related")


def _is_deleted(item: PortableItem) -> bool:
    return item.get("deleted_at") is not None
