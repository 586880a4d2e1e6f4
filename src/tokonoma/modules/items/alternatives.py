"""The tree of a query as alternatives, each a conjunction: words to rank by, texts that must or must not occur,
conditions. Alternatives with the same texts are searched together. Pure."""

from typing import NamedTuple

from tokonoma.core.query import AllOf, AnyOf, NoneOf, Predicate
from tokonoma.modules.items import language
from tokonoma.modules.items.conditions import matches_predicate
from tokonoma.modules.items.exact import ItemTexts, TextTest
from tokonoma.modules.items.language import QueryField, QueryGroup, QueryNode, QueryWord
from tokonoma.modules.items.model import Item

_MAX_ALTERNATIVES = 32  # that are searched one by one


class QueryAlternative(NamedTuple):
    words: tuple[str, ...] = ()
    must: tuple[TextTest, ...] = ()
    without: tuple[TextTest, ...] = ()
    predicates: tuple[Predicate, ...] = ()

    def combine(self, other: "QueryAlternative") -> "QueryAlternative":
        return QueryAlternative._make(ours + theirs for ours, theirs in zip(self, other, strict=True))

    def matches(self, item: Item) -> bool:
        """Whether the item holds the texts and the conditions. Words that only rank do not count."""
        if not all(matches_predicate(each, item) for each in self.predicates):
            return False
        texts = ItemTexts(item)
        return all(each.holds(texts) for each in self.must) and not any(each.holds(texts) for each in self.without)


class QueryReader:
    """Turns one query into alternatives. `strict`: every word must occur, as if all were joined by AND."""

    def __init__(self, query: str, now: int, *, strict: bool = False) -> None:
        self._query, self._now, self._strict = query, now, strict

    def read_alternatives(self) -> list[QueryAlternative]:
        """At least one. Invalid points at what cannot be."""
        grouped: dict[QueryAlternative, list[AllOf]] = {}
        for each in self._expand(language.parse_query(self._query), negated=False):
            grouped.setdefault(each._replace(predicates=()), []).append(AllOf(each.predicates))
        if len(grouped) > _MAX_ALTERNATIVES:
            problem = f"it has more than {_MAX_ALTERNATIVES} alternatives; use fewer words with OR"
            raise language.query_error(self._query, 0, problem)
        return [texts._replace(predicates=_join(parts)) for texts, parts in grouped.items()]

    def _expand(self, node: QueryNode, *, negated: bool) -> list[QueryAlternative]:
        if isinstance(node, QueryWord) or _is_title(node):
            return [self._read_text(node, negated)]
        if isinstance(node, QueryField) or not _has_texts(node):  # conditions alone stay one condition
            is_empty = node == QueryGroup("all")
            return [QueryAlternative(predicates=() if is_empty else (self._build_predicate(node, negated),))]
        if node.kind == "not":
            return self._expand(node.parts[0], negated=not negated)
        parts = [self._expand(part, negated=negated) for part in node.parts]
        if (node.kind == "all") == negated:
            return [each for part in parts for each in part]
        combined = [QueryAlternative()]
        for part in parts:
            combined = [left.combine(right) for left in combined for right in part]
            if len(combined) > 16 * _MAX_ALTERNATIVES:
                raise language.query_error(self._query, 0, "it has too many alternatives; use fewer words with OR")
        return combined

    def _read_text(self, node: QueryNode, negated: bool) -> QueryAlternative:
        if isinstance(node, QueryField):
            test, words, must = TextTest(node.value, in_title=True), (), True
        else:
            assert isinstance(node, QueryWord)
            test, words, must = TextTest(node.text), (node.text,), node.must or self._strict
        if negated:
            return QueryAlternative(without=(test,))
        return QueryAlternative(words, (test,) if must else ())

    def _build_predicate(self, node: QueryNode, negated: bool) -> Predicate:
        if isinstance(node, QueryGroup):
            if node.kind == "not":
                return self._build_predicate(node.parts[0], not negated)
            parts = tuple(self._build_predicate(part, negated) for part in node.parts)
            return AllOf(parts) if (node.kind == "all") != negated else AnyOf(parts)
        assert isinstance(node, QueryField)
        condition = language.build_condition(self._query, node, self._now)
        return NoneOf(condition) if negated else condition


def _join(parts: list[AllOf]) -> tuple[Predicate, ...]:
    if AllOf(()) in parts:  # an empty conjunction lets everything through
        return ()
    return (AnyOf(tuple(parts)),) if parts[1:] else parts[0].parts


def _is_title(node: QueryNode) -> bool:
    return isinstance(node, QueryField) and node.name == "title"


def _has_texts(node: QueryNode) -> bool:
    if isinstance(node, QueryGroup):
        return any(map(_has_texts, node.parts))
    return isinstance(node, QueryWord) or _is_title(node)
