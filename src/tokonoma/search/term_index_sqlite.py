"""Words on SQLite: an FTS5 table without content, into which our own tokens go.

The tokenizer `ascii` cuts at whatever is ASCII and no letter or digit, and takes everything else as it is. So tokens
are written with their other ASCII characters moved into Unicode's private area, and joined by spaces: what was one
token stays one, and no token can mean anything in a query, where each stands in quotes.
"""

from collections.abc import Collection, Mapping

import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import IndexFilter
from tokonoma.search.term_index import TermProposal

_PRIVATE = 0xE000
_MOVED = {code: _PRIVATE + code for code in range(128) if not chr(code).isdigit() and not chr(code).islower()}

_INSERT = "insert into words (rowid, word, place) values (:id, :word, :place)"
_DELETE = "delete from words where rowid = :id"
_COUNT = "select f.term, f.doc from json_each(:terms) j cross join frequency f on f.term = j.value"
# Each term's documents in one text: a row for each would take several times as long.
_HOLDING = """select (select json_group_array(rowid) from words where words match j.value)
from json_each(:matches) j"""


def escape_token(token: str) -> str:
    return token.translate(_MOVED)


class SqliteTermIndex:
    def write(
        self, statements: Statements, document_id: int, counts: Mapping[str, int], marks: Collection[str], new: bool
    ) -> None:
        if not new:
            statements.run(_DELETE, id=document_id)
        # Each as often as it occurs: the proposals' order depends on it.
        tokens = [token for token, count in counts.items() for _ in range(count)]
        statements.run(
            _INSERT, id=document_id, word=" ".join(map(escape_token, tokens)), place=" ".join(map(escape_token, marks))
        )

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run(_DELETE, id=document_id)

    def count_documents(self, rows: Rows, terms: Collection[str], documents: int) -> dict[str, int]:
        del documents
        names = {escape_token(term): term for term in terms}
        found = rows.rows(_COUNT, terms=orjson.dumps(list(names)).decode())
        return {names[term]: count for term, count in found}

    def propose(self, rows: Rows, proposal: TermProposal, filter: IndexFilter) -> list[int]:
        """A document is worth what those of its terms are worth together that propose; of equals the newest is first.
        FTS5's own rank would cost many times as much: it reads the documents of every term again to count them, and
        the places of every word."""
        del filter
        marks = "".join(f' AND "{escape_token(mark)}"' for mark in proposal.tags)
        weights = proposal.list_weights()
        matches = [f'"{escape_token(token)}"{marks}' for token, _ in weights]
        held = rows.rows(_HOLDING, matches=orjson.dumps(matches).decode())
        worth: dict[int, float] = {}
        for (listed,), (_, weight) in zip(held, weights, strict=True):
            for number in orjson.loads(listed):
                worth[number] = worth.get(number, 0.0) + weight
        # Sorting by numbers alone takes a quarter of the time that sorting pairs would.
        return sorted(sorted(worth, reverse=True), key=worth.__getitem__, reverse=True)
