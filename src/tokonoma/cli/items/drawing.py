"""Items as a picture: Mermaid and DOT. Pure; whatever a title holds stays text."""

from collections.abc import Callable, Iterable
from typing import Any

_LONGEST = 60  # characters of a title in a node
_ARROWS = {"related": "---", "blocks": "-->|blocks|", "parent_of": "-->|parent of|"}
_STYLES = {
    "related": "dir=none",
    "blocks": 'label="blocks"',
    "parent_of": 'label="parent of", style=dashed',
}


def mermaid(told: dict[str, Any]) -> str:
    lines = ["graph LR"]
    for item in _items(told):
        lines.append(f'  {_name(item)}["{_mermaid_text(item)}"]')
    for edge in told.get("edges", ()):
        one, other = (edge[end].replace("-", "_") for end in ("source", "target"))
        lines.append(f"  {one} {_ARROWS[edge['kind']]} {other}")
    for number, each in enumerate(told.get("references", ())):
        lines.append(f'  ref{number}(["{_escaped(_short(each["title"]))}<br/>{_escaped(each["module"])}"])')
    lines.append(f"  style {_name(told['center_item'])} stroke-width:3px")
    closed = [_name(item) for item in _items(told) if item["status"] in ("Completed", "Closed", "Canceled", "Rejected")]
    if closed:
        lines += ["  classDef closed stroke-dasharray: 4", f"  class {','.join(closed)} closed"]
    return "\n".join(lines)


def dot(told: dict[str, Any]) -> str:
    lines = ["graph items {" if not told.get("edges") else "digraph items {", "  node [shape=box];"]
    for item in _items(told):
        bold = ", penwidth=3" if item is told["center_item"] else ""
        lines.append(f"  {_quoted(item['address'])} [label={_quoted(_label(item))}{bold}];")
    for edge in told.get("edges", ()):
        lines.append(f"  {_quoted(edge['source'])} -> {_quoted(edge['target'])} [{_STYLES[edge['kind']]}];")
    for each in told.get("references", ()):
        label = f"{_short(each['title'])}\n{each['module']}"
        lines.append(f"  {_quoted(each['address'])} [label={_quoted(label)}, shape=note];")
    return "\n".join([*lines, "}"])


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"mermaid": mermaid, "dot": dot}


def _items(told: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return [told["center_item"], *(each["item"] for each in told["related_items"])]


def _name(item: dict[str, Any]) -> str:
    """A node's name; `end` and the like mean something to Mermaid, and no address is such a word."""
    return item["address"].replace("-", "_")


def _label(item: dict[str, Any]) -> str:
    return f"{item['address']} ({item['status']})\n{_short(item['title'])}"


def _mermaid_text(item: dict[str, Any]) -> str:
    return _escaped(_label(item)).replace("\n", "<br/>")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _escaped(text: str) -> str:
    """Mermaid reads entities with # instead of &, and draws HTML otherwise."""
    kept = text.replace("#", "#35;")
    for sign, entity in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;"), ("\\", "#92;")):
        kept = kept.replace(sign, entity)
    return kept


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
