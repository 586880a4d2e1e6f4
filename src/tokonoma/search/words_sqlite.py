"""Words on SQLite: an FTS5 table without content, into which our own tokens go.

The tokenizer `ascii` cuts at whatever is ASCII and no letter or digit, and takes everything else as it is. So tokens
are written with their other ASCII characters moved into Unicode's private area, and joined by spaces: what was one
token stays one, and no token can mean anything in a query, where each stands in quotes.
"""

from collections.abc import Collection, Iterable, Mapping

import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import Filter
from tokonoma.search.proposal import Proposal

_PRIVATE = 0xE000
_MOVED = {code: _PRIVATE + code for code in range(128) if not chr(code).isdigit() and not chr(code).islower()}

_INSERT = "insert into words (rowid, word, place) values (:id, :word, :place)"
_DELETE = "delete from words where rowid = :id"
_COUNT = "select f.term, f.doc from json_each(:terms) j cross join frequency f on f.term = j.value"
# In this order, or SQLite may look for each document's words instead of each word's documents.
_PROPOSE = """select w.rowid from words w cross join document d on d.id = w.rowid
where words match :match and {filter} order by w.rank limit :most"""


def written(token: str) -> str:
    return token.translate(_MOVED)


class SqliteWords:
    def write(
        self, statements: Statements, document_id: int, counts: Mapping[str, int], marks: Collection[str], new: bool
    ) -> None:
        if not new:
            statements.run(_DELETE, id=document_id)
        # Each as often as it occurs: the proposals' order depends on it.
        tokens = [token for token, count in counts.items() for _ in range(count)]
        statements.run(
            _INSERT, id=document_id, word=" ".join(map(written, tokens)), place=" ".join(map(written, marks))
        )

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run(_DELETE, id=document_id)

    def count(self, rows: Rows, terms: Collection[str]) -> dict[str, int]:
        names = {written(term): term for term in terms}
        found = rows.rows(_COUNT, terms=orjson.dumps(list(names)).decode())
        return {names[term]: count for term, count in found}

    def propose(self, rows: Rows, proposal: Proposal, filter: Filter) -> list[int]:
        match = _any(proposal.terms)
        if proposal.also:
            # Nothing more is found by this; but FTS5 ranks by all words that it was asked for.
            match = f"{match} AND {_any([*proposal.terms, *proposal.also])}"
        match += "".join(f' AND "{written(mark)}"' for mark in proposal.marks)
        sql = _PROPOSE.replace("{filter}", filter.sql)
        return [row[0] for row in rows.rows(sql, match=match, most=proposal.most, **filter.params)]


def _any(tokens: Iterable[str]) -> str:
    return "(" + " OR ".join(f'"{written(token)}"' for token in tokens) + ")"
