"""authors: who wrote the records whose text an answer holds, read after the tool has named them."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tokonoma.core.call import Call
from tokonoma.core.errors import Unavailable
from tokonoma.pipeline.row_filter import expand_visible
from tokonoma.store.database import Database

# Joined in this order: SQLite might else read all records of a class, which are nearly all there are.
READ_AUTHORS = """select d.address, d.author from ({texts}) asked cross join document d
where d.address = asked.value and {visible:d}"""


def authors(database: Callable[[], Database]) -> Callable[[Call], Iterator[None]]:
    """A call that returns no stored text, or only what it has written itself, costs no statement."""

    def stage(call: Call) -> Iterator[None]:
        yield
        if (call.sources or call.found) and call.chosen_tool.listed:
            call.authors = find_authors(call, partial(read_authors, database(), call))

    return stage


def find_authors(call: Call, read: Callable[[Sequence[str]], dict[str, str]]) -> frozenset[str]:
    sources = call.sources or dict[str, str | None].fromkeys(call.found)
    known = {author for author in sources.values() if author is not None}
    asked = [address for address, author in sources.items() if author is None]
    if not asked:
        return frozenset(known)
    try:
        read_now = read(asked)
    except Unavailable:  # the answer is there, and what it has written is stored: it must not fail now
        return frozenset({*known, ""})
    return frozenset(known.union(read_now.get(address, "") for address in asked))


def read_authors(database: Database, call: Call, addresses: Sequence[str]) -> dict[str, str]:
    """By address, of those that the caller may see."""
    filled, extra = expand_visible(READ_AUTHORS, call.principal, call.granted_view.classifications)
    with database.reading(call.cancel_token) as rows:
        return dict(rows.rows(filled, texts=json.dumps(list(addresses)), **extra))
