"""Markdown to Jira's document format (ADF), in linear time. A plain text is a document too: each line stays a line."""

import re
from collections.abc import Callable
from typing import Any

AdfNode = dict[str, Any]

_FENCE = re.compile(r" {0,3}(```+|~~~+)([^`]*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)$")
_RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_MAX_DEPTH = 8
_IN_ITEMS = ("paragraph", "bulletList", "orderedList", "codeBlock")
_MARKS = (("**", "strong"), ("__", "strong"), ("~~", "strike"), ("*", "em"), ("_", "em"))


def parse_markdown(text: str) -> AdfNode:
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return {"type": "doc", "version": 1, "content": _parse_blocks(lines, 0)}


def _parse_blocks(lines: list[str], depth: int) -> list[AdfNode]:
    nodes: list[AdfNode] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        node, at = _parse_block(lines, at, depth)
        nodes.append(node)
    return nodes


def _parse_block(lines: list[str], at: int, depth: int) -> tuple[AdfNode, int]:
    """The block that begins at this line, and the line after it."""
    line = lines[at]
    if fence := _FENCE.match(line):
        return _parse_code(lines, at, fence[1], fence[2].strip())
    if heading := _HEADING.match(line):
        text = heading[2].rstrip().rstrip("#").rstrip() or heading[2]
        return {"type": "heading", "attrs": {"level": len(heading[1])}, "content": parse_inline(text)}, at + 1
    if _RULE.match(line):
        return {"type": "rule"}, at + 1
    if depth < _MAX_DEPTH and line.lstrip().startswith(">"):
        end = _find_end(lines, at, lambda each: each.lstrip().startswith(">"))
        inner = [each.lstrip()[1:].removeprefix(" ") for each in lines[at:end]]
        return {"type": "blockquote", "content": _parse_blocks(inner, depth + 1) or [_build_paragraph([""])]}, end
    if depth < _MAX_DEPTH and (item := _ITEM.match(line)):
        return _parse_list(lines, at, item[2][-1], depth)
    if "|" in line and at + 1 < len(lines) and _is_delimiter(lines[at + 1]):
        end = _find_end(lines, at + 2, lambda each: "|" in each)
        rows = [_build_row(lines[at], "tableHeader"), *(_build_row(each, "tableCell") for each in lines[at + 2 : end])]
        return {"type": "table", "content": rows}, end
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _begins_block(lines[end]):
        end += 1
    return _build_paragraph(lines[at:end]), end


def _begins_block(line: str) -> bool:
    found = _FENCE.match(line) or _HEADING.match(line) or _RULE.match(line) or _ITEM.match(line)
    return found is not None or line.lstrip().startswith(">")


def _is_delimiter(line: str) -> bool:
    """The line below the head of a table: `|---|:-:|`."""
    return "|" in line and "-" in line and line.strip(" :|-") == ""


def _find_end(lines: list[str], at: int, is_part: Callable[[str], bool]) -> int:
    while at < len(lines) and is_part(lines[at]):
        at += 1
    return at


def _parse_code(lines: list[str], at: int, fence: str, language: str) -> tuple[AdfNode, int]:
    end = _find_end(lines, at + 1, lambda each: fence not in each or each.strip(f"{fence[0]} ") != "")
    text = "\n".join(lines[at + 1 : end])
    node: AdfNode = {"type": "codeBlock", "content": [{"type": "text", "text": text}] if text else []}
    return {**node, "attrs": {"language": language}} if language else node, end + 1


def _parse_list(lines: list[str], at: int, sign: str, depth: int) -> tuple[AdfNode, int]:
    """Items with the same sign. What is indented below one belongs to it."""
    items: list[AdfNode] = []
    is_ordered = sign in ".)"
    first = 1
    while at < len(lines) and (item := _ITEM.match(lines[at])) and item[2][-1] == sign:
        if is_ordered and not items:
            first = int(item[2][:-1])
        width = item.end()
        inner = [lines[at][width:]]
        at += 1
        while at < len(lines) and _belongs_to_item(lines, at, width):
            inner.append(lines[at][width:] if lines[at][:width].isspace() else lines[at].lstrip())
            at += 1
        items.append({"type": "listItem", "content": _fit_item(_parse_blocks(inner, depth + 1))})
    node: AdfNode = {"type": "orderedList" if is_ordered else "bulletList", "content": items}
    return {**node, "attrs": {"order": first}} if is_ordered and first != 1 else node, at


def _belongs_to_item(lines: list[str], at: int, width: int) -> bool:
    line = lines[at]
    if not line.strip():  # an empty line inside an item
        return at + 1 < len(lines) and lines[at + 1].startswith(" " * width) and bool(lines[at + 1].strip())
    return line.startswith(" " * min(width, 2)) or not _begins_block(line)


def _fit_item(nodes: list[AdfNode]) -> list[AdfNode]:
    """Jira takes only these in an item, and a text first."""
    allowed = [node if node["type"] in _IN_ITEMS else _flatten(node) for node in nodes]
    is_text = bool(allowed) and allowed[0]["type"] in ("paragraph", "codeBlock")
    return allowed if is_text else [_build_paragraph([""]), *allowed]


def _flatten(node: AdfNode) -> AdfNode:
    """A block as one paragraph of its texts."""
    return {"type": "paragraph", "content": _collect_texts(node)}


def _collect_texts(node: AdfNode) -> list[AdfNode]:
    if node["type"] in ("text", "hardBreak"):
        return [node]
    return [text for each in node.get("content", ()) for text in _collect_texts(each)]


def _build_paragraph(lines: list[str]) -> AdfNode:
    content: list[AdfNode] = []
    for place, line in enumerate(lines):
        content += ([{"type": "hardBreak"}] if place else []) + parse_inline(line.strip())
    return {"type": "paragraph", "content": content}


def _build_row(line: str, kind: str) -> AdfNode:
    cells = [cell.strip().replace("\0", "|") for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]
    return {"type": "tableRow", "content": [{"type": kind, "content": [_build_paragraph([cell])]} for cell in cells]}


def parse_inline(text: str, marks: tuple[AdfNode, ...] = ()) -> list[AdfNode]:
    """The pieces of a line: marks, links, code and plain text."""
    nodes: list[AdfNode] = []
    plain: list[str] = []
    gone: set[str] = set()  # signs that do not close any more: looked for only once, so that the whole stays linear
    at = 0

    def flush() -> None:
        if plain:
            nodes.append(_build_text("".join(plain), marks))
            plain.clear()

    while at < len(text):
        letter = text[at]
        if letter == "\\" and text[at + 1 : at + 2] in tuple("\\`*_~[]()#+-.!|>{}"):
            plain.append(text[at + 1])
            at += 2
            continue
        found = _parse_span(text, at, marks, gone) if letter in "`[*_~" else None
        if found is None:
            plain.append(letter)
            at += 1
            continue
        flush()
        nodes += found[0]
        at = found[1]
    flush()
    return nodes


def _parse_span(text: str, at: int, marks: tuple[AdfNode, ...], gone: set[str]) -> tuple[list[AdfNode], int] | None:
    """What is marked from here on, and the place after it; None if nothing is."""
    if text[at] == "`":
        end = _find(text, "`", at + 1, gone)
        return None if end <= at + 1 else ([_build_text(text[at + 1 : end], (*marks, {"type": "code"}))], end + 1)
    if text[at] == "[":
        if ")" in gone or any(mark["type"] == "link" for mark in marks):
            return None
        middle = _find(text, "](", at + 1, gone)
        end = _find(text, ")", middle + 2, gone) if middle > at + 1 else -1
        if end < 0:
            return None
        link = {"type": "link", "attrs": {"href": text[middle + 2 : end]}}
        return parse_inline(text[at + 1 : middle], (*marks, link)), end + 1
    for sign, kind in _MARKS:
        if not text.startswith(sign, at) or any(mark["type"] == kind for mark in marks):
            continue
        if sign[0] == "_" and at and text[at - 1].isalnum():  # snake_case is a word
            return None
        end = _find(text, sign, at + len(sign), gone)
        inner = text[at + len(sign) : end] if end > 0 else ""
        if inner and not inner[0].isspace() and not inner[-1].isspace():
            return parse_inline(inner, (*marks, {"type": kind})), end + len(sign)
        return None
    return None


def _find(text: str, sign: str, at: int, gone: set[str]) -> int:
    if sign in gone:
        return -1
    end = text.find(sign, at)
    if end < 0:
        gone.add(sign)
    return end


def _build_text(text: str, marks: tuple[AdfNode, ...]) -> AdfNode:
    # Beside code Jira takes no other mark than a link.
    has_code = any(mark["type"] == "code" for mark in marks)
    chosen = [mark for mark in marks if not has_code or mark["type"] in ("code", "link")]
    node: AdfNode = {"type": "text", "text": text}
    return {**node, "marks": chosen} if chosen else node
