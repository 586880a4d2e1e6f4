"""The nearest documents of many documents at once: all vectors are read once, a part at a time, and each part is
compared with all that are asked for. For one document alone the codes of backends.py are faster."""
# ruff: noqa: S608 - SQL is built from our own texts and a filter's text; callers' words are parameters

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tokonoma.core.desk import Rows
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors.store import data_column, decode_vectors
from tokonoma.store.dialect import DatabaseKind

if TYPE_CHECKING:
    from tokonoma.search.vectors.store import Floats

_PAGE = 4_000  # vectors that are compared at once
_AT_ONCE = 500  # addresses in one statement
_DIGITS = 5  # of a cosine: the last ones depend on what else is compared


def find_near(
    rows: Rows,
    kind: DatabaseKind,
    model: int,
    filter: IndexFilter,
    addresses: Sequence[str],
    least: float,
    most: int,
) -> dict[str, dict[str, float]]:
    """For each address that has a vector: up to `most` others inside the filter whose cosine is `least` or more."""
    own = _read_own(rows, kind, model, filter, addresses)
    if not own:
        return {}
    names = list(own)
    vectors = np.stack([vector for _, vector in own.values()])
    numbers = [number for number, _ in own.values()]
    found: list[dict[int, float]] = [{} for _ in names]
    for documents, page in _read_pages(rows, kind, model, filter):
        for place, document, cosine in _select(documents, np.round(page @ vectors.T, _DIGITS), least, most + 1):
            if document != numbers[place]:
                found[place][document] = max(cosine, found[place].get(document, -1.0))
        found = [_keep_best(each, most) if len(each) > 4 * most else each for each in found]
    found = [_keep_best(each, most) for each in found]
    known = _read_addresses(rows, sorted({document for each in found for document in each}))
    return {
        name: {known[document]: cosine for document, cosine in each.items() if document in known}
        for name, each in zip(names, found, strict=True)
    }


def _read_own(
    rows: Rows, kind: DatabaseKind, model: int, filter: IndexFilter, addresses: Sequence[str]
) -> dict[str, tuple[int, "Floats"]]:
    """Each document with its own vector: the direction of all its pieces together."""
    pieces: dict[str, tuple[int, list[bytes]]] = {}
    for start in range(0, len(addresses), _AT_ONCE):
        bound: dict[str, Any] = {f"a{number}": each for number, each in enumerate(addresses[start : start + _AT_ONCE])}
        sql = f"""select d.address, d.id, {data_column(kind)} from document d
        join embedding e on e.document_id = d.id and e.model = :model and e.piece >= 0
        where d.address in ({", ".join(f":{name}" for name in bound)}) and {filter.sql} order by d.id, e.piece"""
        for address, number, data in rows.rows(sql, model=model, **bound, **filter.params):
            pieces.setdefault(address, (number, []))[1].append(data)
    own: dict[str, tuple[int, Floats]] = {}
    for address, (number, data) in pieces.items():
        mean = decode_vectors(kind, data).mean(0, dtype=np.float64)
        length = float(np.linalg.norm(mean))
        if length > 1e-6:
            own[address] = number, (mean / length).astype(np.float32)
    return own


def _read_pages(
    rows: Rows, kind: DatabaseKind, model: int, filter: IndexFilter
) -> Iterator[tuple[Sequence[int], "Floats"]]:
    sql = f"""select e.id, e.document_id, {data_column(kind)} from embedding e join document d on d.id = e.document_id
    where e.model = :model and e.piece >= 0 and e.id > :after and {filter.sql} order by e.id limit {_PAGE}"""
    after = 0
    while page := rows.rows(sql, model=model, after=after, **filter.params):
        yield [row[1] for row in page], decode_vectors(kind, [row[2] for row in page])
        after = page[-1][0]


def _select(documents: Sequence[int], cosines: "Floats", least: float, most: int) -> Iterator[tuple[int, int, float]]:
    """Of a part the best documents for each that was asked for: its place, the document and the cosine."""
    numbers, owners = np.unique(np.asarray(documents), return_inverse=True)
    passes = cosines >= least
    for place in np.flatnonzero(passes.any(axis=0)).tolist():
        near = np.flatnonzero(passes[:, place])
        best = np.full(len(numbers), -1.0, np.float32)
        np.maximum.at(best, owners[near], cosines[near, place])
        # Of many that are as near the same ones are taken each time: those that were put first.
        for each in np.argsort(-best, kind="stable")[:most].tolist():
            if best[each] >= least:
                yield place, int(numbers[each]), float(best[each])


def _keep_best(found: Mapping[int, float], most: int) -> dict[int, float]:
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:most])


def _read_addresses(rows: Rows, documents: Sequence[int]) -> dict[int, str]:
    known: dict[int, str] = {}
    for start in range(0, len(documents), _AT_ONCE):
        bound = {f"n{number}": each for number, each in enumerate(documents[start : start + _AT_ONCE])}
        listed = ", ".join(f":{name}" for name in bound)
        known |= dict(rows.rows(f"select id, address from document where id in ({listed})", **bound))
    return known
