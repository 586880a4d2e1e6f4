"""Words on PostgreSQL: tokens as hashes in an array under GIN, which any server has.

`ts_rank` knows nothing of how rare a word is, and has to fetch every text to rank it. Here each term's documents are
taken from the index, and each document is worth what its terms are worth together; the rest is left to the scores.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import IndexFilter
from tokonoma.search.term_counts import hash_term
from tokonoma.search.term_index import TermProposal

_INSERT = """insert into words (document, tokens) values (:id, cast(:tokens as integer[]))
on conflict (document) do update set tokens = excluded.tokens"""
_DELETE = "delete from words where document = :id"
# The last frequencies are the least and the greatest, and that of nulls.
_SHARES = """select cast(cast(s.most_common_elems as text) as integer[]), s.most_common_elem_freqs, c.reltuples
from pg_stats s join pg_class c on c.oid = cast('words' as regclass)
where s.schemaname = any (current_schemas(false)) and s.tablename = 'words' and s.attname = 'tokens'"""
_MANY = 20_000  # documents; where there are fewer, counting is quick
_REMEMBERED = 60.0  # seconds
_COUNT = """select t.token, (select count(*) from words w where w.tokens @> array[t.token])
from unnest(cast(:tokens as integer[])) t (token)"""
# One text for any number of terms, so that the server plans it once and not at every search.
_WEIGHED = """select w.document, sum(t.weight) as weight
from unnest(cast(:tokens as integer[]), cast(:weights as double precision[])) t (token, weight)
cross join lateral (select document from words where tokens @> array_append(cast(:marks as integer[]), t.token)) w
group by w.document"""
_BEST = f"{_WEIGHED} order by weight desc, document desc limit :most"
_INSIDE = f"""select g.document, g.weight from ({_WEIGHED}) g join document d on d.id = g.document
where {{filter}} order by g.weight desc, g.document desc limit :most"""  # noqa: S608 - our own text


def hash_token(token: str) -> int:
    """32 bits with a sign. That two tokens share one is rare, and proposes a document too many, never one too few."""
    return hash_term(token) - 2**31


class PostgresTermIndex:
    def write(
        self, statements: Statements, document_id: int, counts: Mapping[str, int], marks: Collection[str], new: bool
    ) -> None:
        del new
        statements.run(_INSERT, id=document_id, tokens=list({hash_token(token) for token in (*counts, *marks)}))

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run(_DELETE, id=document_id)

    def __init__(self) -> None:
        self._common: tuple[float, dict[int, float]] = float("-inf"), {}

    def count_documents(self, rows: Rows, terms: Collection[str], documents: int) -> dict[str, int]:
        """In a large store common words are not counted: the server would visit each of their documents. It has counted
        them already, for its own plans."""
        hashes = {term: hash_token(term) for term in terms}
        shares = self._read_shares(rows, documents) if documents >= _MANY else {}
        found = {number: round(shares[number] * documents) for number in hashes.values() if number in shares}
        rare = [number for number in set(hashes.values()) if number not in found]
        if rare:
            found |= dict(rows.rows(_COUNT, tokens=rare))
        return {term: found[number] for term, number in hashes.items()}

    def _read_shares(self, rows: Rows, documents: int) -> dict[int, float]:
        """The commonest tokens, each with the share of documents that hold it; none while that is not known."""
        read_at, shares = self._common
        if time.monotonic() - read_at > _REMEMBERED:
            row = rows.row(_SHARES)
            # Where the server looked at much less, or more, than there is now, it is not believed.
            sound = row is not None and row[0] and 0.7 < row[2] / documents < 1.4
            shares = dict(zip(row[0], row[1], strict=False)) if row is not None and sound else {}
            self._common = time.monotonic(), shares
        return shares

    def propose(self, rows: Rows, proposal: TermProposal, filter: IndexFilter) -> Iterator[int]:
        """Where the marks say nearly all of the filter, looking at every document to check the rest would be most of
        the work; it is done only if those that came without were not enough."""
        weights = proposal.list_weights()
        params: dict[str, Any] = {
            "tokens": [hash_token(token) for token, _ in weights],
            "weights": [weight for _, weight in weights],
            "marks": [hash_token(mark) for mark in proposal.tags],
            "most": proposal.most,
        }
        if not filter.narrow and filter.classifications is None:
            best = rows.rows(_BEST, **params)
            yield from (row[0] for row in best)
            if len(best) < proposal.most:
                return
        yield from (row[0] for row in rows.rows(_INSIDE.replace("{filter}", filter.sql), **params, **filter.params))
