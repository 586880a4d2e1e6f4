"""Models and their vectors as rows, the same on both databases but for how a vector is written."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.search.vector_leg import VectorMatch
from tokonoma.store.dialect import DatabaseKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# numpy is imported inside functions: saving a record must not load it.

_MODELS = "select id, name, dimension, recipe, anchor, current, filled, sealed from embedding_model order by id"
_ADOPT = """insert into embedding_model (name, recipe, dimension, anchor, current, filled, sealed)
values (:name, :recipe, :dimension, :anchor, 1, 0, 0)
on conflict (name) do update set recipe = excluded.recipe, current = 1, filled = 0"""
_LACKING = """select d.id from document d where d.id > :after
and not exists (select 1 from embedding e where e.document_id = d.id and e.model = :model) order by d.id limit :limit"""
_STORE = """insert into embedding (document_id, model, piece, data, language)
values (:document_id, :model, :piece, :data, :language)"""
_RESTING = "select id from document where id in ({numbers}) {for_update_free}"
_STAYING = "select id from document where id in ({numbers}) {for_stay_free}"
_FORGET_SOME = """delete from embedding where id in
(select id from embedding where model = :model order by id limit :limit {for_update_free})"""
TITLE_PIECE = -1
"""The number of the piece that is the title by itself."""


@dataclass(frozen=True, slots=True)
class StoredModel:
    id: int
    name: str
    dimension: int
    config: str
    anchor_bytes: bytes
    current: bool
    backfilled_to: int | None
    sealed: int

    @property
    def anchor(self) -> "Floats":
        import numpy as np

        return np.frombuffer(self.anchor_bytes, np.float32)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question's vector, and whose it is."""

    model: int
    vector: "Floats"
    language: str = ""


def list_models(rows: Rows) -> list[StoredModel]:
    return [_to_model(row) for row in rows.rows(_MODELS)]


def adopt(statements: Statements, name: str, recipe: str, anchor: "Floats") -> None:
    """From now on new vectors are of this model, and every document is to have one."""
    statements.run("update embedding_model set current = 0 where current = 1")
    statements.run(_ADOPT, name=name, recipe=recipe, dimension=anchor.shape[0], anchor=anchor.tobytes())


def list_missing(rows: Rows, model: int, after: int, limit: int) -> list[int]:
    return [row[0] for row in rows.rows(_LACKING, model=model, after=after, limit=limit)]


def lock_for_change(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Those that nobody is changing just now; nobody will until the transaction ends."""
    return {row[0] for row in statements.rows(_RESTING, numbers=json.dumps(list(document_ids)))}


def lock_against_delete(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Those that nobody is deleting just now; nobody will until the transaction ends."""
    return {row[0] for row in statements.rows(_STAYING, numbers=json.dumps(list(document_ids)))}


def save_backfill(statements: Statements, model: int, upto: int | None) -> None:
    statements.run("update embedding_model set filled = :upto where id = :model", upto=upto, model=model)


def store_vectors(
    statements: Statements,
    kind: DatabaseKind,
    model: int,
    document_id: int,
    vectors: "Floats",
    languages: Sequence[str],
    first: int = 0,
) -> None:
    """In place of those that the document had of this model. `first`: the number of the first piece."""
    statements.run(
        "delete from embedding where document_id = :document_id and model = :model",
        document_id=document_id,
        model=model,
    )
    statements.run_many(
        _STORE,
        [
            {
                "document_id": document_id,
                "model": model,
                "piece": piece,
                "data": encode_vector(kind, vector),
                "language": said,
            }
            for piece, (vector, said) in enumerate(zip(vectors, languages, strict=True), first)
        ],
    )


def delete_vectors(statements: Statements, document_id: int) -> None:
    """The text has changed: until it is embedded again, it has no vector."""
    statements.run("delete from embedding where document_id = :document_id", document_id=document_id)


def delete_some_vectors(statements: Statements, model: int, limit: int) -> int:
    """Vectors of a model that nobody asks any more; how many were deleted."""
    return statements.run(_FORGET_SOME, model=model, limit=limit)


def has_any_vector(rows: Rows, model: int) -> bool:
    return rows.row("select 1 from embedding where model = :model limit 1", model=model) is not None


def delete_model(statements: Statements, model: int) -> None:
    statements.run("delete from embedding_model where id = :model", model=model)


def has_vector(rows: Rows, model: int, document_id: int) -> bool:
    found = rows.row(
        "select 1 from embedding where document_id = :document_id and model = :model limit 1",
        document_id=document_id,
        model=model,
    )
    return found is not None


def read_own_vector(rows: Rows, kind: DatabaseKind, model: int, document_id: int) -> QueryVector | None:
    """A document's own vector: the middle of those of its pieces."""
    import numpy as np

    found = rows.rows(
        f"""select {data_column(kind)}, language from embedding e
        where document_id = :document_id and model = :model and piece >= 0 order by piece""",  # noqa: S608
        document_id=document_id,
        model=model,
    )
    if not found:
        return None
    middle = decode_vectors(kind, [row[0] for row in found]).mean(0, dtype=np.float64)
    length = float(np.linalg.norm(middle))
    # Pieces that point in opposite directions have no middle; the first one is then as good as any.
    vector = (middle / length).astype(np.float32) if length > 1e-6 else decode_vectors(kind, [found[0][0]])[0]
    return QueryVector(model, vector, found[0][1])


def select_best(found: Iterable[tuple[int, int, str, float]]) -> dict[int, VectorMatch]:
    """Of (document, piece, language, cosine) for each document its best piece, and its title."""
    kept: dict[int, VectorMatch] = {}
    for document, piece, language, cosine in found:
        this = VectorMatch(cosine, language, cosine if piece == TITLE_PIECE else None)
        known = kept.get(document)
        kept[document] = this if known is None else merge_matches(known, this)
    return kept


def merge_matches(one: VectorMatch, other: VectorMatch) -> VectorMatch:
    """What two looks at one document have found."""
    nearer = one if one.similarity >= other.similarity else other
    return VectorMatch(nearer.similarity, nearer.language, one.title if other.title is None else other.title)


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


def encode_vector(kind: DatabaseKind, vector: "Floats") -> Any:
    return vector.tobytes() if kind == "sqlite" else vector.tolist()


def _to_model(row: Row) -> StoredModel:
    return StoredModel(row[0], row[1], row[2], row[3], bytes(row[4]), bool(row[5]), row[6], row[7])
