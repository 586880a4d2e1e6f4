"""One sync with another server: its records are read and merged here, and what it lacks is sent to it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokonoma.transfer.model import Remark
from tokonoma.transfer.sync.bookkeeping import Bookkeeping, Key
from tokonoma.transfer.sync.engine import PublishedRecord
from tokonoma.transfer.sync.exchange import format_line, is_published, pack_lines, unpack_page
from tokonoma.transfer.sync.run import EngineFactory, SyncReport
from tokonoma.transfer.sync.versions import Version, includes

_ROUNDS = 5  # what was edited there while it was merged is merged again
_PAGE_BYTES = 8 * 1024 * 1024

CallServer = Callable[[str, Mapping[str, Any]], Any]
"""the name of a tool of the module system, parameters → its value"""


def sync_server(
    call: CallServer, books: Bookkeeping, build: EngineFactory, namespace: str, *, rehearsal: bool, secrets: bool
) -> SyncReport:
    page = call("sync_read", {})
    if page["home"] == books.home:  # one home is a copy of the other
        books.take_new_id()
    engine = build(books)
    report = SyncReport(engine.tally, [page["home"]])
    for _ in range(_ROUNDS):
        engine.tally.moved.clear()
        engine.seen.clear()
        engine.scan()
        theirs = list(_read_all(call, page))
        engine.receive(theirs)
        if rehearsal:
            return report
        known = {(each.kind, each.name): each.version for each in theirs}
        moved, report.unread = _send_missing(call, books, known, namespace, secrets=secrets)
        if not moved and not engine.tally.moved:
            break
        page = call("sync_read", {})
    books.drop_old_bases(engine.seen)
    report.published = True
    return report


def _read_all(call: CallServer, page: Mapping[str, Any]) -> Iterator[PublishedRecord]:
    while True:
        yield from unpack_page(page["records"])
        if "next" not in page:
            return
        page = call("sync_read", {"after": page["next"]})


def _send_missing(
    call: CallServer, books: Bookkeeping, known: Mapping[Key, Version], namespace: str, *, secrets: bool
) -> tuple[int, list[Remark]]:
    """Send the records of which the server has an older version, or none; how many it has edited meanwhile, and what it
    could not store."""
    moved, refused = 0, list[Remark]()
    lines: list[bytes] = []
    size = 0

    def send() -> None:
        nonlocal moved
        told = call("sync_write", {"records": pack_lines(lines)})
        moved += told["moved"]
        refused.extend(Remark(f"{each['record']} (there)", each["why"]) for each in told["skipped"])
        lines.clear()

    for key, record, body in books.read_current():
        theirs = known.get(key)
        is_known = theirs is not None and includes(theirs, record.version)
        if is_known or not is_published(record, body, namespace, secrets=secrets):
            continue
        lines.append(format_line(key, record, body))
        size += len(lines[-1])
        if size > _PAGE_BYTES:
            send()
            size = 0
    if lines:
        send()
    return moved, refused
