"""authors: who wrote the records whose text an answer holds, read after the tool has named them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tokonoma.core.call import Call
from tokonoma.core.errors import Unavailable
from tokonoma.pipeline.row_filter import expand_visible
from tokonoma.store.database import Database

_AT_ONCE = 500  # addresses in one statement


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
    found: dict[str, str] = {}
    with database.reading(call.cancel_token) as rows:
        for start in range(0, len(addresses), _AT_ONCE):
            names = {f"a{number}": address for number, address in enumerate(addresses[start : start + _AT_ONCE])}
            listed = ", ".join(f":{name}" for name in names)
            sql = f"select address, author from document where address in ({listed}) and {{visible}}"  # noqa: S608
            filled, extra = expand_visible(sql, call.principal, call.granted_view.classifications)
            found |= dict(rows.rows(filled, **names, **extra))
    return found
