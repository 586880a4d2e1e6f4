"""Items as a picture: Mermaid and DOT. Pure; whatever a title holds stays text."""

from collections.abc import Callable, Iterable
from typing import Any

_MAX_TITLE = 60  # characters of a title in a node
_ARROWS = {"related": "---", "blocks": "-->|blocks|", "parent_of": "-->|parent of|"}
_STYLES = {
    "related": "dir=none",
    "blocks": 'label="blocks"',
    "parent_of": 'label="parent of", style=dashed',
}


def draw_mermaid(told: dict[str, Any]) -> str:
    lines = ["graph LR"]
    for item in _list_items(told):
        lines.append(f'  {_node_name(item)}["{_mermaid_label(item)}"]')
    for edge in told.get("edges", ()):
        one, other = (edge[end].replace("-", "_") for end in ("source", "target"))
        lines.append(f"  {one} {_ARROWS[edge['kind']]} {other}")
    for number, each in enumerate(told.get("references", ())):
        lines.append(
            f'  ref{number}(["{_escape_mermaid(_shorten(each["title"]))}<br/>{_escape_mermaid(each["module"])}"])'
        )
    lines.append(f"  style {_node_name(told['center_item'])} stroke-width:3px")
    closed = [
        _node_name(item)
        for item in _list_items(told)
        if item["status"] in ("Completed", "Closed", "Canceled", "Rejected")
    ]
    if closed:
        lines += ["  classDef closed stroke-dasharray: 4", f"  class {','.join(closed)} closed"]
    return "\n".join(lines)


def draw_dot(told: dict[str, Any]) -> str:
    lines = ["graph items {" if not told.get("edges") else "digraph items {", "  node [shape=box];"]
    for item in _list_items(told):
        bold = ", penwidth=3" if item is told["center_item"] else ""
        lines.append(f"  {_quote_dot(item['address'])} [label={_quote_dot(_node_label(item))}{bold}];")
    for edge in told.get("edges", ()):
        lines.append(f"  {_quote_dot(edge['source'])} -> {_quote_dot(edge['target'])} [{_STYLES[edge['kind']]}];")
    for each in told.get("references", ()):
        label = f"{_shorten(each['title'])}\n{each['module']}"
        lines.append(f"  {_quote_dot(each['address'])} [label={_quote_dot(label)}, shape=note];")
    return "\n".join([*lines, "}"])


GRAPH_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"mermaid": draw_mermaid, "dot": draw_dot}


def _list_items(told: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return [told["center_item"], *(each["item"] for each in told["related_items"])]


def _node_name(item: dict[str, Any]) -> str:
    """A node's name; `end` and the like mean something to Mermaid, and no address is such a word."""
    return item["address"].replace("-", "_")


def _node_label(item: dict[str, Any]) -> str:
    return f"{item['address']} ({item['status']})\n{_shorten(item['title'])}"


def _mermaid_label(item: dict[str, Any]) -> str:
    return _escape_mermaid(_node_label(item)).replace("\n", "<br/>")


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"


def _escape_mermaid(text: str) -> str:
    """Mermaid reads entities with # instead of &, and draws HTML otherwise."""
    kept = text.replace("#", "#35;")
    for sign, entity in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;"), ("\\", "#92;")):
        kept = kept.replace(sign, entity)
    return kept


def _quote_dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
