"""Models and their vectors as rows, the same on both databases except for how a vector is encoded."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.embedding import EmbeddedDocument, StoredModel
from tokonoma.search.filters import IndexFilter
from tokonoma.search.fusion import FITTED_SCALE, ModelScale, detect_language, is_cross_language
from tokonoma.store.dialect import DatabaseKind
from tokonoma.store.migrate import quote_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# numpy is imported inside functions: saving a record must not load it.

_MODELS = "select id, name, dimension, recipe, anchor, current, filled, sealed, scale from embedding_model order by id"
_ADOPT = """insert into embedding_model (name, recipe, dimension, anchor, current, filled, sealed)
values (:name, :recipe, :dimension, :anchor, 1, 0, 0)
on conflict (name) do update set recipe = excluded.recipe, current = 1, filled = 0"""
_MISSING = """select d.id from document d where d.id > :after
and not exists (select 1 from embedding e where e.document_id = d.id and e.model = :model) order by d.id limit :limit"""
_UNQUEUED = """select count(*) from document d where d.id > :after
and not exists (select 1 from embedding e where e.document_id = d.id and e.model = :model)
and not exists (select 1 from embedding_queue q where q.document_id = d.id)"""
_ACTIVE = "select 1 from embedding_model where id = :model and current = 1"
_LOCK = "select id from document where id in ({numbers}) "
TITLE_PIECE = -1  # the number of the piece that is the title by itself


MatchSubwords = Callable[[Sequence[bytes]], Sequence[float] | None]
"""How well each of these lists of parts of words holds those of the query, up to 1; None: the model does not know."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, and the model that made it."""

    model: int
    vector: "Floats"
    scale: ModelScale = FITTED_SCALE  # on which the model's cosines are read
    match_subwords: MatchSubwords | None = None


class VectorMatch(NamedTuple):
    """How near a document is to a query."""

    similarity: float  # of its nearest piece: cosine; or 1 / (1 + distance)
    language: str = ""  # of that piece; empty: unknown
    title: float | None = None  # the similarity of its title by itself, if it has one
    monolingual: bool = True  # no other piece is known to be in another language
    subwords: float | None = None  # how well one of its pieces holds the query's parts of words; None: not known


def count_waiting(rows: Rows, filter: IndexFilter) -> int:
    """The documents in the queue that pass the filter."""
    sql = "select count(*) from document d where d.id in (select q.document_id from embedding_queue q) and "
    return rows.rows(sql + filter.sql, **filter.params)[0][0]


def list_models(rows: Rows) -> list[StoredModel]:
    return [
        StoredModel(row[0], row[1], row[2], row[3], bytes(row[4]), bool(row[5]), row[6], row[7], row[8])
        for row in rows.rows(_MODELS)
    ]


def adopt(statements: Statements, name: str, config: str, anchor: "Floats") -> None:
    """Make this the current model: new vectors are of this model, and every document is to have one."""
    statements.run("update embedding_model set current = 0 where current = 1")
    statements.run(_ADOPT, name=name, recipe=config, dimension=anchor.shape[0], anchor=anchor.tobytes())


def lock_active(statements: Statements, model: int, *, alone: bool = False) -> bool:
    """False if another model has become the current one; else none does before the transaction ends. `alone`: nor does
    another worker take documents out of the queue, whose locks would be in the way of the one that is embedding them.
    """
    lock = "{for_update}" if alone else "{for_share}"
    return statements.row(f"{_ACTIVE} {lock}", model=model) is not None


def count_by_model(rows: Rows) -> list[tuple[StoredModel, int, int]]:
    """Each model with the documents that have its vectors, and those that are still to be put into its queue."""
    made = dict(rows.rows("select model, count(*) from embedding where piece = 0 group by model"))
    models = list_models(rows)
    unqueued = {
        each.id: rows.rows(_UNQUEUED, model=each.id, after=each.backfilled_to)[0][0]
        for each in models
        if each.current and each.backfilled_to is not None
    }
    return [(each, made.get(each.id, 0), unqueued.get(each.id, 0)) for each in models]


def list_missing(rows: Rows, model: int, after: int, limit: int) -> list[int]:
    return [row[0] for row in rows.rows(_MISSING, model=model, after=after, limit=limit)]


def lock_for_change(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Lock the documents that no other transaction is changing, and return these."""
    return {row[0] for row in statements.rows(_LOCK + "{for_update_free}", numbers=json.dumps(list(document_ids)))}


def lock_existing(statements: Statements, document_ids: Sequence[int]) -> list[int]:
    """Lock the documents that exist, and return these. It waits for transactions that are changing them."""
    found = statements.rows(_LOCK + "order by id {for_update}", numbers=json.dumps(list(document_ids)))
    return [document_id for (document_id,) in found]


def lock_against_delete(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Lock the documents that no other transaction is deleting against being deleted, and return these."""
    return {row[0] for row in statements.rows(_LOCK + "{for_stay_free}", numbers=json.dumps(list(document_ids)))}


def save_backfill(statements: Statements, model: int, upto: int | None) -> None:
    statements.run("update embedding_model set filled = :upto where id = :model", upto=upto, model=model)


def read_own_vector(rows: Rows, kind: DatabaseKind, model: int, document_id: int) -> QueryVector | None:
    """A document's own vector: the mean of those of its pieces."""
    import numpy as np

    sql = f"""select {data_column(kind)} from embedding e
    where document_id = :id and model = :model and piece >= 0 order by piece"""  # noqa: S608
    found = rows.rows(sql, id=document_id, model=model)
    if not found:
        return None
    mean = decode_vectors(kind, [row[0] for row in found]).mean(0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    # Pieces that point in opposite directions have no mean direction; the first one is then as good as any.
    vector = (mean / length).astype(np.float32) if length > 1e-6 else decode_vectors(kind, [found[0][0]])[0]
    return QueryVector(model, vector)


def select_best(found: Iterable[Row]) -> dict[int, VectorMatch]:
    """For each document of (document, piece, language, cosine) its best piece, and its title."""
    best: dict[int, VectorMatch] = {}
    for document, piece, language, cosine in found:
        match = VectorMatch(cosine, language, cosine if piece == TITLE_PIECE else None)
        known = best.get(document)
        best[document] = match if known is None else merge_matches(known, match)
    return best


def compare_pieces(kind: DatabaseKind, rows: Sequence[Row], vector: "Floats") -> dict[int, VectorMatch]:
    """The same for rows of (document, piece, language, data)."""
    if not rows:
        return {}
    import numpy as np

    # Not `@`: there the last digits of a row depend on the rows around it, and with them the order of equal hits.
    cosines = np.einsum("ij,j->i", decode_vectors(kind, [row[3] for row in rows]), vector).clip(-1.0, 1.0).tolist()
    return select_best((*row[:3], cosine) for row, cosine in zip(rows, cosines, strict=True))


def compare_subwords(matches: dict[int, VectorMatch], rows: Sequence[Row], match: MatchSubwords | None) -> None:
    """Add to the matches what parts of words say, from rows of (document, …, parts of words)."""
    listed = [(row[0], row[-1]) for row in rows if row[-1] is not None] if match is not None else []
    if match is None or not listed:
        return
    best: dict[int, float] = {}
    levels = match([each for _, each in listed])
    for (document, _), level in zip(listed, levels, strict=True) if levels is not None else ():
        best[document] = max(level, best.get(document, level))
    for document, level in best.items():
        matches[document] = matches[document]._replace(subwords=level)


def merge_matches(one: VectorMatch, other: VectorMatch) -> VectorMatch:
    """The better of two matches of one document, with its title."""
    nearer = one if one.similarity >= other.similarity else other
    alike = one.monolingual and other.monolingual and not is_cross_language(one.language, other.language)
    return VectorMatch(nearer.similarity, nearer.language, one.title if other.title is None else other.title, alike)


def data_column(kind: DatabaseKind) -> str:
    """How a select names the vectors, so that they come as bytes."""
    return "e.data" if kind == "sqlite" else "array_send(e.data)"


def decode_vectors(kind: DatabaseKind, found: Sequence[bytes]) -> "Floats":
    """Vectors of one model, as `data_column` gives them."""
    import numpy as np

    if kind == "sqlite":
        return np.frombuffer(b"".join(found), np.float32).reshape(len(found), -1)
    # PostgreSQL sends an array as 20 bytes that describe it, then each number after its own size.
    cells = np.frombuffer(b"".join(each[20:] for each in found), np.dtype([("size", ">i4"), ("value", ">f4")]))
    return cells["value"].astype(np.float32).reshape(len(found), -1)


def build_rows(kind: DatabaseKind, model: int, document: EmbeddedDocument) -> list[dict[str, Any]]:
    """A row for each vector of a document. PostgreSQL's driver sends an array of numpy's as it is."""
    languages = [detect_language(text) for text in document.texts]
    if document.titled:  # the title "NHK" over a Japanese text is not English
        languages[0] = languages[1]
    parts = [None] * len(languages) if document.subwords is None else document.subwords
    first = TITLE_PIECE if document.titled else 0
    return [
        {
            "document_id": document.id,
            "model": model,
            "piece": piece,
            "data": vector.tobytes() if kind == "sqlite" else vector,
            "language": said,
            "subwords": part if piece != TITLE_PIECE else None,  # the first piece of the text has the title
        }
        for piece, (vector, said, part) in enumerate(zip(document.vectors, languages, parts, strict=True), first)
    ]


# pgvector

FULL_PRECISION, _HALF_PRECISION = 2_000, 4_000  # dimensions up to which an index can hold full and half precision
_INSTALLED = """select n.nspname, split_part(e.extversion, '.', 1)::int * 1000 + split_part(e.extversion, '.', 2)::int
from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"""
_OFFERED = "select 1 from pg_available_extensions where name = 'vector'"


@dataclass(frozen=True, slots=True)
class PgvectorExtension:
    """pgvector in this database."""

    schema: str
    version: int  # major * 1000 + minor

    def build_distance_sql(self, dimension: int) -> str:
        """The expression that is indexed, and by which the nearest are sorted: the negative product."""
        schema = quote_name(self.schema)
        kind = "halfvec" if FULL_PRECISION < dimension <= _HALF_PRECISION else "vector"
        typed = f"{schema}.{kind}({dimension})"
        return f"(cast(e.data as {typed}) operator({schema}.<#>) cast(cast(:vector as text) as {typed}))"

    def build_index_sql(self, model: StoredModel) -> str | None:
        """None: so many dimensions cannot be indexed."""
        if model.dimension > _HALF_PRECISION:
            return None
        schema, kind = quote_name(self.schema), "halfvec" if model.dimension > FULL_PRECISION else "vector"
        return (
            f"create index if not exists {build_index_name(model)} on embedding using hnsw"
            f" ((cast(data as {schema}.{kind}({model.dimension}))) {schema}.{kind}_ip_ops)"
            f" with (m = 16, ef_construction = 100) where model = {model.id:d}"
        )


def find_extension(rows: Rows) -> PgvectorExtension | Literal["offered", "missing"]:
    """pgvector in this database, or whether its server could have it."""
    found = rows.row(_INSTALLED)
    if found is not None:
        return PgvectorExtension(found[0], found[1])
    return "offered" if rows.row(_OFFERED) else "missing"


def build_index_name(model: StoredModel) -> str:
    return f"embedding_near_{model.id:d}"
