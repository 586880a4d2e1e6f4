"""The query language of search_items: text → a tree of words and fields → what a field asks of the index. Pure.

    type:bug status:"In Progress" is:open priority:HIGH updated:7d title:offline (printer OR プリンタ) -tag:old

Parts side by side must all hold; words side by side only rank, unless AND stands between them or they are quoted.
OR binds less than AND; NOT and - negate what follows; parentheses group. An error points at its place.
"""

import re
from typing import Literal, NamedTuple

from tokonoma.core.errors import Invalid, find_nearest
from tokonoma.core.query import Condition
from tokonoma.modules.items.model import PRIORITIES, STATUSES, fold_tag
from tokonoma.modules.items.query_times import FUTURE_FIELDS, PAST_FIELDS, QueryTimeError, parse_times

_TIMES = (*PAST_FIELDS, *FUTURE_FIELDS)
_WORDS = {"status": STATUSES, "priority": PRIORITIES, "is": ("open", "closed")}
_FIELDS = ("type", *_WORDS, "title", "tag", "category", "version", "assignee", *_TIMES, "has")
_ALIASES = {"tags": "tag", "types": "type", "state": "is", "due": "end"}
_HAS = {name: name for name in ("tag", "category", "version", "assignee", "start", "end")} | {
    "tags": "tag",
    "due": "end",
}
_MAX_NODES = 100
_MAX_DEPTH = 20
_OPEN, _CLOSE, _QUOTE, _COLON = "(（", ")）", '"“”', ":："
_FIELD = re.compile(rf"([A-Za-z_]+)[{_COLON}](?!//)")
_WORD = re.compile(rf"[^\s{_OPEN}{_CLOSE}{_QUOTE}]+")
_QUOTED = re.compile(rf"[{_QUOTE}]([^\\{_QUOTE}]*+(?:\\.[^\\{_QUOTE}]*+)*+)[{_QUOTE}]", re.DOTALL)
_MISSING = {
    **{word: f"{word} needs something before it" for word in ("AND", "OR")},
    "close": "something is missing before this )",
    "end": "something is missing here",
}


class QueryWord(NamedTuple):
    """`must`: quoted, or joined by AND; else it only ranks."""

    text: str
    must: bool = False


class QueryField(NamedTuple):
    name: str
    value: str
    place: int  # of the value


class QueryGroup(NamedTuple):
    """`not` has one part."""

    kind: Literal["all", "any", "not"]
    parts: tuple["QueryNode", ...] = ()


QueryNode = QueryWord | QueryField | QueryGroup


class _QueryToken(NamedTuple):
    kind: str  # node, open, close, AND, OR, NOT, end
    place: int
    node: QueryWord | QueryField | None = None


def query_error(query: str, place: int, problem: str) -> Invalid:
    """Shows the text around the place, with a mark under it."""
    start = max(0, place - 30)
    pointer = f"{query[start : place + 30]}\n{' ' * (place - start)}^"
    return Invalid(
        f"Cannot parse the query at character {place + 1}: {problem}.", reason="value", field="query",
        value=query[:200], constraint=problem, position=place, pointer=pointer,
    )  # fmt: skip


def parse_query(query: str) -> QueryNode:
    """The tree of a query; a group without parts for an empty one."""
    parser = _QueryParser(query)
    if parser.current.kind == "end":
        return QueryGroup("all")
    node = parser.parse_any(0)
    if parser.current.kind != "end":  # only a parenthesis can be left over
        raise query_error(query, parser.current.place, "there is no ( for this )")
    return node


class _QueryParser:
    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = _tokenize(query)
        self._at = 0
        self._nodes = 0

    @property
    def current(self) -> _QueryToken:
        return self._tokens[self._at]

    def _advance(self) -> _QueryToken:
        self._at += 1
        return self._tokens[self._at - 1]

    def parse_any(self, depth: int) -> QueryNode:
        parts = [self._parse_all(depth)]
        while self.current.kind == "OR":
            self._advance()
            parts.append(self._parse_all(depth))
        return parts[0] if len(parts) == 1 else QueryGroup("any", tuple(parts))

    def _parse_all(self, depth: int) -> QueryNode:
        parts = [self._parse_one(depth)]
        while self.current.kind not in ("OR", "close", "end"):
            joined = self.current.kind == "AND"
            if joined:
                self._advance()
            parts.append(self._parse_one(depth))
            if joined:
                parts[-2:] = [each._replace(must=True) if isinstance(each, QueryWord) else each for each in parts[-2:]]
        return parts[0] if len(parts) == 1 else QueryGroup("all", tuple(parts))

    def _parse_one(self, depth: int) -> QueryNode:
        token = self._advance()
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise query_error(self._query, token.place, f"it has more than {_MAX_NODES} parts")
        if depth > _MAX_DEPTH:
            raise query_error(self._query, token.place, f"it is nested more than {_MAX_DEPTH} levels deep")
        if token.node is not None:
            return token.node
        if token.kind == "NOT":
            return QueryGroup("not", (self._parse_one(depth + 1),))
        if token.kind != "open":
            raise query_error(self._query, token.place, _MISSING[token.kind])
        if self.current.kind == "close":
            raise query_error(self._query, self.current.place, "the parentheses are empty")
        node = self.parse_any(depth + 1)
        if self.current.kind != "close":
            raise query_error(self._query, token.place, "this ( is not closed")
        self._advance()
        return node


def _tokenize(query: str) -> list[_QueryToken]:
    tokens: list[_QueryToken] = []
    place = 0
    while place < len(query):
        if query[place].isspace():
            place += 1
            continue
        token, place = _read_token(query, place)
        tokens.append(token)
    return [*tokens, _QueryToken("end", len(query))]


def _read_token(query: str, place: int) -> tuple[_QueryToken, int]:
    letter = query[place]
    if letter in _OPEN:
        return _QueryToken("open", place), place + 1
    if letter in _CLOSE:
        return _QueryToken("close", place), place + 1
    if letter in _QUOTE:
        text, end = _read_quoted(query, place)
        return _QueryToken("node", place, QueryWord(text, must=True)), end
    if letter == "-" and place + 1 < len(query) and not query[place + 1].isspace():
        return _QueryToken("NOT", place), place + 1
    field = _read_field(query, place)
    if field is not None:
        return field
    text, end = _read_word(query, place)
    if text in ("AND", "OR", "NOT"):
        return _QueryToken(text, place), end
    return _QueryToken("node", place, QueryWord(text)), end


def _read_field(query: str, place: int) -> tuple[_QueryToken, int] | None:
    found = _FIELD.match(query, place)
    if found is None:
        return None
    name = _ALIASES.get(found[1].lower(), found[1].lower())
    if name not in _FIELDS:
        meant = find_nearest(name, _FIELDS, 1)
        if meant and len(name) > 2 and abs(len(meant[0]) - len(name)) <= 2 and name[0] == meant[0][0]:
            raise query_error(
                query, place, f"there is no field {name}; did you mean {meant[0]}? Quote it to search for it as text"
            )
        return None  # error:42, http://…: words like any others
    start = found.end()
    is_quoted = query[start : start + 1] in tuple(_QUOTE)
    text, end = _read_quoted(query, start) if is_quoted else _read_word(query, start)
    if not text.strip():
        raise query_error(query, start, f"{name}: needs a value")
    return _QueryToken("node", start, QueryField(name, text, start)), end


def _read_word(query: str, place: int) -> tuple[str, int]:
    found = _WORD.match(query, place)
    return (found[0], found.end()) if found else ("", place)


def _read_quoted(query: str, place: int) -> tuple[str, int]:
    """The text up to the closing quote; a backslash escapes the letter that follows it."""
    found = _QUOTED.match(query, place)
    if found is None:
        raise query_error(query, place, "this quote is not closed")
    text = re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)
    if not text.strip():
        raise query_error(query, place, "the quotes are empty")
    return text, found.end()


def build_condition(query: str, field: QueryField, now: int) -> Condition:
    """What a field asks of an item. Invalid points at a value that cannot be."""
    if field.name in _TIMES:
        try:
            return Condition(field.name, "between", parse_times(field.name, field.value, now))
        except QueryTimeError as error:
            raise query_error(query, field.place, str(error)) from None
    if field.name == "has":
        return Condition(_HAS[_choose_word(query, field, tuple(_HAS), field.value)], "exists", (True,))
    if field.name in _WORDS:
        values = [_choose_word(query, field, _WORDS[field.name], part) for part in field.value.split(",")]
    else:
        values = [part.strip() for part in field.value.split(",") if part.strip()]
        if field.name == "tag":  # as it is written, too: a tag of an older version may not be folded
            values = [each for value in values for each in (fold_tag(value), value)]
        values = [value.lower() for value in values] if field.name == "type" else values
    return Condition(field.name, "in", tuple(dict.fromkeys(values)))


def _choose_word(query: str, field: QueryField, words: tuple[str, ...], value: str) -> str:
    """One of the words, however it is written: in-progress, "In Progress", IN_PROGRESS."""
    asked = re.sub(r"[-_\s]+", " ", value.casefold()).strip()
    for word in words:
        if word.casefold() == asked:
            return word
    raise query_error(query, field.place, f"{field.name} must be one of {', '.join(words)}")
