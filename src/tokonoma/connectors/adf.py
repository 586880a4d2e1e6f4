"""Jira's document format (ADF) to Markdown. The other direction is in `markdown_adf`."""

from collections.abc import Sequence
from typing import Any, cast

from tokonoma.connectors.markdown_adf import parse_markdown

__all__ = ["parse_markdown", "render_document", "render_documents"]

AdfNode = dict[str, Any]
_MAX_DEPTH = 60
_MARKS = {"strong": "**", "em": "*", "strike": "~~", "code": "`"}
_BLOCKS = frozenset({
    "paragraph", "heading", "codeBlock", "rule", "bulletList", "orderedList", "taskList", "decisionList", "blockquote",
    "panel", "expand", "nestedExpand", "table", "mediaSingle", "mediaGroup", "blockCard", "embedCard", "layoutSection",
    "layoutColumn", "extension", "bodiedExtension",
})  # fmt: skip


def render_documents(value: Any, depth: int = 0) -> Any:
    """The value with every document in it as Markdown."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [render_documents(each, depth + 1) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    held = cast("AdfNode", value)
    if held.get("type") == "doc" and isinstance(held.get("content"), list):
        return render_document(held)
    return {key: render_documents(each, depth + 1) for key, each in held.items()}


def render_document(document: AdfNode) -> str:
    return _render_blocks(_list_children(document), 0).strip("\n")


def _list_children(node: AdfNode) -> list[AdfNode]:
    content = node.get("content")
    listed = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("AdfNode", each) for each in listed if isinstance(each, dict)]


def _read_attribute(node: AdfNode, *names: str) -> str:
    """The first of these attributes that the node has."""
    attributes: Any = node.get("attrs")
    held = cast("AdfNode", attributes) if isinstance(attributes, dict) else {}
    return next((str(held[name]) for name in names if held.get(name) not in (None, "")), "")


def _render_blocks(nodes: Sequence[AdfNode], depth: int) -> str:
    return "\n\n".join(text for node in nodes if (text := _render_block(node, depth)))


def _render_block(node: AdfNode, depth: int) -> str:
    kind, children = node.get("type"), _list_children(node)
    if depth > _MAX_DEPTH:
        return "…"
    if kind == "heading":
        level = _read_attribute(node, "level")
        return f"{'#' * (int(level) if level in '123456' and level else 1)} {_render_inline(children)}"
    if kind == "codeBlock":
        text = "".join(str(each.get("text", "")) for each in children)
        fence = "````" if "```" in text else "```"
        return f"{fence}{_read_attribute(node, 'language')}\n{text}\n{fence}"
    if kind == "rule":
        return "---"
    if kind in ("bulletList", "orderedList", "taskList", "decisionList"):
        return _render_list(node, children, depth)
    if kind in ("blockquote", "panel"):
        return _indent(_render_blocks(children, depth + 1), "> ", "> ")
    if kind == "table":
        return _render_table(children, depth)
    if kind in ("blockCard", "embedCard"):
        return _read_attribute(node, "url")
    if kind in ("expand", "nestedExpand"):
        title = _read_attribute(node, "title")
        return "\n\n".join(filter(None, [f"**{title}**" if title else "", _render_blocks(children, depth + 1)]))
    if kind in ("paragraph", "taskItem", "decisionItem") or not any(each.get("type") in _BLOCKS for each in children):
        return _render_inline(children or [node])
    return _render_blocks(children, depth + 1)


def _render_list(node: AdfNode, items: Sequence[AdfNode], depth: int) -> str:
    first = _read_attribute(node, "order")
    number = int(first) if first.isdecimal() and len(first) < 9 else 1
    lines: list[str] = []
    for place, item in enumerate(items):
        if item.get("type") in ("taskList", "bulletList", "orderedList"):  # a nested list of tasks
            lines.append(_indent(_render_block(item, depth + 1), "  ", "  "))
            continue
        sign = f"{number + place}. " if node.get("type") == "orderedList" else "- "
        if item.get("type") == "taskItem":
            sign += "[x] " if _read_attribute(item, "state") == "DONE" else "[ ] "
        inner = [_render_block(each, depth + 1) for each in _list_children(item)]
        is_inline = not any(each.get("type") in _BLOCKS for each in _list_children(item))
        text = _render_inline(_list_children(item)) if is_inline else "\n".join(filter(None, inner))
        lines.append(_indent(text, sign, " " * (2 if sign.startswith("- ") else len(sign))))
    return "\n".join(lines)


def _render_table(rows: Sequence[AdfNode], depth: int) -> str:
    written: list[str] = []
    for row in rows:
        cells = [_render_blocks(_list_children(cell), depth + 1) for cell in _list_children(row)]
        plain = [cell.replace("|", "\\|").replace("\n\n", "<br>").replace("\n", "<br>") for cell in cells]
        written.append(f"| {' | '.join(plain)} |")
        if len(written) == 1:
            written.append(f"|{'---|' * len(cells)}")
    return "\n".join(written)


def _indent(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(f"{rest}{line}".rstrip() for line in lines[1:])])


def _render_inline(nodes: Sequence[AdfNode]) -> str:
    return "".join(_render_piece(node) for node in nodes)


def _render_piece(node: AdfNode) -> str:
    kind = node.get("type")
    if kind == "text":
        return _render_text(node)
    if kind == "hardBreak":
        return "\n"
    if kind == "mention":
        name = _read_attribute(node, "text", "id")
        return name if name.startswith("@") else f"@{name}"
    if kind == "emoji":
        return _read_attribute(node, "text", "shortName")
    if kind == "date":
        return _format_date(_read_attribute(node, "timestamp"))
    if kind in ("media", "mediaInline"):
        return f"[file {_read_attribute(node, 'alt', 'id', 'url')}]"
    if kind in ("inlineCard", "blockCard", "embedCard"):
        return _read_attribute(node, "url")
    if kind == "status":
        return f"[{_read_attribute(node, 'text')}]"
    return str(node.get("text", "")) + _render_inline(_list_children(node)[:1000])


def _render_text(node: AdfNode) -> str:
    text = str(node.get("text", ""))
    found: Any = node.get("marks")
    marks = [cast("AdfNode", each) for each in (cast("list[Any]", found) if isinstance(found, list) else [])]
    for mark in sorted(marks, key=lambda each: each.get("type") != "code"):  # code stands inside the others
        sign = _MARKS.get(str(mark.get("type")))
        if sign and text.strip():
            inner = text.strip()
            text = text.replace(inner, f"{sign}{inner}{sign}", 1)
        elif mark.get("type") == "link":
            text = f"[{text}]({_read_attribute(mark, 'href')})"
    return text


def _format_date(milliseconds: str) -> str:
    from datetime import UTC, datetime

    if not milliseconds.isdecimal() or len(milliseconds) > 14:
        return milliseconds
    return f"{datetime.fromtimestamp(int(milliseconds) / 1000, UTC):%Y-%m-%d}"
