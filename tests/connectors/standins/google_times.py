"""Times of Google's events: repetition, spans, and answers that hold only the fields that were asked for."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from .service import Refused


def read_time(text: str, name: str) -> datetime:
    """A time of a query: RFC 3339 with an offset, as Google wants it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(400, f"Invalid value for {name}: {text}", "badRequest") from None
    if found.tzinfo is None:
        raise Refused(400, f"Invalid value for {name}: {text} has no offset", "badRequest")
    return found


def read_when(when: dict[str, Any]) -> datetime:
    found = datetime.fromisoformat(when.get("dateTime") or when["date"])
    return found if found.tzinfo else found.replace(tzinfo=ZoneInfo(when.get("timeZone", "UTC")))


def shift(when: dict[str, Any], by: timedelta) -> dict[str, Any]:
    if "date" in when:
        return {**when, "date": (datetime.fromisoformat(when["date"]) + by).date().isoformat()}
    return {**when, "dateTime": (datetime.fromisoformat(when["dateTime"]) + by).isoformat()}


def expand(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The occurrences of an event; itself if it does not repeat."""
    rule = next((each for each in event.get("recurrence", []) if each.startswith("RRULE:")), None)
    if rule is None:
        return [event]
    parts = dict(each.split("=", 1) for each in rule.removeprefix("RRULE:").split(";"))
    days = {"DAILY": 1, "WEEKLY": 7}.get(parts["FREQ"], 30) * int(parts.get("INTERVAL", "1"))
    rows: list[dict[str, Any]] = []
    for number in range(min(int(parts.get("COUNT", "10")), 366)):
        start = shift(event["start"], timedelta(days=days * number))
        stamp = read_when(start).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        row = {name: value for name, value in event.items() if name != "recurrence"}
        row |= {
            "id": f"{event['id']}_{stamp}",
            "start": start,
            "end": shift(event["end"], timedelta(days=days * number)),
        }
        rows.append({**row, "recurringEventId": event["id"], "originalStartTime": start})
    return rows


def check_times(body: dict[str, Any]) -> dict[str, Any]:
    """A time without an offset needs a time zone."""
    for name in ("start", "end"):
        when = body.get(name) or {}
        text = when.get("dateTime") or when.get("date") or "2026-01-01"
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise Refused(400, f"Invalid value for: {name}", "invalid") from None
        if when.get("dateTime") and found.tzinfo is None and "timeZone" not in when:
            raise Refused(400, f"Missing time zone definition for {name} time.", "required")
    return body


def keep_span(rows: list[dict[str, Any]], query: Any) -> list[dict[str, Any]]:
    first = read_time(query.get("timeMin", "1970-01-01T00:00:00Z"), "timeMin")
    last = read_time(query.get("timeMax", "9999-01-01T00:00:00Z"), "timeMax")
    least = query.get("updatedMin", "")
    return [
        row
        for row in rows
        if read_when(row["end"]) > first and read_when(row["start"]) < last and row["updated"] >= least
    ]


def parse_fields(text: str) -> dict[str, Any]:
    """`items(id,start/dateTime),nextPageToken` as a tree; an empty branch means everything below."""
    tree: dict[str, Any] = {}
    stack: list[dict[str, Any]] = [tree]
    last, rest = tree, tree
    for token in re.findall(r"[^,()/]+|[,()/]", text):
        if token == "(":
            stack.append(last)
        elif token == ")":
            stack.pop()
        elif token == "/":
            rest = last
            continue
        elif token != ",":
            last = (rest if rest is not tree else stack[-1]).setdefault(token, {})
        rest = tree
    return tree


def keep_fields(value: Any, tree: dict[str, Any]) -> Any:
    if not tree or "*" in tree:
        return value
    if isinstance(value, list):
        return [keep_fields(each, tree) for each in value]
    if not isinstance(value, dict):
        return value
    unknown = tree.keys() - value.keys()
    return {name: keep_fields(value[name], inner) for name, inner in tree.items() if name not in unknown}
