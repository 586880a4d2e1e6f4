"""Words on PostgreSQL: tokens as hashes in an array under GIN, which any server has.

`ts_rank` knows nothing of how rare a word is, and has to fetch every text to rank it. Here each term's documents are
taken from the index, and each document is worth what its terms are worth together; the rest is left to the scores.
"""

from collections.abc import Collection, Mapping
from typing import Any

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import Filter
from tokonoma.search.form import number_of
from tokonoma.search.proposal import Proposal
from tokonoma.search.score import K1, B

_INSERT = """insert into words (document, tokens) values (:id, cast(:tokens as integer[]))
on conflict (document) do update set tokens = excluded.tokens"""
_DELETE = "delete from words where document = :id"
_COUNT = """select t.token, (select count(*) from words w where w.tokens @> array[t.token])
from unnest(cast(:tokens as integer[])) t (token)"""
_HOLDING = """select document, cast({weight} as double precision) as weight from words
where tokens @> cast({tokens} as integer[])"""
# The best of these are then put in order by the further terms too, which would be too many to ask the index for.
_PROPOSE = """select p.document from (
    select g.document, g.weight, d.length from (
        select document, sum(weight) as weight from ({holding}) h group by document
    ) g join document d on d.id = g.document where {filter}
    order by g.weight / {longer} desc, g.document desc limit :some
) p join words w on w.document = p.document
order by (p.weight{also}) / {longer_still} desc, p.document desc limit :most"""
_ALSO = " + case when w.tokens @> cast({tokens} as integer[]) then cast({weight} as double precision) else 0 end"
# Of two documents with the same terms the shorter one is worth more: as in score.py, for one occurrence of each.
_LONGER = "(1 + :k1 * (1 - :b + :b * {length} / :average))"
_SOME = 5  # times as many as are wanted


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
        params: dict[str, Any] = {"k1": K1, "b": B, "average": proposal.average}
        params |= {"most": proposal.most, "some": _SOME * proposal.most}
        holding: list[str] = []
        for number, (token, weight) in enumerate(proposal.terms.items()):
            params |= {f"w{number}": weight, f"t{number}": [signed(token), *marks]}
            holding.append(_HOLDING.replace("{weight}", f":w{number}").replace("{tokens}", f":t{number}"))
        also = ""
        for number, (token, weight) in enumerate(proposal.also.items()):
            params |= {f"v{number}": weight, f"a{number}": [signed(token)]}
            also += _ALSO.replace("{weight}", f":v{number}").replace("{tokens}", f":a{number}")
        sql = _PROPOSE.replace("{holding}", " union all ".join(holding)).replace("{also}", also)
        sql = sql.replace("{longer}", _LONGER.replace("{length}", "d.length"))
        sql = sql.replace("{longer_still}", _LONGER.replace("{length}", "p.length"))
        return [row[0] for row in rows.rows(sql.replace("{filter}", filter.sql), **params, **filter.params)]
