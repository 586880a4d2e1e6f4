"""What all pages of items share: the number in a path, due dates, the fields of a form, names of words in Japanese."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from tokonoma.core.clock import format_time, now
from tokonoma.core.errors import Missing
from tokonoma.server.web.pages.request import PageRequest, PageResponse
from tokonoma.server.web.pages.words.item_values import name_values

ITEMS = "/admin/items"
PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL")
SORTS = ("updated", "created", "priority", "due", "title", "id")
CLOSED = ("Completed", "Closed", "Canceled", "Rejected")
TEXTS = ("description", "content")
_SOON_MS = 3 * 86_400_000
_MOST_DIFF_LINES = 2_000


class DueDate(NamedTuple):
    text: str
    state: str  # late, soon, or empty


def render_items(request: PageRequest, template: str, status: int = 200, **values: Any) -> PageResponse:
    known = {"names": name_values(request.language), "due": describe_due, "problem": "", "item": None}
    return PageResponse(f"items/{template}", {**known, **values}, status)


def read_number(request: PageRequest) -> int:
    """`12` and `issue-12` lead to the same page: the number alone names an item."""
    number = request.names["name"].rpartition("-")[2]
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        problem = "There is no such item."
        raise Missing(problem)
    return int(number)


def load_item(request: PageRequest, comments: int = 20) -> dict[str, Any]:
    return request.call("items", "get_item_detail", type="items", id=read_number(request), comments=comments)


def locate_item(number: int, page: str = "") -> str:
    return f"{ITEMS}/{number}" + (f"/{page}" if page else "")


def list_statuses(request: PageRequest) -> list[dict[str, Any]]:
    return request.ask("items", "get_statuses", {"items": []})["items"]


def list_types(request: PageRequest) -> list[str]:
    """Those in use, most frequent first."""
    return list(request.ask("items", "get_stats", {"by_type": {}})["by_type"])


def describe_due(item: Mapping[str, Any]) -> DueDate:
    """A day is over when it has ended, and not when it begins."""
    end: str | None = item["end_date"]
    if end is None:
        return DueDate("", "")
    is_day, at = end.endswith("T00:00:00.000Z"), now()
    if item["status"] in CLOSED:
        state = ""
    elif end[:10] < format_time(at)[:10] if is_day else end < format_time(at):
        state = "late"
    else:
        state = "soon" if end < format_time(at + _SOON_MS) else ""
    return DueDate(end[:10] if is_day else f"{end[:16].replace('T', ' ')} UTC", state)


def choose(given: str, allowed: Sequence[str], otherwise: str) -> str:
    return given if given in allowed else otherwise


def read_count(given: str, most: int, otherwise: int = 0) -> int:
    """A number of a query that a person may have changed by hand."""
    return min(int(given), most) if given.isascii() and given.isdigit() and len(given) < 10 else otherwise


def split_tags(text: str) -> list[str]:
    for mark in ("、", "，", "\n"):
        text = text.replace(mark, ",")
    return [tag.strip() for tag in text.split(",") if tag.strip()]


def diff_texts(old: str, new: str) -> list[tuple[str, str]]:
    """Lines as (del, ins, same or gap; text)."""
    marks = {"-": "del", "+": "ins", "@": "gap"}
    lines = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2)
    found = [(marks.get(line[0], "same"), line if line[0] == "@" else line[1:]) for line in list(lines)[2:]]
    return found[:_MOST_DIFF_LINES]
