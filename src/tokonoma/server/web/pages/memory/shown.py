"""Memos as lists and headings show them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from markupsafe import Markup, escape

_NAME = 90  # characters of a content that stand for a title
_CHIPS = 6  # metadata of one memo in a list
_CHIP = 60  # characters
_MARKED = 40  # words of a query that are marked
_START = re.compile(r"^[\s#>*+-]+")


_OPTIONAL = dict.fromkeys(
    (
        *("title", "thread", "date", "valid_from", "valid_until", "expires_at", "deleted_at", "content_truncated"),
        *("supersedes", "superseded_by", "merged", "merged_into", "author", "change", "restored_version", "reason"),
        *("score_details", "why_not", "not_yet_embedded"),
    ),
    "",
)
"""What the tools leave out where there is nothing. Templates may ask for fields that are there only."""


class MetadataChip(NamedTuple):
    key: str
    value: Any
    shown: str


def complete(record: Mapping[str, Any]) -> dict[str, Any]:
    """A memo, version, relation or result with all fields that a template may ask for."""
    return {**_OPTIONAL, **record}


def name_memo(memo: Mapping[str, Any]) -> str:
    """Its title, else the start of its first line."""
    if memo.get("title"):
        return str(memo["title"])
    lines = (_START.sub("", line).strip() for line in str(memo.get("content", "")).splitlines())
    first = next((line for line in lines if line), "")
    return (f"{first[:_NAME]}…" if len(first) > _NAME else first) or str(memo.get("memo_id", ""))


def list_chips(metadata: Mapping[str, Any]) -> list[MetadataChip]:
    """Values that a list can be narrowed to by pointing at them; elements of a list one by one, such as tags."""
    chips: list[MetadataChip] = []
    for key, value in metadata.items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        for each in values:
            if isinstance(each, str | int | float | bool) and len(str(each)) <= _CHIP and len(key) <= _CHIP:
                text = str(each).lower() if isinstance(each, bool) else str(each)
                chips.append(MetadataChip(key, each, f"{key}: {text}"))
    return chips[:_CHIPS]


def mark_words(text: str, words: Iterable[str]) -> Markup:
    """The text with these words marked, whatever their case. A word that ends with `~` is the start of one."""
    wanted = {each.rstrip("~") for each in words}
    longest = sorted((each for each in wanted if each.strip()), key=len, reverse=True)[:_MARKED]
    if not longest:
        return escape(text)
    found = re.compile("|".join(map(re.escape, longest)), re.IGNORECASE)
    parts, end = list[Markup](), 0
    for match in found.finditer(text):
        parts += [escape(text[end : match.start()]), Markup("<mark>{}</mark>").format(match[0])]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])
