"""`/admin/journal`: who called what and how it ended, with filters, new entries as they come, and the chain's state."""

import json
from collections.abc import Sequence
from typing import Any

from tokonoma.core.clock import format_time, now
from tokonoma.core.errors import Invalid
from tokonoma.journal.verify import FILTERS
from tokonoma.server.web.pages.request import Download, PageRequest, PageResponse, build_path
from tokonoma.server.web.system_parts import SystemParts

_PAGE = 50
_MAX_EXPORT = 10_000
_OUTCOMES = ("ok", "committed", "sent", "refused", "failed")


def show_journal(parts: SystemParts, request: PageRequest) -> PageResponse:
    filters, after = _read_filters(request), _parse_after(request.get_parameter("after"))
    entries, following = parts.list_entries(filters, _PAGE, after)
    more = build_path(request.path, after=json.dumps(following), **filters) if following else ""
    values = {
        "entries": entries,
        "filters": filters,
        "outcomes": _OUTCOMES,
        "more": more,
        "is_live": after is None and request.get_parameter("live") != "off",
        "here": build_path(request.path, **filters),
        "paused": build_path(request.path, live="off", **filters),
        "export": build_path(f"{request.path}/export", **filters),
    }
    return PageResponse("system/journal.html", values)


def show_verification(parts: SystemParts, request: PageRequest) -> PageResponse:
    return PageResponse("system/verification.html", {"check": parts.verify_journal()})


def export_journal(parts: SystemParts, request: PageRequest) -> PageResponse:
    """The newest entries that match, a JSON object in each line."""
    filters, lines, after = _read_filters(request), list[str](), None
    while len(lines) < _MAX_EXPORT:
        entries, after = parts.list_entries(filters, 500, after)
        lines += [json.dumps(entry, ensure_ascii=False) for entry in entries]
        if after is None:
            break
    name = f"journal-{format_time(now())[:19].replace(':', '')}.jsonl"
    return PageResponse(download=Download(name, "".join(f"{line}\n" for line in lines).encode()))


def _read_filters(request: PageRequest) -> dict[str, str]:
    return {name: value for name in FILTERS if (value := request.get_parameter(name).strip())}


def _parse_after(text: str) -> Sequence[Any] | None:
    if not text:
        return None
    try:
        at, chain, seq = json.loads(text)
    except (ValueError, TypeError):
        raise Invalid("This place in the journal is not known.") from None
    if not (isinstance(at, int) and isinstance(chain, str) and isinstance(seq, int)):
        raise Invalid("This place in the journal is not known.")
    return at, chain, seq
