"""memory.duplicates: groups of memos that say nearly the same.

Memos are taken one after another, newest first, and each is compared with the few that the index finds near it: never
all with all. A call takes a bounded number of them and says where the next one starts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, format_address, parse_address
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import format_namespace, resolve_namespace
from tokonoma.core.normalize import normalize_loose
from tokonoma.core.query import Query, SearchFilter
from tokonoma.modules.memory.model import MODULE_NAME, Namespace
from tokonoma.modules.memory.read import PageCursor, fetch_memos
from tokonoma.modules.memory.tables import ALIVE, INSIDE, bind_namespace

_TAKEN = 1_000  # memos that one call compares with others
_TAKEN_BY_WORDS = 200
_ROUNDS = 4  # how far memos hang together through others
_NEAR = 20  # others that each is compared with
_LARGEST = 50  # memos in a group
_COMPARED = 20_000  # characters of a content
_LISTED = 200  # characters of a content in the answer
_MARKS = 2_048
_ASKED = 1_000  # characters of a content that are searched for where there are no vectors
_HELD = 5_000  # contents that are held at once


class DuplicateMemo(TypedDict):
    memo_id: Opaque
    namespace: str
    title: NotRequired[str]
    content: str
    updated_at: Opaque
    version: int


class DuplicateGroup(TypedDict):
    memos: list[DuplicateMemo]
    similarity: float


class DuplicateList(TypedDict):
    items: list[DuplicateGroup]
    compared: int
    has_more: bool
    next_cursor: NotRequired[Opaque]


def list_duplicates(
    desk: Desk,
    namespace: Namespace = None,
    minimum_similarity: Annotated[float, Field(ge=0.5, le=1, description="1: the same text")] = 0.8,
    limit: Annotated[int, Field(ge=1, le=50, description="groups")] = 10,
    cursor: PageCursor = None,
) -> DuplicateList:
    """List groups of memos that say nearly the same, newest first; memory.merge joins a group. A call compares up to
    1000 memos: continue while has_more, even after a page without items."""
    inside = resolve_namespace(namespace, desk.principal)
    comparison = _Comparison(desk, inside, minimum_similarity)
    # Without a model each memo takes a search of its own.
    most = _TAKEN if desk.find_near((), SearchFilter(), 1.0, 1) is not None else _TAKEN_BY_WORDS
    (after,) = desk.open_cursor("memo_duplicates", cursor) if cursor else ("~",)  # above every id
    rows = desk.rows(
        f"""select id from memo where {ALIVE} and {{visible}} and {INSIDE} and id < :after
        order by id desc limit :most""",  # noqa: S608 - our own
        now=desk.now(),
        after=after,
        most=most + 1,
        **bind_namespace(inside),
    )
    taken = [memo_id for (memo_id,) in rows[:most]]
    comparison.compare(taken)
    groups: list[DuplicateGroup] = []
    last, compared = after, 0
    for memo_id in taken:
        last, compared = memo_id, compared + 1
        group = comparison.find_group(memo_id)
        if group:
            groups.append(_to_response(desk, group))
            if len(groups) == limit:
                break
    page: DuplicateList = {"items": groups, "compared": compared, "has_more": compared < len(rows)}
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("memo_duplicates", last)
    return page


class _Comparison:
    """What one call knows of memos and of those near them."""

    def __init__(self, desk: Desk, namespace: str, minimum: float) -> None:
        self._desk, self._minimum = desk, minimum
        self._where = SearchFilter((MODULE_NAME,), namespace)
        self._texts: dict[str, TextShape] = {}
        self._near: dict[str, dict[str, float]] = {}

    def find_group(self, memo_id: str) -> dict[str, float] | None:
        """The memos that hang together with this one, each with the similarity that joins it; None if there are none,
        or if their newest one has reported them."""
        group = self._collect(memo_id)
        newest = max(group)
        # What is near a memo is not always the other way round: a long one may be near a short one that it contains.
        if len(group) == 1 or (newest != memo_id and memo_id in self._collect(newest)):
            return None
        return group

    def _collect(self, memo_id: str) -> dict[str, float]:
        group, waiting = {memo_id: 1.0}, [memo_id]
        while waiting and len(group) < _LARGEST:
            for other, similarity in self._near.get(waiting.pop(0), {}).items():
                if other not in group and len(group) < _LARGEST:
                    group[other] = similarity
                    waiting.append(other)
        return group

    def compare(self, memo_ids: Iterable[str]) -> None:
        """Find what is near these memos, and near those in turn."""
        waiting = list(memo_ids)
        for _ in range(_ROUNDS):
            meanings = self._find_meanings(waiting)
            for memo_id in waiting:
                self._desk.check()
                self._near[memo_id] = dict(self._compare_texts(memo_id, meanings.get(memo_id)))
            waiting = sorted({other for each in waiting for other in self._near[each]} - self._near.keys())
            if not waiting:
                return

    def _find_meanings(self, memo_ids: Sequence[str]) -> dict[str, dict[str, float]]:
        # No text can make up for a meaning that is farther than this.
        least = max(0.0, 2 * self._minimum - 1 - 1e-6)
        addresses = [format_address(MODULE_NAME, each) for each in memo_ids]
        found = self._desk.find_near(addresses, self._where, least, _NEAR) or {}
        return {
            parse_address(address)[1]: {parse_address(other)[1]: cosine for other, cosine in near.items()}
            for address, near in found.items()
        }

    def _compare_texts(self, memo_id: str, meanings: Mapping[str, float] | None) -> Iterator[tuple[str, float]]:
        """Half of a similarity is the text, half the meaning; without vectors all of it is the text."""
        candidates: Mapping[str, float | None] = self._find_by_words(memo_id) if meanings is None else meanings
        if not candidates:
            return
        texts = self._read_texts([memo_id, *candidates])
        if (own := texts.pop(memo_id, None)) is None:
            return
        for other, text in texts.items():
            if text.text == own.text:
                yield other, 1.0
                continue
            meaning = candidates[other]
            for measure in (bound_overlap, measure_overlap):  # most are left out by the first, which is fast
                overlap = measure(own, text)
                similarity = round(overlap if meaning is None else (overlap + max(meaning, 0.0)) / 2, 4)
                if similarity < self._minimum:
                    break
            else:
                yield other, similarity

    def _find_by_words(self, memo_id: str) -> dict[str, None]:
        """For a memo that has no vector, or not yet."""
        memo = fetch_memos(self._desk, [memo_id]).get(memo_id)
        query = Query(memo.content[:_ASKED] if memo else "", mode="text", limit=_NEAR + 1, neighbours=False)
        found = self._desk.find(query, self._where).items if query.text.strip() else ()
        names = (parse_address(hit.address)[1] for hit in found)
        return dict.fromkeys(name for name in names if name != memo_id)

    def _read_texts(self, ids: Sequence[str]) -> "dict[str, TextShape]":
        missing = [each for each in ids if each not in self._texts]
        if len(self._texts) > _HELD:
            self._texts, missing = {}, list(ids)
        found = fetch_memos(self._desk, missing, ALIVE, now=self._desk.now()) if missing else {}
        self._texts |= {memo.id: TextShape.build(memo.content[:_COMPARED]) for memo in found.values()}
        return {each: self._texts[each] for each in ids if each in self._texts}


class TextShape(NamedTuple):
    """A text without case, width and signs; the number of its parts; a byte for each value of their hashes."""

    text: str
    size: int
    marks: int

    @classmethod
    def build(cls, content: str) -> "TextShape":
        text = normalize_loose(content)
        parts, marks = split_text(text), bytearray(_MARKS)
        for part in parts:
            marks[hash(part) % _MARKS] = 1
        return cls(text, len(parts), int.from_bytes(marks))


def split_text(text: str) -> frozenset[tuple[str, ...]]:
    """The parts of three characters that it holds: they suit every language."""
    return frozenset(zip(text, text[1:], text[2:], strict=False)) or frozenset({(text,)})


def measure_overlap(one: TextShape, other: TextShape) -> float:
    """The parts that both texts have, of all that one of them has."""
    parts, others = split_text(one.text), split_text(other.text)
    shared = len(parts & others)
    return shared / (len(parts) + len(others) - shared)


def bound_overlap(one: TextShape, other: TextShape) -> float:
    """What `measure_overlap` cannot exceed: a part whose mark the other one lacks is not in it."""
    shared = min(one.size - (one.marks & ~other.marks).bit_count(), other.size - (other.marks & ~one.marks).bit_count())
    return shared / (one.size + other.size - shared)


def _to_response(desk: Desk, group: dict[str, float]) -> DuplicateGroup:
    memos = fetch_memos(desk, group)
    listed: list[DuplicateMemo] = []
    for memo in sorted(memos.values(), key=lambda each: each.id, reverse=True):
        desk.cite(memo.address)
        listed.append({
            "memo_id": memo.id,
            "namespace": format_namespace(memo.namespace, desk.principal),
            "content": memo.content[:_LISTED],
            "updated_at": format_time(memo.updated_at),
            "version": memo.revision,
        })  # fmt: skip
        if memo.title:
            listed[-1]["title"] = memo.title
    return {"memos": listed, "similarity": min(group.values())}
