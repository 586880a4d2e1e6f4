"""Facts, by which records can be filtered, as they are stored: `fact(document, key, text, number)`.

Each value has two cells, so that no two different values look the same: a text has no number, a number has no text; a
boolean is the text `true` or `false` with the number 1 or 0; a number from 2^53 on keeps all its digits as text,
for its float stands for several integers.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Scalar

FactCells = tuple[str, str | None, float | None]
INDEXED_LENGTH = 128  # characters of a text that are indexed: PostgreSQL has no room for more than 2.7 KB in an index
MAX_FACTS = 33_000  # of a record: more than the metadata of a memo can hold, so that none is left out silently
_LONG_KEY = 200
EXACT = 2**53
_MOST = 1.7e308
_FACTS = "select document, key, text, number from fact where document in ({numbers})"
_FACT = "insert into fact (document, key, text, number) values (:id, :key, :text, :number)"


def to_cells(value: Scalar) -> tuple[str | None, float | None]:
    if isinstance(value, bool):
        return ("true", 1.0) if value else ("false", 0.0)
    if isinstance(value, str):
        return value, None
    if not isinstance(value, int) and not math.isfinite(value):
        raise Invalid("A number must be finite.", reason="number")
    if abs(value) >= EXACT:  # a float of that size is an integer, too
        return str(int(value)), float(max(min(value, int(_MOST)), -int(_MOST)))
    return None, float(value) + 0.0  # no negative zero


def build_fact_cells(facts: Sequence[tuple[str, Scalar]]) -> set[FactCells]:
    """Key, text and number of each fact as they are stored."""
    cells: set[FactCells] = set()
    for key, value in facts[:MAX_FACTS]:
        cells.add((to_indexed_key(key), *to_cells(value)))
        if len(key) > _LONG_KEY:  # the keys above it are not the start of what is stored: they say that they exist
            parts = key.split(".")
            cells |= {(to_indexed_key(".".join(parts[:end])) + ".", None, None) for end in range(1, len(parts))}
    return cells


def to_indexed_key(key: str) -> str:
    """The key itself, unless it is too long for an index."""
    if len(key) <= _LONG_KEY:
        return key
    return f"{key[:120]}#{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def read_facts(rows: Rows, numbers: Sequence[int]) -> dict[int, set[FactCells]]:
    """By the number of the document."""
    found: dict[int, set[FactCells]] = {}
    for number, *cells in rows.rows(_FACTS, numbers=json.dumps(numbers)):
        found.setdefault(number, set()).add((cells[0], cells[1], cells[2]))
    return found


def write_facts(statements: Statements, facts: Mapping[int, set[FactCells]], old: Mapping[int, set[FactCells]]) -> None:
    """By the number of the document. Those that are as they were stay."""
    changed = {number: cells for number, cells in facts.items() if cells != old.get(number, set())}
    statements.run_many("delete from fact where document = :id", [{"id": each} for each in changed if each in old])
    statements.run_many(
        _FACT,
        [
            {"id": number, "key": key, "text": text, "number": value}
            for number, cells in changed.items()
            for key, text, value in sorted(cells, key=lambda fact: (fact[0], fact[1] or "", fact[2] or 0.0))
        ],
    )
