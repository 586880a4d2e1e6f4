"""What the pages of manuals and of the vault share: paths in addresses, lines with numbers, coverage, reasons."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tokonoma.core.errors import Denied, Refusal
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.request import PageRequest, PageResponse

Lines = tuple[int, int]
SHOWN_RANGES = 6
"""Ranges of lines that a page names before it says how many more there are."""

STATES = ("cited", "read", "unread", "changed")


def say_later(text: str) -> str:
    """A text of the table of words, which a template says."""
    return text


REASONS: Mapping[str, str] = {
    "hidden": say_later("Its name begins with a dot."),
    "symlink": say_later("It is a link, and links are not followed. Replace it with a copy."),
    "hard_link": say_later("It has several names on the disk. Replace it with a copy."),
    "odd_name": say_later("Its name has control characters, invisible ones, or bytes that are not UTF-8."),
    "same_name": say_later("Another name differs from it only in how its letters are composed. Rename one of them."),
    "unreadable": say_later("The server has no permission to read it."),
    "too_deep": say_later("It lies in more than 32 folders."),
    "not_a_file": say_later("It is not a file."),
    "too_large": say_later("It is larger than 16 MiB."),
    "not_text": say_later("It is not a text."),
    "encoding": say_later("It is not UTF-8, and its encoding cannot be recognised. Convert it to UTF-8."),
    "changed": say_later("It changed while it was read."),
    "unindexed": say_later("The disk is full or read-only, so it could not be indexed."),
    "outside_manual": say_later("It is in no folder of a manual."),
    "not_a_manual_file": say_later("It is neither a Markdown nor a JSON file."),
    "policy": say_later("The policy hides it. Only the owner sees that it is there."),
    "time_budget": say_later("The time of the search was over."),
    "candidate_cap": say_later("The search had as many hits as it was allowed to have."),
    "stage_cap": say_later("The search was not allowed to go further."),
    "hard_limit": say_later("It is too long to be searched whole. Split it."),
    "indexing": say_later("It is not indexed yet."),
}
"""Why a file or a section was not read or searched."""


def say_reason(reason: str) -> str:
    return REASONS.get(reason, reason)


def read_number(request: PageRequest, name: str, otherwise: int = 0) -> int:
    """A number of the query, from 0."""
    given = request.get_parameter(name)
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else otherwise


def quote_path(path: str) -> str:
    """A path of files as a part of a page's address: readable, with its slashes."""
    return quote(path, safe="/")


def take_page(ask: Callable[..., Any], start: int, size: int) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """Some items of a list that a tool returns in pages of its own, and the first of those."""
    first = page = ask()
    items: list[dict[str, Any]] = [*page["items"]]
    while len(items) < start + size and page["has_more"]:
        page = ask(cursor=page["next_cursor"])
        items += page["items"]
    return items[start : start + size], first


@dataclass(frozen=True, slots=True)
class ShownLine:
    number: int
    text: str
    state: str  # of STATES, or empty for a line that was never shown


@dataclass(frozen=True, slots=True)
class CoverageStrip:
    """Which lines of a file were read and cited. `parts` are as `draw_strip` takes them."""

    path: str
    href: str
    total: int
    read_ratio: float
    cited_ratio: float
    parts: Sequence[tuple[int, int, str]]
    unread: Sequence[Lines]
    cited_unread: Sequence[Lines]
    changed: Sequence[Lines]
    reason: str = ""  # why there is no coverage

    @property
    def read_percent(self) -> int:
        """Rounded down: 100 only if nothing is left."""
        return int(100 * self.read_ratio)

    @property
    def cited_percent(self) -> int:
        return int(100 * self.cited_ratio)

    def find_state(self, line: int) -> str:
        """The last part wins, as in the picture."""
        return next((state for first, last, state in reversed(self.parts) if first <= line <= last), "")


def build_strip(path: str, href: str, coverage: Mapping[str, Any]) -> CoverageStrip:
    """From what a coverage tool returns."""
    covered, cited_unread = to_lines(coverage["covered_ranges"]), to_lines(coverage["cited_unread_ranges"])
    changed = to_lines(coverage.get("changed_ranges", ()))
    parts = [
        *((first, last, "read") for first, last in to_lines(coverage["read_ranges"])),
        *((first, last, "cited") for first, last in covered),
        *((first, last, "changed") for first, last in changed),
        *((first, last, "unread") for first, last in cited_unread),
    ]
    unread = to_lines(coverage["never_seen_ranges"])
    ratios = coverage["read_ratio"], coverage["coverage_ratio"]
    return CoverageStrip(path, href, coverage["total_lines"], *ratios, parts, unread, cited_unread, changed)


def to_coverage(lines: Mapping[str, Any]) -> dict[str, Any]:
    """What the owner's tool `lines` returns, as a coverage tool would."""
    names = {"read": "read_ranges", "cited": "covered_ranges", "cited_unread": "cited_unread_ranges"}
    names |= {"never_seen": "never_seen_ranges", "changed": "changed_ranges", "cited_ratio": "coverage_ratio"}
    return {names.get(name, name): value for name, value in lines.items()}


def read_coverage(request: PageRequest, pages: PageParts, module: str, caller: str, **file: str) -> dict[str, Any]:
    """What the person has read of a file; or, for the owner, what another caller has, and `*` all of them."""
    if not caller:
        return request.call(module, "coverage", **file)
    return to_coverage(pages.run_owner_tool(request.owner_caller, module, "lines", {**file, "caller": caller}))


def list_callers(request: PageRequest, pages: PageParts, module: str) -> list[str]:
    """Whose reading the owner can choose from."""
    if request.session is None or not request.session.person.is_owner:
        return []
    return pages.run_owner_tool(request.owner_caller, module, "readers", {})["callers"]


def build_missing_strip(path: str, href: str, reason: str) -> CoverageStrip:
    return CoverageStrip(path, href, 0, 0.0, 0.0, (), (), (), (), reason)


def to_lines(ranges: Iterable[Mapping[str, int]]) -> list[Lines]:
    return [(each["start_line"], each["end_line"]) for each in ranges]


def number_lines(text: str, first: int, strip: CoverageStrip | None) -> list[ShownLine]:
    lines = text.removesuffix("\n").split("\n")  # as the tools count them: no other character ends a line
    return [
        ShownLine(number, line.rstrip("\r"), strip.find_state(number) if strip else "")
        for number, line in enumerate(lines, first)
    ]


def show_unreadable(error: Refusal, path: str, back: str) -> PageResponse:
    """A page for a file that is there but is no text that can be shown. Raises what is another refusal."""
    if not isinstance(error, Denied) or error.reason not in REASONS:
        raise error
    values = {"file": path, "reason": error.reason, "why": say_reason(error.reason), "back": back}
    return PageResponse("library/unreadable.html", values, 200)
