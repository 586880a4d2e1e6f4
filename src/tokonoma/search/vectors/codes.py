"""One-bit codes: what a vector is reduced to in memory, and how the nearest are proposed from it. Pure.

A vector is moved by the model's centre, spread by a fixed rotation over all bits alike (two rounds of random signs and
a Hadamard transform), and its signs are stored, with two numbers that correct the worst of the loss. Codes are searched
in two steps: by the number of bits that differ, over all; then, for the few thousand nearest, by the product of the
code with the full query. The caller compares the rest exactly, with the stored vectors.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BitWords = NDArray[np.uint64]
RowNumbers = NDArray[np.int64]

CODE_FORMAT = 1  # with another number, stored codes are computed again
BLOCK = 16_384  # rows of a block
_CHUNK = 65_536  # rows at a time: the intermediate results stay in the processor's cache
_FAR = np.uint16(65_535)
_SAMPLE = 8_192


@dataclass(frozen=True, slots=True)
class Codes:
    """Bits in words of 64, one array per word: what is compared at once lies side by side."""

    words: BitWords  # (words, rows)
    scales: Floats
    shifts: Floats

    def __len__(self) -> int:
        return self.words.shape[1]


class CodeColumns:
    """Growing columns: codes beside their ids, documents and locations. A row is added behind the rows that other
    threads look at; when there is no room, into larger copies."""

    def __init__(self, bits: int) -> None:
        self.count = 0
        self.blank = 0  # rows whose vector has gone
        self.dirty: set[int] = set()  # numbers of blocks that differ from what is stored
        self._words = np.empty((bits // 64, 0), np.uint64)
        self._scales: Floats = np.empty(0, np.float32)
        self._shifts: Floats = np.empty(0, np.float32)
        self._ids: RowNumbers = np.empty(0, np.int64)
        self._documents: RowNumbers = np.empty(0, np.int64)
        self._locations: NDArray[np.uint32] = np.empty(0, np.uint32)

    def codes(self) -> Codes:
        count = self.count
        return Codes(self._words[:, :count], self._scales[:count], self._shifts[:count])

    def ids(self) -> RowNumbers:
        return self._ids[: self.count]

    def documents(self) -> RowNumbers:
        return self._documents[: self.count]

    def locations(self) -> NDArray[np.uint32]:
        return self._locations[: self.count]

    def measure_memory(self) -> int:
        return sum(each.nbytes for each in self._list_columns()) + self._words.nbytes

    def add(self, ids: Any, documents: Any, locations: Any, codes: Codes) -> None:
        start, end = self.count, self.count + len(codes)
        if end > self._words.shape[1]:
            self.reserve(max(end, self._words.shape[1] * 5 // 4, 1024))
        self._words[:, start:end] = codes.words
        added = (codes.scales, codes.shifts, ids, documents, locations)
        for column, values in zip(self._list_columns(), added, strict=True):
            column[start:end] = values
        self.count = end
        self.blank += int(np.count_nonzero(self._locations[start:end] == 0))
        self.dirty.update(range(start // BLOCK, (end - 1) // BLOCK + 1))

    def set_location(self, at: int, location: int) -> None:
        """Give a row another location; 0 blanks it."""
        before = int(self._locations[at])
        if before != location:
            self.blank += (location == 0) - (before == 0)
            self._locations[at] = location
            self.dirty.add(at // BLOCK)

    def export_block(self, number: int) -> tuple[int, list[int], bytes]:
        """How many rows, the locations that occur in them, and all of it as bytes."""
        part = slice(number * BLOCK, min((number + 1) * BLOCK, self.count))
        used, locations = np.unique(self._locations[part], return_inverse=True)
        parts = [column[part] for column in self._list_columns()[:-1]]
        parts += [locations.astype(np.uint32), self._words[:, part]]
        return part.stop - part.start, used.tolist(), b"".join(each.tobytes() for each in parts)

    def import_block(self, count: int, data: bytes, numbers: Sequence[int]) -> None:
        """Add what `export_block` returned; `numbers` are the locations that occur in it."""
        values: list[Any] = []
        at = 0
        for column in self._list_columns():
            values.append(np.frombuffer(data, column.dtype, count, at))
            at += values[-1].nbytes
        words = np.frombuffer(data, np.uint64, offset=at).reshape(-1, count)
        scales, shifts, ids, documents, locations = values
        clean = set(self.dirty)
        self.add(ids, documents, np.asarray(numbers, np.uint32)[locations], Codes(words, scales, shifts))
        self.dirty = clean

    def _list_columns(self) -> tuple[NDArray[Any], ...]:
        return self._scales, self._shifts, self._ids, self._documents, self._locations

    def reserve(self, room: int) -> None:
        """Make room for that many rows in all."""
        more = room - self._words.shape[1]
        self._words = np.concatenate([self._words, np.empty((self._words.shape[0], more), np.uint64)], axis=1)
        self._scales, self._shifts, self._ids, self._documents, self._locations = (
            np.concatenate([column, np.empty(more, column.dtype)]) for column in self._list_columns()
        )


@dataclass(frozen=True, slots=True)
class CodeQuery:
    """The vector of a query, prepared for comparison with codes."""

    vector: Floats
    bits: BitWords
    table: Floats  # (bytes, 256): what each byte of a code adds to the product
    base: float


class BinaryCoder:
    """For one dimension and one centre."""

    def __init__(self, dimension: int, centre: Floats | None) -> None:
        self.bits = 512 if dimension <= 512 else 1024
        self._rotation = _build_rotation(dimension, self.bits)
        self._centre = np.zeros(dimension, np.float32) if centre is None else centre

    def encode(self, vectors: Floats) -> Codes:
        rotated = (vectors - self._centre) @ self._rotation
        packed: Any = np.packbits(rotated > 0, axis=1).view(np.uint64)
        sizes = np.abs(rotated).sum(1)
        scales = np.einsum("ij,ij->i", rotated, rotated) / np.maximum(sizes, 1e-12)
        return Codes(np.ascontiguousarray(packed.T), scales, vectors @ self._centre)

    def encode_query(self, vector: Floats) -> CodeQuery:
        rotated = (vector - self._centre) @ self._rotation
        bits: Any = np.packbits(rotated > 0).view(np.uint64)
        table = rotated.reshape(-1, 8) @ _build_byte_bits()
        return CodeQuery(vector, bits, np.ascontiguousarray(table, dtype=np.float32), float(rotated.sum()))


def count_differing_bits(words: BitWords, bits: BitWords) -> NDArray[np.uint16]:
    """In how many bits each code differs from the query's."""
    count = words.shape[1]
    found = np.empty(count, np.uint16)
    mixed, ones = np.empty(min(count, _CHUNK), np.uint64), np.empty(min(count, _CHUNK), np.uint8)
    for start in range(0, count, _CHUNK):
        part = found[start : start + _CHUNK]
        part[:] = 0
        size = len(part)
        for word, bit in zip(words, bits, strict=True):
            np.bitwise_xor(word[start : start + size], bit, out=mixed[:size])
            _count_ones(mixed[:size], ones[:size])
            part += ones[:size]
    return found


def select_nearest(found: NDArray[np.uint16], most: int) -> RowNumbers:
    """The places of the `most` least numbers, and of those that equal the last of them; in no order."""
    count = len(found)
    if count <= most:
        return np.flatnonzero(found < _FAR)
    sample = found[:: max(count // _SAMPLE, 1)]
    share = min(int(most / count * len(sample) * 1.2) + 8, len(sample) - 1)
    limit = int(np.partition(sample, share)[share])
    near = np.flatnonzero(found <= min(limit, int(_FAR) - 1))
    if len(near) < most:  # the sample was not a fair one
        limit = int(np.partition(found, most)[most])
        near = np.flatnonzero(found <= min(limit, int(_FAR) - 1))
    if len(near) > 1.5 * most:
        near = near[np.argpartition(found[near], most)[:most]]
    return near


def propose_rows(
    codes: Codes, query: CodeQuery, blocked: NDArray[np.bool_] | None, most: int, *, rough: bool = False
) -> RowNumbers:
    """Places that may well hold the nearest, the most promising first; none that is blocked. `rough`: by the number of
    bits that differ alone, which takes a third of the time."""
    open_rows: RowNumbers | None = None
    words = codes.words
    if blocked is not None:
        allowed = len(blocked) - int(np.count_nonzero(blocked))
        if allowed <= most:
            return rank_rows(codes, query, np.flatnonzero(~blocked))
        if allowed < len(blocked) // 8:  # copying these is cheaper than looking at all
            open_rows = np.flatnonzero(~blocked)
            words, blocked = words[:, open_rows], None
    found = count_differing_bits(words, query.bits)
    if blocked is not None:
        np.copyto(found, _FAR, where=blocked)
    near = select_nearest(found, most)
    if rough:
        near = near[np.argsort(found[near], kind="stable")]
        return near if open_rows is None else open_rows[near]
    return rank_rows(codes, query, near if open_rows is None else open_rows[near])


def rank_rows(codes: Codes, query: CodeQuery, places: RowNumbers) -> RowNumbers:
    """By the product of code and query, which knows more than the bits that differ."""
    products = np.full(len(places), -query.base, np.float32)
    for word, rows in zip(codes.words, query.table.reshape(-1, 8, 256), strict=True):
        octets: Any = word[places].view(np.uint8).reshape(-1, 8)
        for octet, row in zip(octets.T, rows, strict=True):
            products += row.take(octet)
    order = np.argsort(-(products * codes.scales[places] + codes.shifts[places]), kind="stable")
    return places[order]


def _count_ones(words: BitWords, out: NDArray[np.uint8]) -> None:
    count: Any = getattr(np, "bitwise_count", None)
    if count is not None:  # numpy 2 and later
        count(words, out=out)
    else:
        np.sum(_build_bit_counts()[words.view(np.uint16)].reshape(-1, 4), axis=1, dtype=np.uint8, out=out)


@lru_cache(maxsize=1)
def _build_byte_bits() -> Floats:
    """(8, 256): the bits of each byte, as 2 and 0."""
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32).T * np.float32(2)


@lru_cache(maxsize=1)
def _build_bit_counts() -> NDArray[np.uint8]:
    values = np.arange(65_536, dtype=np.uint16)
    return np.unpackbits(values.view(np.uint8).reshape(-1, 2), axis=1).sum(1, dtype=np.uint8)


@lru_cache(maxsize=4)
def _build_rotation(dimension: int, bits: int) -> Floats:
    """(dimension, bits). Computed by additions alone, so that it is the same on every machine."""
    size = 1 << max(dimension - 1, bits - 1).bit_length()
    turn = np.eye(dimension, size, dtype=np.float32)
    for seed in (b"tokonoma 1", b"tokonoma 2"):
        drawn = np.frombuffer(hashlib.shake_256(seed).digest(size // 8), np.uint8)
        turn = _apply_hadamard(turn * (np.unpackbits(drawn).astype(np.float32) * 2 - 1))
    # Fewer bits than it has columns keep that share of every product.
    return np.ascontiguousarray(turn[:, :bits] * np.float32(size / bits) ** 0.5)


def _apply_hadamard(rows: Floats) -> Floats:
    size, half = rows.shape[1], 1
    while half < size:
        pairs = rows.reshape(-1, size // (2 * half), 2, half)
        left, right = pairs[:, :, 0], pairs[:, :, 1]
        rows = np.stack([left + right, left - right], axis=2).reshape(-1, size)
        half *= 2
    return (rows / np.float32(size**0.5)).astype(np.float32)
