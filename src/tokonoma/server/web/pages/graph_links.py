"""Links added to and removed from the graph, by the tools of the module that stores them: relations of memos, and
links of items to any record. Other links stand in texts (files, manuals) or in sources (claims)."""

from tokonoma.core.errors import Invalid, Missing
from tokonoma.server.web.pages.graph_walk import GraphEdge, name_module
from tokonoma.server.web.pages.memory.relations import find_common_namespace
from tokonoma.server.web.pages.request import PageRequest

ITEM_KINDS = ("related", "blocks", "blocked_by", "parent_of", "child_of")
_RELATED = "related"
_MADE_BY_ITEMS = (*ITEM_KINDS, "references")
_EVERYWHERE = "/"


def is_removable(edge: GraphEdge) -> bool:
    """Whether this page can take the link away."""
    modules = (name_module(edge.source), name_module(edge.target))
    if modules == ("memory", "memory"):
        return edge.kind != "near"
    return "items" in modules and edge.kind in _MADE_BY_ITEMS


def add_link(request: PageRequest, source: str, target: str, kind: str) -> None:
    modules = (name_module(source), name_module(target))
    if modules == ("memory", "memory"):
        one, other = (_name_record(each) for each in (source, target))
        space = find_common_namespace(request, one, other)
        request.call(
            "memory", "relation.save", sourceMemoId=one, targetMemoId=other, tag=kind or _RELATED, namespace=space
        )
        return
    if "items" not in modules:
        raise Invalid("A link can be made between two memos, and between an item and any record.")
    if kind and kind not in ITEM_KINDS:
        raise Invalid("A link of an item is one of: related, blocks, blocked_by, parent_of, child_of.")
    item, other = (source, target) if modules[0] == "items" else (target, source)
    if modules != ("items", "items") and kind not in ("", _RELATED):
        raise Invalid("Between an item and another record there is only the link related.")
    request.call("items", "add_relation", type="items", id=_parse_item(item), target=other, kind=kind or _RELATED)


def remove_link(request: PageRequest, source: str, target: str, kind: str) -> None:
    edge = GraphEdge(source, target, kind)
    if not is_removable(edge):
        raise Invalid("This link stands in a text or a source. Change it there.")
    if name_module(source) == name_module(target) == "memory":
        _remove_relation(request, _name_record(source), _name_record(target), kind)
        return
    item, other = (source, target) if name_module(source) == "items" else (target, source)
    kept = kind if kind in ITEM_KINDS else _RELATED
    removed = request.call("items", "remove_relation", type="items", id=_parse_item(item), target=other, kind=kept)
    if not removed["changed"]:
        raise Missing("There is no such link; it may stand in the text of the item.")


def _remove_relation(request: PageRequest, source: str, target: str, tag: str) -> None:
    """Wherever it lies: the graph does not show its namespace."""
    ends = {"sourceMemoId": source, "targetMemoId": target, "tag": tag}
    found = request.call("memory", "relation.list", **ends, namespace=_EVERYWHERE)["edges"]
    if not found:
        raise Missing("There is no such link.")
    for each in found:
        request.call("memory", "relation.delete", **ends, namespace=each["namespace"])


def _name_record(address: str) -> str:
    return address.removeprefix("tokonoma://").partition("/")[2]


def _parse_item(address: str) -> int:
    name = _name_record(address)
    if not (name.isascii() and name.isdigit() and len(name) < 19):
        raise Invalid("This is not the address of an item.")
    return int(name)
