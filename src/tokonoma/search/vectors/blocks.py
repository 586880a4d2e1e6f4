"""Codes as they are stored: in blocks, written now and then, so that a new process need not make them. SQLite alone.

`sealed` of a model is the change up to which its blocks have everything; what came later is followed from there, and
what came before is no longer kept as a change. A process that has missed some of those reads the blocks again.
"""

import json
from typing import Any

import numpy as np

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.vectors.codes import CODE_FORMAT
from tokonoma.search.vectors.columns import BLOCK
from tokonoma.search.vectors.memory import CodeMemory
from tokonoma.store.database import Database

FIRST, LATEST = 1_024, 16_384
"""Changes after which blocks are written: the first time, and at the latest; between them, a quarter of the rows."""

CENTRES = (1_024, 32_768)
"""Rows from which it is worth to find the middle of all vectors, and to find it better."""

_MODEL = "select dimension, centre, sealed from embedding_model where id = :model"
_COUNTS = "select number, count from embedding_block where model = :model and form = :form order by number"
_BLOCK = "select names, data from embedding_block where model = :model and number = :number"
_CHANGES = """select coalesce((select max(seq) from embedding_change), 0) - sealed from embedding_model
where id = :model"""
_WRITE = """insert into embedding_block (model, number, form, count, names, data)
values (:model, :number, :form, :count, :names, :data) on conflict (model, number) do update set
form = excluded.form, count = excluded.count, names = excluded.names, data = excluded.data"""
_SAMPLE = "select data from embedding where model = :model order by id limit :limit"


def load_codes(rows: Rows, model: int) -> CodeMemory:
    """From the blocks, and what has changed since; without blocks, from the vectors."""
    dimension, centre, sealed = rows.rows(_MODEL, model=model)[0]
    memory = CodeMemory(model, dimension, centre)
    counts = rows.rows(_COUNTS, model=model, form=CODE_FORMAT)
    if not counts or [number for number, _ in counts] != list(range(len(counts))):
        memory.build(rows)
        return memory
    total = sum(count for _, count in counts)
    memory.columns.reserve(total + total // 8)
    for number, count in counts:
        names, data = rows.rows(_BLOCK, model=model, number=number)[0]
        places: list[Any] = json.loads(names)
        numbers = [0 if place is None else memory.number_location((place[0], place[1], place[2])) for place in places]
        memory.columns.import_block(count, data, numbers)
    memory.base, memory.stored_rows = sealed, memory.columns.count
    memory.set_position(sealed)
    memory.catch_up(rows)
    return memory


def is_save_due(rows: Rows, memory: CodeMemory | None, model: int) -> bool:
    """Whether enough has changed. Asked often: it costs next to nothing."""
    found = rows.row(_CHANGES, model=model)
    changes = int(found[0]) if found is not None else 0
    if changes < FIRST:
        return False
    return changes >= LATEST or memory is None or changes * 4 >= memory.columns.count


def save_blocks(database: Database, memory: CodeMemory) -> CodeMemory | None:
    """Write the blocks that have changed. The memory that they were written from; None: somebody else was quicker."""
    with database.reading() as rows:
        if not memory.catch_up(rows):
            return None
        centre = _recompute_centre(rows, memory)
        if centre is not None or memory.columns.blank * 4 > memory.columns.count:
            anew = CodeMemory(memory.model, memory.dimension, centre or memory.centre)
            anew.build(rows)
            memory = anew
    written: set[int] = set()
    try:
        with database.writing() as statements:
            sealed = statements.rows(_MODEL, model=memory.model)[0][2]
            # From here on nobody else writes, so nobody's search finds anything more to follow.
            if sealed != memory.base or not memory.catch_up(statements):
                return None
            seq, count = memory.seq, memory.columns.count
            written, memory.columns.dirty = memory.columns.dirty, set()
            _write_blocks(statements, memory, sorted(written))
    except BaseException:
        memory.columns.dirty |= written
        raise
    memory.base, memory.stored_rows = seq, count
    return memory


def _write_blocks(statements: Statements, memory: CodeMemory, numbers: list[int]) -> None:
    columns, model = memory.columns, memory.model
    for number in numbers:
        count, used, data = columns.export_block(number)
        names = json.dumps([memory.locations[place] for place in used], ensure_ascii=False)
        statements.run(_WRITE, model=model, number=number, form=CODE_FORMAT, count=count, names=names, data=data)
    statements.run(
        "delete from embedding_block where model = :model and (number >= :blocks or form <> :form)",
        model=model,
        blocks=-(-columns.count // BLOCK),
        form=CODE_FORMAT,
    )
    statements.run(
        "update embedding_model set sealed = :seq, centre = :centre where id = :model",
        seq=memory.seq,
        centre=memory.centre,
        model=model,
    )
    statements.run("delete from embedding_change where seq <= (select min(sealed) from embedding_model)")


def _recompute_centre(rows: Rows, memory: CodeMemory) -> bytes | None:
    """The middle of all vectors, when there are enough of them for the first time, and once more."""
    count = memory.columns.count
    wanted = [limit for limit in CENTRES if count >= limit]
    if not wanted or (memory.centre is not None and memory.stored_rows >= wanted[-1]):
        return None
    found = rows.rows(_SAMPLE, model=memory.model, limit=CENTRES[-1])
    vectors = np.frombuffer(b"".join(row[0] for row in found), np.float32).reshape(len(found), -1)
    return vectors.mean(0, dtype=np.float64).astype(np.float32).tobytes()
