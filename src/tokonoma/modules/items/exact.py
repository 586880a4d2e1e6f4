"""Whether an item holds a text, exactly; and which items can hold it, without reading all of them.

Texts are compared in the form of core.normalize, with single spaces. `item_gram` holds a Bloom filter for each item: a
bit for each sequence of three characters (and of two, if they are not ASCII) of its normalized text. A text that an
item holds has no other bits than the item, so no item is missed; those that pass are read and compared. Pure.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from tokonoma.core.normalize import normalize
from tokonoma.modules.items.model import MODULE_NAME, Item, build_text, parse_target

_LEAST, _MOST = 256, 8192  # bits of a filter
_BITS_PER_GRAM = 4


class TextTest(NamedTuple):
    """A text that must occur in an item, or in its title alone. An item's address counts as its text."""

    text: str
    in_title: bool = False

    @property
    def item_id(self) -> int | None:
        """The number of the item that the text is the address of."""
        return None if self.in_title else parse_item_number(self.text)

    def holds(self, texts: "ItemTexts") -> bool:
        if self.item_id == texts.item.id and _names_type(self.text, texts.item):
            return True
        return normalize_text(self.text) in (texts.title if self.in_title else texts.whole)


class ItemTexts:
    """The normalized texts of an item, made when they are needed."""

    def __init__(self, item: Item) -> None:
        self.item = item

    @cached_property
    def title(self) -> str:
        return normalize_text(self.item.title)

    @cached_property
    def whole(self) -> str:
        return normalize_text(f"{self.item.title}\n{build_text(self.item)}")


def normalize_text(text: str) -> str:
    """As the index normalizes words: サーバー and ｻｰﾊﾞ are the same."""
    return " ".join(normalize(text).split())


def parse_item_number(text: str) -> int | None:
    """Of `bug-2`, `#2` or `tokonoma://items/2`."""
    target = parse_target(f"{MODULE_NAME}-{text[1:]}" if text.startswith("#") else text)
    return target.item if target else None


def _names_type(text: str, item: Item) -> bool:
    target = parse_target(text)
    return target is None or target.type in (None, item.type)


def build_grams(item: Item) -> bytes:
    """The filter of an item's text."""
    grams = {crc32(gram.encode("utf-8", "surrogatepass")) for gram in _split_grams(ItemTexts(item).whole)}
    size = _LEAST
    while size < _MOST and size < _BITS_PER_GRAM * len(grams):
        size *= 2
    bits = bytearray(size // 8)
    for gram in grams:
        place = gram % size
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


class GramFilter:
    """Decides by its filter whether an item can hold all of these texts."""

    def __init__(self, tests: Iterable[TextTest]) -> None:
        self._grams = {
            crc32(gram.encode("utf-8", "surrogatepass"))
            for test in tests
            for gram in _split_grams(normalize_text(test.text))
        }
        self._masks: dict[int, int] = {}

    def may_pass(self, grams: bytes | None) -> bool:
        if grams is None or not self._grams:
            return True
        mask = self._masks.get(len(grams))
        if mask is None:
            mask = self._masks[len(grams)] = self._build_mask(8 * len(grams))
        return int.from_bytes(grams, "little") & mask == mask

    def _build_mask(self, size: int) -> int:
        mask = 0
        for gram in self._grams:
            mask |= 1 << gram % size
        return mask


def _split_grams(text: str) -> Iterator[str]:
    yield from map("".join, zip(text, text[1:], text[2:], strict=False))
    if not text.isascii():
        yield from (one + two for one, two in pairwise(text) if not (one.isascii() and two.isascii()))
