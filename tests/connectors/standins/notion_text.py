"""Notion's rich text, and blocks as Markdown and back: as much of it as stand-ins need."""

from typing import Any

MARKS = {"heading_1": "# ", "heading_2": "## ", "heading_3": "### ", "bulleted_list_item": "- ", "quote": "> "}


def make_text(content: str) -> list[dict[str, Any]]:
    plain = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False}
    text = {"content": content, "link": None}
    row = {"type": "text", "text": text, "plain_text": content, "href": None}
    return [{**row, "annotations": {**plain, "color": "default"}}]


def fill_texts(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Texts as the service gives them back: with all their fields."""
    return [row for each in given for row in make_text(each.get("text", {}).get("content", ""))]


def read_text(texts: list[dict[str, Any]]) -> str:
    return "".join(each["plain_text"] for each in texts)


def parse_markdown(text: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for line in filter(None, text.splitlines()):
        kind = next((kind for kind, mark in MARKS.items() if line.startswith(mark)), "paragraph")
        content = line.removeprefix(MARKS.get(kind, ""))
        blocks.append({"type": kind, kind: {"rich_text": make_text(content), "color": "default"}})
    return blocks


def write_markdown(blocks: list[dict[str, Any]]) -> str:
    lines = [MARKS.get(each["type"], "") + read_text(each[each["type"]].get("rich_text", [])) for each in blocks]
    return "\n".join(lines)
