"""Words on PostgreSQL: tokens as hashes in an array under GIN, which any server has.

`ts_rank` knows nothing of how rare a word is, and has to fetch every text to rank it. Here each term's documents are
taken from the index, and each document is worth what its terms are worth together; the rest is left to the scores.
"""

from collections.abc import Collection, Mapping

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import Filter
from tokonoma.search.form import number_of
from tokonoma.search.proposal import Proposal

_INSERT = """insert into words (document, tokens) values (:id, cast(:tokens as integer[]))
on conflict (document) do update set tokens = excluded.tokens"""
_DELETE = "delete from words where document = :id"
_COUNT = """select t.token, (select count(*) from words w where w.tokens @> array[t.token])
from unnest(cast(:tokens as integer[])) t (token)"""
_HOLDING = """select document, cast({weight} as double precision) as weight from words
where tokens @> cast({tokens} as integer[])"""
# Sorted first and filtered afterwards, as far as the limit needs it: most of what is proposed is never looked at.
_PROPOSE = """select g.document from (
    select document, sum(weight) as weight from ({holding}) h group by document order by 2 desc, 1 desc
) g where exists (select 1 from document d where d.id = g.document and {filter}) limit :most"""


def signed(token: str) -> int:
    """32 bits with a sign. That two tokens share one is rare, and proposes a document too many, never one too few."""
    return number_of(token) - 2**31


class PostgresWords:
    def write(
        self, statements: Statements, document_id: int, counts: Mapping[str, int], marks: Collection[str], new: bool
    ) -> None:
        del new
        statements.run(_INSERT, id=document_id, tokens=list({signed(token) for token in (*counts, *marks)}))

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run(_DELETE, id=document_id)

    def count(self, rows: Rows, terms: Collection[str]) -> dict[str, int]:
        hashes = {term: signed(term) for term in terms}
        found = dict(rows.rows(_COUNT, tokens=list(set(hashes.values()))))
        return {term: found[number] for term, number in hashes.items()}

    def propose(self, rows: Rows, proposal: Proposal, filter: Filter) -> list[int]:
        marks = [signed(mark) for mark in proposal.marks]
        params: dict[str, object] = {}
        holding: list[str] = []
        for number, (token, weight) in enumerate(proposal.terms.items()):
            params |= {f"w{number}": weight, f"t{number}": [signed(token), *marks]}
            holding.append(_HOLDING.replace("{weight}", f":w{number}").replace("{tokens}", f":t{number}"))
        sql = _PROPOSE.replace("{holding}", " union all ".join(holding)).replace("{filter}", filter.sql)
        return [row[0] for row in rows.rows(sql, most=proposal.most, **params, **filter.params)]
