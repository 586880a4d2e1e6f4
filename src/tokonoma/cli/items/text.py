"""Items as text: Mermaid and DOT for a graph, and a form for an editor. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from tokonoma.core.errors import Invalid
from tokonoma.transfer.markdown_file import FrontMatterError, format_front_matter, read_front_matter

_FIELDS = ("title", "description", "status", "priority", "category", "start_date", "end_date", "version")
_LISTS = ("tags", "related")
_MAX_TITLE = 60  # characters of a title in a node
_ARROWS = {"related": "---", "blocks": "-->|blocks|", "parent_of": "-->|parent of|"}
_STYLES = {"related": "dir=none", "blocks": 'label="blocks"', "parent_of": 'label="parent of", style=dashed'}
_CLOSED = ("Completed", "Closed", "Canceled", "Rejected")


def draw_mermaid(graph: dict[str, Any]) -> str:
    items = _list_items(graph)
    # No address is a word with a meaning in Mermaid, such as `end`.
    names = {item["address"]: item["address"].replace("-", "_") for item in items}
    lines = ["graph LR"]
    for item in items:
        label = _escape_mermaid(_node_label(item)).replace("\n", "<br/>")
        lines.append(f'  {names[item["address"]]}["{label}"]')
    for edge in graph.get("edges", ()):
        source, target = (edge[end].replace("-", "_") for end in ("source", "target"))
        lines.append(f"  {source} {_ARROWS[edge['kind']]} {target}")
    for number, each in enumerate(graph.get("references", ())):
        title, module = _escape_mermaid(_shorten(each["title"])), _escape_mermaid(each["module"])
        lines.append(f'  ref{number}(["{title}<br/>{module}"])')
    lines.append(f"  style {names[graph['center_item']['address']]} stroke-width:3px")
    closed = [names[item["address"]] for item in items if item["status"] in _CLOSED]
    if closed:
        lines += ["  classDef closed stroke-dasharray: 4", f"  class {','.join(closed)} closed"]
    return "\n".join(lines)


def draw_dot(graph: dict[str, Any]) -> str:
    lines = ["graph items {" if not graph.get("edges") else "digraph items {", "  node [shape=box];"]
    for item in _list_items(graph):
        bold = ", penwidth=3" if item is graph["center_item"] else ""
        lines.append(f"  {_quote_dot(item['address'])} [label={_quote_dot(_node_label(item))}{bold}];")
    for edge in graph.get("edges", ()):
        lines.append(f"  {_quote_dot(edge['source'])} -> {_quote_dot(edge['target'])} [{_STYLES[edge['kind']]}];")
    for each in graph.get("references", ()):
        label = f"{_shorten(each['title'])}\n{each['module']}"
        lines.append(f"  {_quote_dot(each['address'])} [label={_quote_dot(label)}, shape=note];")
    return "\n".join([*lines, "}"])


GRAPH_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"mermaid": draw_mermaid, "dot": draw_dot}


def _list_items(graph: dict[str, Any]) -> list[dict[str, Any]]:
    return [graph["center_item"], *(each["item"] for each in graph["related_items"])]


def _node_label(item: dict[str, Any]) -> str:
    return f"{item['address']} ({item['status']})\n{_shorten(item['title'])}"


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"


def _escape_mermaid(text: str) -> str:
    """Mermaid has entities with # instead of &, and would draw HTML."""
    text = text.replace("#", "#35;")
    for sign, entity in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;"), ("\\", "#92;")):
        text = text.replace(sign, entity)
    return text


def _quote_dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def format_for_editor(item: Mapping[str, Any]) -> str:
    """The text to edit: fields as front matter, the content below."""
    fields = {name: item[name] or "" for name in _FIELDS} | {name: item[name] for name in _LISTS}
    return format_front_matter(fields) + item["content"] + "\n"


def find_changes(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the fields that differ from the item."""
    try:
        fields, body = read_front_matter(text)
    except FrontMatterError as error:
        raise Invalid(f"The fields cannot be read: {error}") from None
    if fields is None:
        raise Invalid("The fields between the two lines of --- are missing.")
    unknown = sorted(fields.keys() - {*_FIELDS, *_LISTS})
    if unknown:
        raise Invalid(f"There is no field {unknown[0]!r}; there are: {', '.join((*_FIELDS, *_LISTS))}.")
    new: dict[str, Any] = {name: _require_text(name, fields.get(name)) for name in _FIELDS}
    new |= {name: _require_list(name, fields.get(name)) for name in _LISTS}
    new["content"] = body.removesuffix("\n")
    return {name: value for name, value in new.items() if value != (item[name] or ([] if name in _LISTS else ""))}


def _require_text(name: str, value: Any) -> str:
    if isinstance(value, dict | list | bool):
        raise Invalid(f"{name} is not a text.")
    return "" if value is None else str(value)


def _require_list(name: str, value: Any) -> list[str]:
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise Invalid(f"{name} is not a list.")
    return [str(each) for each in cast("list[Any]", value)]
