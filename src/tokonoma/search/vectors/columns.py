"""Growing columns: the codes of many vectors beside their ids, documents and places. Also as blocks of bytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokonoma.search.vectors.codes import Codes, Floats, RowNumbers

BLOCK = 16_384
"""Rows of a block."""


class CodeColumns:
    """Adding writes behind the rows that others look at; when there is no room, into larger copies."""

    def __init__(self, bits: int) -> None:
        self.count = 0
        self.blank = 0  # rows whose vector has gone
        self.dirty: set[int] = set()  # numbers of blocks that differ from what is stored
        self._words = np.empty((bits // 64, 0), np.uint64)
        self._scales: Floats = np.empty(0, np.float32)
        self._shifts: Floats = np.empty(0, np.float32)
        self._ids: RowNumbers = np.empty(0, np.int64)
        self._documents: RowNumbers = np.empty(0, np.int64)
        self._places: NDArray[np.uint32] = np.empty(0, np.uint32)

    def codes(self) -> Codes:
        count = self.count
        return Codes(self._words[:, :count], self._scales[:count], self._shifts[:count])

    def ids(self) -> RowNumbers:
        return self._ids[: self.count]

    def documents(self) -> RowNumbers:
        return self._documents[: self.count]

    def locations(self) -> NDArray[np.uint32]:
        return self._places[: self.count]

    def measure_memory(self) -> int:
        return sum(each.nbytes for each in self._list_columns()) + self._words.nbytes

    def add(self, ids: Any, documents: Any, places: Any, codes: Codes) -> None:
        start, end = self.count, self.count + len(codes)
        if end > self._words.shape[1]:
            self.reserve(max(end, self._words.shape[1] * 5 // 4, 1024))
        self._words[:, start:end] = codes.words
        for column, values in zip(
            self._list_columns(), (codes.scales, codes.shifts, ids, documents, places), strict=True
        ):
            column[start:end] = values
        self.count = end
        self.blank += int(np.count_nonzero(self._places[start:end] == 0))
        self.dirty.update(range(start // BLOCK, (end - 1) // BLOCK + 1))

    def set_location(self, at: int, place: int) -> None:
        """Give a row another place; 0 blanks it."""
        before = int(self._places[at])
        if before != place:
            self.blank += (place == 0) - (before == 0)
            self._places[at] = place
            self.dirty.add(at // BLOCK)

    def export_block(self, number: int) -> tuple[int, list[int], bytes]:
        """How many rows, the places that occur in them, and all of it as bytes."""
        part = slice(number * BLOCK, min((number + 1) * BLOCK, self.count))
        used, places = np.unique(self._places[part], return_inverse=True)
        parts = [column[part] for column in self._list_columns()[:-1]] + [
            places.astype(np.uint32),
            self._words[:, part],
        ]
        return part.stop - part.start, used.tolist(), b"".join(each.tobytes() for each in parts)

    def import_block(self, count: int, data: bytes, numbers: Sequence[int]) -> None:
        """What `block` gave; `numbers` are the places that occur in it."""
        values: list[Any] = []
        at = 0
        for column in self._list_columns():
            values.append(np.frombuffer(data, column.dtype, count, at))
            at += values[-1].nbytes
        words = np.frombuffer(data, np.uint64, offset=at).reshape(-1, count)
        scales, shifts, ids, documents, places = values
        clean = set(self.dirty)
        self.add(ids, documents, np.asarray(numbers, np.uint32)[places], Codes(words, scales, shifts))
        self.dirty = clean

    def _list_columns(self) -> tuple[NDArray[Any], ...]:
        return self._scales, self._shifts, self._ids, self._documents, self._places

    def reserve(self, room: int) -> None:
        """Room for that many rows in all."""
        more = room - self._words.shape[1]
        self._words = np.concatenate([self._words, np.empty((self._words.shape[0], more), np.uint64)], axis=1)
        self._scales, self._shifts, self._ids, self._documents, self._places = (
            np.concatenate([column, np.empty(more, column.dtype)]) for column in self._list_columns()
        )
