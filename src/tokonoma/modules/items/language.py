"""The query language: text → a tree of words and fields. Pure; an error points at its place.

    type:bug status:"In Progress" is:open priority:HIGH updated:2026-01..2026-03 (printer OR プリンタ) -tag:old

Things side by side must all hold; words side by side only rank, unless AND stands between them or they are quoted.
OR binds less than AND; NOT and - turn what follows around; parentheses group.
"""

import re
from dataclasses import dataclass, replace

from tokonoma.core.errors import Invalid, find_nearest

QUERY_FIELDS = (
    "type",
    "status",
    "priority",
    "is",
    "tag",
    "category",
    "version",
    "created",
    "updated",
    "start",
    "end",
    "has",
)
_ALIASES = {"tags": "tag", "types": "type", "state": "is"}
_MOST_NODES = 100
_DEEPEST = 20
_OPEN, _CLOSE, _QUOTE, _COLON = "(（", ")）", '"“”', ":："
_FIELD = re.compile(rf"([A-Za-z_]+)[{_COLON}](?!//)")
_PLAIN = re.compile(rf"[^\s{_OPEN}{_CLOSE}{_QUOTE}]+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """`must`: quoted, or joined by AND; else it only ranks."""

    text: str
    place: int
    must: bool = False


@dataclass(frozen=True, slots=True)
class QueryField:
    name: str
    value: str
    place: int  # of the value


@dataclass(frozen=True, slots=True)
class QueryAll:
    parts: tuple["QueryNode", ...]


@dataclass(frozen=True, slots=True)
class QueryAny:
    parts: tuple["QueryNode", ...]


@dataclass(frozen=True, slots=True)
class QueryNot:
    part: "QueryNode"


QueryNode = QueryWord | QueryField | QueryAll | QueryAny | QueryNot


@dataclass(frozen=True, slots=True)
class _QueryToken:
    kind: str  # word, quoted, field, open, close, AND, OR, NOT, end
    place: int
    text: str = ""
    name: str = ""


def query_error(query: str, place: int, says: str) -> Invalid:
    """Where it is, for people: the text around it, with a mark under the place."""
    start = max(0, place - 30)
    shown = f"{query[start : place + 30]}\n{' ' * (place - start)}^"
    return Invalid(
        f"The query cannot be read at character {place + 1}: {says}.", reason="value", field="query", value=query[:200],
        constraint=says, position=place, pointer=shown,
    )  # fmt: skip


def parse_query(query: str) -> QueryNode:
    """The tree of a query; All(()) for an empty one. Invalid names the place where it cannot be read."""
    return _QueryParser(query).parse()


class _QueryParser:
    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = _tokenize(query)
        self._at = 0
        self._nodes = 0

    def parse(self) -> QueryNode:
        if self._current.kind == "end":
            return QueryAll(())
        node = self._parse_any(0)
        if self._current.kind != "end":  # only a parenthesis can be left over
            raise query_error(self._query, self._current.place, "there is no ( for this )")
        return node

    @property
    def _current(self) -> _QueryToken:
        return self._tokens[self._at]

    def _advance(self) -> _QueryToken:
        self._at += 1
        return self._tokens[self._at - 1]

    def _parse_any(self, depth: int) -> QueryNode:
        parts = [self._parse_all(depth)]
        while self._current.kind == "OR":
            self._advance()
            parts.append(self._parse_all(depth))
        return parts[0] if len(parts) == 1 else QueryAny(tuple(parts))

    def _parse_all(self, depth: int) -> QueryNode:
        parts = [self._parse_one(depth)]
        while self._current.kind not in ("OR", "close", "end"):
            joined = self._current.kind == "AND"
            if joined:
                self._advance()
                parts[-1] = _mark_required(parts[-1])
            part = self._parse_one(depth)
            parts.append(_mark_required(part) if joined else part)
        return parts[0] if len(parts) == 1 else QueryAll(tuple(parts))

    def _parse_one(self, depth: int) -> QueryNode:
        token = self._advance()
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise query_error(self._query, token.place, f"it has more than {_MOST_NODES} parts")
        if depth > _DEEPEST:
            raise query_error(self._query, token.place, f"it is nested more than {_DEEPEST} levels deep")
        if token.kind == "NOT":
            return QueryNot(self._parse_one(depth + 1))
        if token.kind == "open":
            if self._current.kind == "close":
                raise query_error(self._query, self._current.place, "nothing stands between the parentheses")
            node = self._parse_any(depth + 1)
            if self._current.kind != "close":
                raise query_error(self._query, token.place, "this ( is not closed")
            self._advance()
            return node
        if token.kind == "field":
            return QueryField(token.name, token.text, token.place)
        if token.kind in ("word", "quoted"):
            return QueryWord(token.text, token.place, token.kind == "quoted")
        raise query_error(self._query, token.place, _LACKING[token.kind])


_LACKING = {
    "AND": "something must stand before AND",
    "OR": "something must stand before OR",
    "close": "something is missing before this )",
    "end": "something must follow here",
}


def _mark_required(node: QueryNode) -> QueryNode:
    return replace(node, must=True) if isinstance(node, QueryWord) else node


def _tokenize(query: str) -> list[_QueryToken]:
    found: list[_QueryToken] = []
    place = 0
    while place < len(query):
        space = _SPACE.match(query, place)
        if space:
            place = space.end()
            continue
        token, place = _read_token(query, place)
        found.append(token)
    return [*found, _QueryToken("end", len(query))]


def _read_token(query: str, place: int) -> tuple[_QueryToken, int]:
    letter = query[place]
    if letter in _OPEN:
        return _QueryToken("open", place), place + 1
    if letter in _CLOSE:
        return _QueryToken("close", place), place + 1
    if letter in _QUOTE:
        text, end = _read_quoted(query, place)
        return _QueryToken("quoted", place, text), end
    if letter == "-" and place + 1 < len(query) and not query[place + 1].isspace():
        return _QueryToken("NOT", place), place + 1
    name = _read_field(query, place)
    if name is not None:
        return name
    found = _PLAIN.match(query, place)
    assert found is not None
    kind = found[0] if found[0] in ("AND", "OR", "NOT") else "word"
    return _QueryToken(kind, place, found[0]), found.end()


def _read_field(query: str, place: int) -> tuple[_QueryToken, int] | None:
    found = _FIELD.match(query, place)
    if found is None:
        return None
    name = _ALIASES.get(found[1].lower(), found[1].lower())
    if name not in QUERY_FIELDS:
        meant = find_nearest(name, QUERY_FIELDS, 1)
        if meant and len(name) > 2 and abs(len(meant[0]) - len(name)) <= 2 and name[0] == meant[0][0]:
            raise query_error(query, place, f"there is no field {name}; did you mean {meant[0]}? In quotes it is text")
        return None  # error:42, http://…: words like any others
    start = found.end()
    if query[start : start + 1] in tuple(_QUOTE):
        text, end = _read_quoted(query, start)
    else:
        value = _PLAIN.match(query, start)
        text, end = (value[0], value.end()) if value else ("", start)
    if not text.strip():
        raise query_error(query, start, f"{name}: needs a value")
    return _QueryToken("field", start, text, name), end


def _read_quoted(query: str, place: int) -> tuple[str, int]:
    """The text up to the closing quote; a backslash keeps what follows it."""
    text: list[str] = []
    at = place + 1
    while at < len(query):
        letter = query[at]
        if letter == "\\" and at + 1 < len(query):
            text.append(query[at + 1])
            at += 2
        elif letter in _QUOTE:
            if not "".join(text).strip():
                raise query_error(query, place, "nothing stands between the quotes")
            return "".join(text), at + 1
        else:
            text.append(letter)
            at += 1
    raise query_error(query, place, "this quote is not closed")
