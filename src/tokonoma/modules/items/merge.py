"""What becomes of an item that comes from a file, seen beside the one that is here. Pure.

Nothing that was changed here is lost to an import. A file that nobody touched since its export is only older or newer;
one that was edited counts if the item is still what it was when it was exported, and is a conflict otherwise.
"""

from typing import Literal, NamedTuple

from tokonoma.modules.items.export_format import CarriedItem, CarriedLink, said

Outcome = Literal["saved", "changed", "unchanged", "kept", "conflict", "skipped"]
Link = tuple[str, str]


class Fate(NamedTuple):
    outcome: Outcome
    why: str = ""
    edited: bool = False  # by hand: it counts a revision more; else it is taken over as it was elsewhere


def fate_of(new: CarriedItem, stored: CarriedItem | None) -> Fate:
    if stored is None:
        return Fate("saved")
    if said(new) == said(stored) and links_of(new) == links_of(stored) and _gone(new) == _gone(stored):
        return Fate("unchanged")
    theirs, ours = new.get("revision", 0), stored.get("revision", 0)
    edited = new.get("edited", True)
    if _gone(stored) and not _gone(new):
        return Fate("conflict" if edited else "kept", "It is in the trash here; restore_item brings it back.")
    if edited:
        if theirs == ours:
            return Fate("changed", edited=True)
        return Fate("conflict", f"The file was edited at revision {theirs}, and here it is at {ours}.")
    if theirs > ours:
        return Fate("changed")
    if theirs < ours:
        return Fate("kept", f"It is newer here: revision {ours}, and {theirs} came.")
    return Fate("conflict", f"It was changed here and there since revision {ours - 1}.")


def links_of(item: CarriedItem) -> set[Link]:
    """By what does not change: an item's own id, or the address of another record."""
    return {link_of(link) for link in item.get("links", ())}


def link_of(link: CarriedLink) -> Link:
    return link.get("uid") or link["to"], link.get("kind", "related")


def _gone(item: CarriedItem) -> bool:
    return item.get("deleted_at") is not None
