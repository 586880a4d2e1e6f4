"""The codes of one model in memory, how they follow the stored vectors, and how they are stored. SQLite only.

Codes are stored in blocks, now and then, so that a new process need not compute them. `sealed` of a model is the change
up to which its blocks are complete; later changes are applied from there, and earlier ones are deleted. A process that
has missed some of those reads the blocks again.
"""

import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.namespaces import is_inside
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors.codes import (
    BLOCK,
    CODE_FORMAT,
    BinaryCoder,
    CodeColumns,
)
from tokonoma.search.vectors.view import CodeView, WholeVectors
from tokonoma.store.database import Database

Location = tuple[str, str, str]  # module, namespace and class of a document: what most filters ask for
_PAGE = 2_000  # documents that are read at once
_LONGEST_READ = 120.0  # seconds that a read transaction lasts at most
# Changes that are in the blocks are deleted.
_NEWEST = """select max(coalesce((select max(seq) from embedding_change), 0), sealed), sealed
from embedding_model where id = :model"""
_CHANGED = """select distinct document_id from embedding_change where seq > :seq and seq <= :newest
and model in (0, :model) order by document_id"""
_OF_DOCUMENTS = """select e.id, e.document_id, d.module, d.space, d.label
from json_each(:documents) j cross join embedding e on e.document_id = j.value and e.model = :model
cross join document d on d.id = e.document_id order by e.id"""
_DATA = """select e.data from json_each(:ids) j cross join embedding e on e.id = j.value order by e.id"""
_ALL = """select e.id, e.document_id, d.module, d.space, d.label, e.data from embedding e
join document d on d.id = e.document_id where e.id > :after and e.model = :model order by e.id limit :limit"""
_WHOLE = "select id, data from embedding where model = :model"


class CodeMemory:
    """Rows are only added and blanked, so a search that looks at the first `count` of them is not disturbed."""

    def __init__(self, model: int, dimension: int, centre: bytes | None) -> None:
        self.model, self.dimension, self.centre = model, dimension, centre
        self.coder = BinaryCoder(dimension, None if centre is None else np.frombuffer(centre, np.float32))
        self.columns = CodeColumns(self.coder.bits)
        self.whole: WholeVectors | None = WholeVectors(dimension)  # as long as they are few
        self.locations: list[Location | None] = [None]  # of the rows, by number; 0: the row is blank
        self.seq = 0  # the last change that was applied
        self.base = -1  # up to which change the stored blocks had it when they were read or written,
        self.stored_rows = 0  # and how many rows they had
        self._numbers: dict[Location, int] = {}
        self._allowed: dict[Any, NDArray[np.bool_]] = {}
        self._applied_at = 0.0
        self._guard = threading.RLock()

    def build_view(self, filter: IndexFilter) -> CodeView:
        with self._guard:
            columns = self.columns
            whole = None if self.whole is None else self.whole.get_rows(columns.count)
            return CodeView(columns.codes(), columns.ids(), columns.documents(), self._find_blocked(filter), whole)

    def is_fresh(self, age: float) -> bool:
        """Whether changes were applied within so many seconds."""
        return time.monotonic() - self._applied_at < age

    def catch_up(self, rows: Rows) -> bool:
        """Apply what has changed. False: changes were missed, and the codes must be read or computed again."""
        with self._guard:
            newest, sealed = rows.rows(_NEWEST, model=self.model)[0]
            if newest == self.seq:
                return True
            if newest < self.seq:
                # The caller's snapshot is a little older; or older for good, after a backup was restored.
                return time.monotonic() - self._applied_at < _LONGEST_READ
            if self.seq < sealed:
                return False
            changed = [row[0] for row in rows.rows(_CHANGED, seq=self.seq, newest=newest, model=self.model)]
            for start in range(0, len(changed), _PAGE):
                self._apply_changes(rows, changed[start : start + _PAGE])
            self.set_position(newest)
            return True

    def set_position(self, seq: int) -> None:
        self.seq, self._applied_at = seq, time.monotonic()

    def build(self, rows: Rows) -> None:
        """Compute the codes from the vectors: slow, needed when no blocks are stored."""
        newest, sealed = rows.rows(_NEWEST, model=self.model)[0]
        after = 0
        while found := rows.rows(_ALL, after=after, model=self.model, limit=_PAGE):
            self._add(found, [row[5] for row in found])
            after = found[-1][0]
        self.set_position(newest)
        self.base = sealed

    def read_whole(self, rows: Rows) -> None:
        """Read the vectors of rows that came from blocks, if they are few."""
        count, self.whole = self.columns.count, WholeVectors(self.dimension)
        if not self.whole.has_room(count):
            self.whole = None
            return
        found, none = dict(rows.rows(_WHOLE, model=self.model)), bytes(4 * self.dimension)
        data = b"".join([found.get(each, none) for each in self.columns.ids().tolist()])
        self.whole.add(np.frombuffer(data, np.float32).reshape(count, self.dimension))

    def measure_memory(self) -> int:
        return self.columns.measure_memory() + (0 if self.whole is None else self.whole.measure_memory())

    def number_location(self, location: Location) -> int:
        number = self._numbers.setdefault(location, len(self.locations))
        if number == len(self.locations):
            self.locations.append(location)
        return number

    def _apply_changes(self, rows: Rows, documents: list[int]) -> None:
        found = rows.rows(_OF_DOCUMENTS, documents=_to_json(documents), model=self.model)
        columns = self.columns
        old = np.flatnonzero(np.isin(columns.documents(), np.asarray(documents, np.int64)))
        known = {int(columns.ids()[at]): int(at) for at in old}
        locations = {known[row[0]]: self.number_location((row[2], row[3], row[4])) for row in found if row[0] in known}
        for at in old:
            columns.set_location(int(at), locations.get(int(at), 0))
        new = [row for row in found if row[0] not in known]
        if new:
            self._add(new, [row[0] for row in rows.rows(_DATA, ids=_to_json([row[0] for row in new]))])

    def _add(self, found: Sequence[Row], data: Sequence[bytes]) -> None:
        vectors = np.frombuffer(b"".join(data), np.float32).reshape(len(data), self.dimension)
        locations = [self.number_location((row[2], row[3], row[4])) for row in found]
        self.columns.add([row[0] for row in found], [row[1] for row in found], locations, self.coder.encode(vectors))
        if self.whole is not None and not self.whole.add(vectors):
            self.whole = None

    def _find_blocked(self, filter: IndexFilter) -> NDArray[np.bool_] | None:
        """Rows that lie outside the simple part of the filter, or are blank; None: there are none."""
        allowed = self._find_allowed(filter)
        if allowed[1:].all():
            return self.columns.locations() == 0 if self.columns.blank else None
        return ~allowed[self.columns.locations()]

    def _find_allowed(self, filter: IndexFilter) -> NDArray[np.bool_]:
        """By the number of the location. Cached, for most searches use the same few filters."""
        key = (filter.modules, filter.namespaces, filter.classifications)
        known = self._allowed.pop(key, np.zeros(1, np.bool_))
        if len(known) < len(self.locations):
            more = [_matches_filter(each, filter) for each in self.locations[len(known) :]]
            known = np.concatenate([known, np.asarray(more, np.bool_)])
        self._allowed[key] = known
        if len(self._allowed) > 64:
            del self._allowed[next(iter(self._allowed))]
        return known


def _to_json(ids: Sequence[int]) -> str:
    return orjson.dumps(ids).decode()


def _matches_filter(location: Location | None, filter: IndexFilter) -> bool:
    assert location is not None
    module, namespace, classification = location
    return (
        (filter.modules is None or module in filter.modules)
        and (filter.classifications is None or classification in filter.classifications)
        and all(is_inside(namespace, tree) for tree in filter.namespaces)
    )


# Blocks

FIRST, LATEST = 1_024, 16_384
"""Changes after which blocks are written: the first time, and at the latest; between them, a quarter of the rows."""

CENTRES = (1_024, 32_768)  # rows from which it is worth to compute the centre of all vectors, and to compute it again
_MODEL = "select dimension, centre, sealed from embedding_model where id = :model"
_COUNTS = "select number, count from embedding_block where model = :model and form = :form order by number"
_BLOCK = "select names, data from embedding_block where model = :model and number = :number"
_CHANGES = """select coalesce((select max(seq) from embedding_change), 0) - sealed from embedding_model
where id = :model"""
_WRITE = """insert into embedding_block (model, number, form, count, names, data)
values (:model, :number, :form, :count, :names, :data) on conflict (model, number) do update set
form = excluded.form, count = excluded.count, names = excluded.names, data = excluded.data"""
_DELETE_OLD = "delete from embedding_block where model = :model and (number >= :blocks or form <> :form)"
_SEAL = "update embedding_model set sealed = :seq, centre = :centre where id = :model"
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
        locations: list[Any] = json.loads(names)
        numbers = [0 if each is None else memory.number_location((each[0], each[1], each[2])) for each in locations]
        memory.columns.import_block(count, data, numbers)
    memory.base, memory.stored_rows = sealed, memory.columns.count
    memory.read_whole(rows)
    memory.set_position(sealed)
    memory.catch_up(rows)
    return memory


def is_save_due(rows: Rows, memory: CodeMemory | None, model: int) -> bool:
    """Whether enough has changed. Called often: it costs next to nothing."""
    found = rows.row(_CHANGES, model=model)
    changes = int(found[0]) if found is not None else 0
    return changes >= FIRST and (changes >= LATEST or memory is None or changes * 4 >= memory.columns.count)


def save_blocks(database: Database, memory: CodeMemory) -> CodeMemory | None:
    """Write the blocks that have changed. Returns the memory that they were written from; None if another process wrote
    them first."""
    with database.reading() as rows:
        if not memory.catch_up(rows):
            return None
        centre = _recompute_centre(rows, memory)
        if centre is not None or memory.columns.blank * 4 > memory.columns.count:
            memory = CodeMemory(memory.model, memory.dimension, centre or memory.centre)
            memory.build(rows)
    written: set[int] = set()
    try:
        with database.writing() as statements:
            sealed = statements.rows(_MODEL, model=memory.model)[0][2]
            # From here on no other process writes, so no search finds more changes to apply.
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
        names = json.dumps([memory.locations[each] for each in used], ensure_ascii=False)
        statements.run(_WRITE, model=model, number=number, form=CODE_FORMAT, count=count, names=names, data=data)
    statements.run(_DELETE_OLD, model=model, blocks=-(-columns.count // BLOCK), form=CODE_FORMAT)
    statements.run(_SEAL, seq=memory.seq, centre=memory.centre, model=model)
    statements.run("delete from embedding_change where seq <= (select min(sealed) from embedding_model)")


def _recompute_centre(rows: Rows, memory: CodeMemory) -> bytes | None:
    """The mean of all vectors, when there are enough of them for the first time, and once more."""
    count = memory.columns.count
    wanted = [limit for limit in CENTRES if count >= limit]
    if not wanted or (memory.centre is not None and memory.stored_rows >= wanted[-1]):
        return None
    found = rows.rows(_SAMPLE, model=memory.model, limit=CENTRES[-1])
    vectors = np.frombuffer(b"".join(row[0] for row in found), np.float32).reshape(len(found), -1)
    return vectors.mean(0, dtype=np.float64).astype(np.float32).tobytes()
