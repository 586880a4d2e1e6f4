"""Issues of GitHub as JSON: `gh issue list --json …`, the REST interface (`gh api repos/O/R/issues --paginate`), or a
search. Both spellings of the fields are read: createdAt and created_at."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_list, as_object, as_text, as_time, decode_text
from tokonoma.transfer.items import ItemFields
from tokonoma.transfer.model import Metadata, Remark, SourceError
from tokonoma.transfer.trackers import SourcePage, build_item, build_link, make_uid

_MAX_BYTES = 512 * 1024 * 1024
_REASONS = {"not_planned": "Canceled", "duplicate": "Rejected"}
_KINDS_OF_URL = ("issues", "pull", "pulls")
# What people write in a body, since older exports have no field for it.
_SAID = re.compile(r"\b(blocked by|depends on|blocks|part of|parent of|parent)[: ]{1,3}#([0-9]{1,12})\b", re.IGNORECASE)
_KINDS = {
    "blocked by": "blocked_by", "depends on": "blocked_by", "blocks": "blocks", "part of": "child_of",
    "parent": "child_of", "parent of": "parent_of",
}  # fmt: skip
_TYPE = re.compile(r"[^a-z0-9_]+")


def read_github(path: Path) -> Iterator[SourcePage]:
    numbers: set[tuple[str, str]] = set()
    for index, raw in enumerate(_read_issues(path)):
        place = f"{path.name}: [{index}]"
        issue = as_object(raw)
        number = as_text(issue.get("number"))
        if not number or not isinstance(issue.get("title"), str):
            yield Remark(place, "It is no issue: it has no number or no title.")
            continue
        key = _find_repository(issue), number
        if key in numbers:
            yield Remark(place, f"Issue #{number} is already there; this one was skipped.")
            continue
        numbers.add(key)
        yield from _build_issue(f"{path.name}: #{number}", issue, *key)


def _read_issues(path: Path) -> Iterator[Any]:
    """One list, an object with a list, or several of them one after the other, as `--paginate` writes them."""
    try:
        text, _ = decode_text(path.read_bytes()[:_MAX_BYTES])
        decoder, at = json.JSONDecoder(), 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            value, at = decoder.raw_decode(text, at)
            whole = as_object(value)
            listed = next((whole[name] for name in ("items", "issues", "nodes") if name in whole), None)
            yield from as_list(value) if isinstance(value, list) else as_list(listed) if listed is not None else [value]
    except (ValueError, RecursionError, SourceError) as error:
        raise Invalid(f"{path} is not JSON: {error}") from None


def _build_issue(place: str, issue: Metadata, repository: str, number: str) -> Iterator[SourcePage]:
    url = as_text(issue.get("html_url") or issue.get("url"))
    is_pull = "pull_request" in issue or "/pull/" in url
    kind = as_text(as_object(issue.get("type") or issue.get("issueType")).get("name")).lower()
    milestone = as_object(issue.get("milestone"))
    assignees = [_read_login(each) for each in as_list(issue.get("assignees")) or [issue.get("assignee")]]
    author = _read_login(_get(issue, "author", "user"))
    body = as_text(issue.get("body"))
    fields: ItemFields = {
        "type": "pull_request" if is_pull else _TYPE.sub("_", kind).strip("_") or "issue",
        "status": _read_status(issue),
        "description": f"GitHub {repository}#{number} {url if url.startswith('https://github.com/') else ''}".strip(),
        "version": as_text(milestone.get("title"))[:50],
        "end_at": as_time(_get(milestone, "dueOn", "due_on")),
        "assignee": ", ".join(filter(None, assignees))[:100],
        "tags": [as_text(as_object(each).get("name")) or as_text(each) for each in as_list(issue.get("labels"))],
        "created_at": as_time(_get(issue, "createdAt", "created_at")),
        "updated_at": as_time(_get(issue, "updatedAt", "updated_at")),
        "created_by": author,
        "updated_by": author,
        "comments": [*_read_comments(issue)],
        "links": [
            build_link(make_uid("github", repository, other), f"#{other}", word)
            for word, other in dict.fromkeys(_read_links(issue, body))
            if other != number
        ],
    }
    yield from build_item(place, make_uid("github", repository, number), as_text(issue.get("title")), body, **fields)


def _get(fields: Metadata, *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _find_repository(issue: Metadata) -> str:
    """`owner/name`; the same for both interfaces. Empty if no address says it."""
    for name in ("html_url", "url"):
        if found := _split_url(as_text(issue.get(name))):
            return found[0]
    named = as_object(issue.get("repository"))
    return (as_text(named.get("nameWithOwner")) or as_text(named.get("full_name"))).lower()


def _split_url(url: str) -> tuple[str, str] | None:
    """`owner/name` and the number."""
    parts = url.split("/")
    if len(parts) < 4 or parts[-2] not in _KINDS_OF_URL or not parts[-1].isdecimal():
        return None
    return f"{parts[-4]}/{parts[-3]}".lower(), parts[-1]


def _read_status(issue: Metadata) -> str:
    if as_text(issue.get("state")).lower() not in ("closed", "merged"):
        return "Open"
    reason = as_text(_get(issue, "stateReason", "state_reason")).lower()
    return _REASONS.get(reason, "Completed")


def _read_login(value: Any) -> str:
    return as_text(as_object(value).get("login")) or as_text(value)


def _read_comments(issue: Metadata) -> Iterator[Metadata]:
    """The REST interface only counts them."""
    for each in map(as_object, as_list(issue.get("comments"))):
        text = as_text(each.get("body"))
        if text:
            at = as_time(_get(each, "createdAt", "created_at")) or 0
            yield {"at": at, "by": _read_login(_get(each, "author", "user")), "text": text}


def _read_links(issue: Metadata, body: str) -> Iterator[tuple[str, str]]:
    if parent := _split_url(as_text(issue.get("parent_issue_url"))):
        yield "child_of", parent[1]
    for name, kind in (("parent", "child_of"), ("subIssues", "parent_of"), ("sub_issues", "parent_of"),
                       ("blockedBy", "blocked_by"), ("blocked_by", "blocked_by"), ("blocking", "blocks")):  # fmt: skip
        value = issue.get(name)
        nodes = as_list(value) or as_list(as_object(value).get("nodes")) or [value]
        yield from ((kind, number) for each in nodes if (number := as_text(as_object(each).get("number"))))
    yield from ((_KINDS[word.lower()], number) for word, number in _SAID.findall(body))
