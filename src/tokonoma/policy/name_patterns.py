"""Patterns over the names of callers: `owner`, `key:ci*`. What two of them have in common, on the safe side. Pure."""

from fnmatch import fnmatchcase
from itertools import takewhile

_WILD = frozenset("*?[")


def is_literal(pattern: str) -> bool:
    """Whether it matches one name only."""
    return _WILD.isdisjoint(pattern)


def can_match_both(one: str, other: str) -> bool:
    """Whether a name may match both. Two patterns with wildcards are compared by their fixed beginning."""
    if is_literal(one) or is_literal(other):
        return fnmatchcase(one, other) or fnmatchcase(other, one)
    first, second = ("".join(takewhile(lambda letter: letter not in _WILD, each)) for each in (one, other))
    return first.startswith(second) or second.startswith(first)


def covers_name(wide: str, narrow: str) -> bool:
    """Whether every name that matches one pattern surely matches the other."""
    return wide in ("*", narrow) or (is_literal(narrow) and fnmatchcase(narrow, wide))
