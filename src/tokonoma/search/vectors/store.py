"""Models and their vectors as rows, the same on both databases but for how a vector is written."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.search.vector_leg import Likeness
from tokonoma.store.dialect import Kind

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
TITLE = -1
"""The number of the piece that is the title by itself."""


@dataclass(frozen=True, slots=True)
class Model:
    id: int
    name: str
    dimension: int
    recipe: str
    probe: bytes
    current: bool
    filled: int | None
    sealed: int

    @property
    def anchor(self) -> "Floats":
        import numpy as np

        return np.frombuffer(self.probe, np.float32)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's vector, and whose it is."""

    model: int
    vector: "Floats"
    language: str = ""


def models(rows: Rows) -> list[Model]:
    return [_model(row) for row in rows.rows(_MODELS)]


def adopt(statements: Statements, name: str, recipe: str, anchor: "Floats") -> None:
    """From now on new vectors are of this model, and every document is to have one."""
    statements.run("update embedding_model set current = 0 where current = 1")
    statements.run(_ADOPT, name=name, recipe=recipe, dimension=anchor.shape[0], anchor=anchor.tobytes())


def lacking(rows: Rows, model: int, after: int, limit: int) -> list[int]:
    return [row[0] for row in rows.rows(_LACKING, model=model, after=after, limit=limit)]


def resting(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Those that nobody is changing just now; nobody will until the transaction ends."""
    return {row[0] for row in statements.rows(_RESTING, numbers=json.dumps(list(document_ids)))}


def staying(statements: Statements, document_ids: Sequence[int]) -> set[int]:
    """Those that nobody is deleting just now; nobody will until the transaction ends."""
    return {row[0] for row in statements.rows(_STAYING, numbers=json.dumps(list(document_ids)))}


def note_filled(statements: Statements, model: int, upto: int | None) -> None:
    statements.run("update embedding_model set filled = :upto where id = :model", upto=upto, model=model)


def store(
    statements: Statements, kind: Kind, model: int, document_id: int, vectors: "Floats", languages: Sequence[str],
    first: int = 0,
) -> None:  # fmt: skip
    """In place of those that the document had of this model. `first`: the number of the first piece."""
    statements.run(
        "delete from embedding where document_id = :document_id and model = :model",
        document_id=document_id,
        model=model,
    )
    statements.many(
        _STORE,
        [
            {
                "document_id": document_id,
                "model": model,
                "piece": piece,
                "data": written(kind, vector),
                "language": said,
            }
            for piece, (vector, said) in enumerate(zip(vectors, languages, strict=True), first)
        ],
    )


def forget(statements: Statements, document_id: int) -> None:
    """The text has changed: until it is embedded again, it has no vector."""
    statements.run("delete from embedding where document_id = :document_id", document_id=document_id)


def forget_some(statements: Statements, model: int, limit: int) -> int:
    """Vectors of a model that nobody asks any more; how many were deleted."""
    return statements.run(_FORGET_SOME, model=model, limit=limit)


def used(rows: Rows, model: int) -> bool:
    return rows.row("select 1 from embedding where model = :model limit 1", model=model) is not None


def forget_model(statements: Statements, model: int) -> None:
    statements.run("delete from embedding_model where id = :model", model=model)


def has(rows: Rows, model: int, document_id: int) -> bool:
    found = rows.row(
        "select 1 from embedding where document_id = :document_id and model = :model limit 1",
        document_id=document_id,
        model=model,
    )
    return found is not None


def own(rows: Rows, kind: Kind, model: int, document_id: int) -> Asked | None:
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
    middle = read(kind, [row[0] for row in found]).mean(0, dtype=np.float64)
    length = float(np.linalg.norm(middle))
    # Pieces that point in opposite directions have no middle; the first one is then as good as any.
    vector = (middle / length).astype(np.float32) if length > 1e-6 else read(kind, [found[0][0]])[0]
    return Asked(model, vector, found[0][1])


def best(found: Iterable[tuple[int, int, str, float]]) -> dict[int, Likeness]:
    """Of (document, piece, language, cosine) for each document its best piece, and its title."""
    kept: dict[int, Likeness] = {}
    for document, piece, language, cosine in found:
        this = Likeness(cosine, language, cosine if piece == TITLE else None)
        known = kept.get(document)
        kept[document] = this if known is None else joined(known, this)
    return kept


def joined(one: Likeness, other: Likeness) -> Likeness:
    """What two looks at one document have found."""
    nearer = one if one.similarity >= other.similarity else other
    return Likeness(nearer.similarity, nearer.language, one.title if other.title is None else other.title)


def data_column(kind: Kind) -> str:
    """How a select names the vectors, so that they come as bytes."""
    return "e.data" if kind == "sqlite" else "array_send(e.data)"


def read(kind: Kind, found: Sequence[bytes]) -> "Floats":
    """Vectors of one model, as `data_column` gives them."""
    import numpy as np

    if kind == "sqlite":
        return np.frombuffer(b"".join(found), np.float32).reshape(len(found), -1)
    # PostgreSQL sends an array as 20 bytes that describe it, then each number after its own size.
    cells = np.frombuffer(b"".join(each[20:] for each in found), np.dtype([("size", ">i4"), ("value", ">f4")]))
    return cells["value"].astype(np.float32).reshape(len(found), -1)


def written(kind: Kind, vector: "Floats") -> Any:
    return vector.tobytes() if kind == "sqlite" else vector.tolist()


def _model(row: Row) -> Model:
    return Model(row[0], row[1], row[2], row[3], bytes(row[4]), bool(row[5]), row[6], row[7])
