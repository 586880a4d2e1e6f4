"""Pages: `limit` and `cursor` for all services. A cursor is sealed, and holds only for the same query and account."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tokonoma.connectors.model import Draft, PageRule, ServiceTool, as_object
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.service import ServiceResponse

DEFAULT_LIMIT = 20
_DIGEST = 16  # characters


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a query: where it begins (None: at the first row), and what binds its cursors to the query."""

    position: str | int | None
    limit: int
    digest: str


async def open_page(desk: AsyncDesk, rule: PageRule, account: str, given: Mapping[str, Any]) -> Page:
    """The page that a call asks for; Invalid if its cursor comes from another query."""
    query = {key: value for key, value in given.items() if key not in ("account", "limit", "cursor")}
    written = json.dumps([account, query], sort_keys=True, default=str)
    digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    limit = min(given.get("limit", DEFAULT_LIMIT), rule.most)
    cursor = given.get("cursor")
    if cursor is None:
        return Page(None, limit, digest)
    bound, position = await desk.open_cursor(_name_cursor(desk), cursor)
    if bound != digest:
        raise Invalid(
            "This cursor belongs to a call with other parameters. Repeat that call, or leave the cursor out.",
            field="cursor",
        )
    return Page(position, limit, digest)


async def seal_position(desk: AsyncDesk, page: Page, position: str | int) -> str:
    return await desk.seal_cursor(_name_cursor(desk), page.digest, position)


def _name_cursor(desk: AsyncDesk) -> str:
    return f"service {desk.call.chosen_tool.path}"


def apply_page(tool: ServiceTool, rule: PageRule, draft: Draft, page: Page) -> None:
    """Ask for this page."""
    if rule.kind in ("link", "url") and page.position is not None:
        draft.path, draft.query = str(page.position), []  # the address holds the whole query
        return
    sent: list[tuple[str, Any]] = [(rule.size, page.limit)]
    if page.position is not None:
        sent.append((rule.send, page.position))
    if tool.method == "GET":
        draft.query += [(name, str(value)) for name, value in sent]
    else:
        draft.body.update(sent)


def find_next(rule: PageRule, response: ServiceResponse, page: Page, rows: int) -> str | int | None:
    """Where the next page begins; None after the last one."""
    answer = as_object(response.value)
    if rule.kind == "offset":
        return _find_offset(answer, page, rows)
    found = _read_link(response.headers.get("link", "")) if rule.kind == "link" else look_up(answer, rule.next)
    if not isinstance(found, str) or not found:
        return None
    if rule.kind in ("link", "url"):
        return _check_address(found)
    return read_parameter(found, rule.send) if rule.in_address else found


def look_up(value: Any, path: str) -> Any:
    """What stands at `a.b` of an object; None if there is nothing. A key may have dots itself: `@odata.nextLink`."""
    if path in as_object(value):
        return as_object(value)[path]
    for key in path.split("."):
        value = as_object(value).get(key)
    return value


def read_parameter(address: str, name: str) -> str | None:
    """A parameter in the query of an address."""
    found = parse_qs(urlsplit(address).query).get(name)
    return found[0] if found else None


def _find_offset(answer: Mapping[str, Any], page: Page, rows: int) -> int | None:
    reached = int(page.position or 0) + rows
    total = answer.get("total")
    is_last = answer.get("isLast") is True or (reached >= total if isinstance(total, int) else rows < page.limit)
    return None if is_last or not rows else reached


def _read_link(header: str) -> str | None:
    """The address with rel="next" in a header `Link`."""
    for part in header.split(",") if len(header) < 10_000 else ():
        address, _, words = part.strip().partition(";")
        if 'rel="next"' in words and address.startswith("<") and address.endswith(">"):
            return address[1:-1]
    return None


def _check_address(address: str) -> str:
    """Whether it leads to the account's own host is checked by the client, which alone knows that."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise Unavailable("The service named a next page that is no address of its own.", reason="external")
    return address
