"""Memos as text for a terminal: facts above a content, a tree of namespaces, parts of a text in colour. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokonoma.core.printable import escape_line, shorten
from tokonoma.core.query import extract_snippet, find_terms

SHORT_ID = 18  # characters: the time and the counter of an id, which differ between the memos of one home

_FACTS = (
    "namespace", "thread", "date", "valid_from", "valid_until", "superseded_by", "created_at", "updated_at",
    "expires_at", "version",
)  # fmt: skip
_NAME_WIDTH = 60  # columns of a title or of the start of a text

Parts = list[tuple[str, str]]  # texts with their colours; none is an empty name


def format_time(text: str) -> str:
    """2026-11-16 15:12"""
    return text[:16].replace("T", " ")


def format_name(memo: Mapping[str, Any]) -> str:
    """The title, or the start of the text."""
    return shorten(memo.get("title") or memo.get("content", ""), _NAME_WIDTH)


def format_memo(memo: Mapping[str, Any], relations: Sequence[str]) -> str:
    """The facts, then the content as it is."""
    lines = [f"{memo['memo_id']}  {memo.get('title', '')}".rstrip()]
    lines += [f"  {name + ':':<12} {memo[name]}" for name in _FACTS if name in memo]
    lines += [f"  {key + ':':<12} {value}" for key, value in _list_metadata("", memo["metadata"])]
    lines += [f"  {each}" for each in relations]
    return "\n".join([*map(escape_line, lines), "", memo["content"]])


def format_relation(edge: Mapping[str, Any], memo_id: str, nodes: Mapping[str, Mapping[str, Any]]) -> str:
    """`causes:  → 01a1e4f3-9520-7031  Title` for a relation to another memo, ← for one from it."""
    is_source = edge["sourceMemoId"] == memo_id
    other = edge["targetMemoId" if is_source else "sourceMemoId"]
    weight = "" if edge["weight"] == 1 else f"  ({edge['weight']:.2f})"
    return f"{edge['tag'] + ':':<12} {'→' if is_source else '←'} {other}  {format_name(nodes.get(other, {}))}{weight}"


def _list_metadata(prefix: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in metadata.items():
        if isinstance(value, dict) and value:
            yield from _list_metadata(f"{prefix}{key}.", value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def draw_tree(counts: Mapping[str, int], root: str, depth: int | None) -> list[str]:
    """The namespaces below a root, each with the memos in it and, if there are more, in it and below it."""
    prefix = root.rstrip("/") + "/"
    inside = {name: number for name, number in counts.items() if name == root or name.startswith(prefix)}
    totals: dict[str, int] = {root: 0}
    for name, number in inside.items():
        steps = [each for each in name[len(prefix) :].split("/") if each]
        for end in range(len(steps) + 1):
            place = prefix + "/".join(steps[:end]) if end else root
            totals[place] = totals.get(place, 0) + number
    children: dict[str, list[str]] = {}
    for name in sorted(totals.keys() - {root}, key=lambda name: name.split("/")):
        parent = name.rpartition("/")[0]
        children.setdefault(root if parent == prefix.rstrip("/") else parent, []).append(name)

    def describe(name: str) -> str:
        own, total = inside.get(name, 0), totals[name]
        return f"{own}" if own == total else f"{own}, {total} with those below"

    def draw(name: str, indent: str, level: int) -> Iterator[str]:
        if depth is not None and level >= depth:
            return
        below = children.get(name, [])
        for child in below:
            corner, bar = ("└─ ", "   ") if child == below[-1] else ("├─ ", "│  ")
            yield f"{indent}{corner}{child.rpartition('/')[2]}  {describe(child)}"
            yield from draw(child, indent + bar, level + 1)

    return [f"{root}  {describe(root)}", *draw(root, "", 0)]


def cut_snippet(content: str, query: str, size: int) -> Parts:
    """The passage of a content that fits a query best, on one line, with its words in colour."""
    window, is_cut = extract_snippet(content, query, size)
    text = " ".join(window.split())
    if is_cut:
        text = ("" if content.startswith(window) else "…") + text + ("" if content.endswith(window) else "…")
    return highlight(text, query)


def highlight(text: str, query: str) -> Parts:
    parts: Parts = []
    last = 0
    for start, end in find_terms(text, query):
        parts += [(text[last:start], ""), (text[start:end], "yellow")]
        last = end
    return [(part, colour) for part, colour in [*parts, (text[last:], "")] if part]


def colour_diff(line: str) -> Parts:
    """A line of a unified diff."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return [(line, colours.get(line[:1], ""))]
