"""Shapes of what a request may hold, written as Python data, and what is wrong with a value.

`str`, `int`, `float`, `bool`, `None`, `object` (anything) are types; a set lists words, a `range` numbers; a tuple
offers several shapes; `[shape]` is a list; a dict has named fields: `name!` must be there, `*` stands for all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    path: str
    kind: str  # unknown, missing, type, value
    expected: str = ""

    @property
    def field(self) -> str:
        return self.path.rsplit(".", 1)[-1]


def describe(shape: Any) -> str:
    if isinstance(shape, tuple):
        return " or ".join(describe(each) for each in shape)
    if isinstance(shape, set | frozenset):
        return "one of " + ", ".join(sorted(str(each) for each in shape))
    if isinstance(shape, range):
        return f"a number from {shape.start} to {shape.stop - 1}"
    if isinstance(shape, dict):
        return "an object"
    if isinstance(shape, list):
        return "an array"
    names = {str: "a string", int: "an integer", float: "a number", bool: "a boolean", None: "null"}
    return names.get(shape, "a value")


def check(value: Any, shape: Any, path: str = "body") -> list[Mistake]:
    """All that is wrong; of several shapes the one with the fewest mistakes speaks."""
    if isinstance(shape, tuple):
        found = [check(value, each, path) for each in shape]
        fitting = [each for each in found if not any(m.kind == "type" and m.path == path for m in each)]
        if not fitting:
            return [Mistake(path, "type", describe(shape))]
        return min(fitting, key=len)
    if isinstance(shape, dict):
        return _check_fields(value, shape, path) if isinstance(value, dict) else [Mistake(path, "type", "an object")]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [Mistake(path, "type", "an array")]
        return [m for n, each in enumerate(value) for m in check(each, shape[0], f"{path}[{n}]")]
    if isinstance(shape, set | frozenset | range):
        plain = isinstance(value, int if isinstance(shape, range) else str) and not isinstance(value, bool)
        if not plain:
            return [Mistake(path, "type", describe(shape))]
        return [] if value in shape else [Mistake(path, "value", describe(shape))]
    return [] if _is_type(value, shape) else [Mistake(path, "type", describe(shape))]


def _is_type(value: Any, shape: Any) -> bool:
    if shape is object:
        return True
    if shape is None:
        return value is None
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


def _check_fields(value: Mapping[str, Any], shape: Mapping[str, Any], path: str) -> list[Mistake]:
    known = {name.rstrip("!"): inner for name, inner in shape.items()}
    found = [
        Mistake(f"{path}.{name.rstrip('!')}", "missing")
        for name in shape
        if name.endswith("!") and name[:-1] not in value
    ]
    for name, inner in value.items():
        if name not in known and "*" not in known:
            found.append(Mistake(f"{path}.{name}", "unknown"))
        else:
            found += check(inner, known.get(name, known.get("*")), f"{path}.{name}")
    return found


def read_query(pairs: Sequence[tuple[str, str]], shape: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mistake]]:
    """The parameters of a query as values of their types, and what is wrong with them."""
    known = {name.rstrip("!"): inner for name, inner in shape.items()}
    values: dict[str, Any] = {}
    for name, text in pairs:
        inner = known.get(name)
        if isinstance(inner, list):
            values.setdefault(name, []).extend(_read_text(each, inner[0]) for each in text.split(","))
        else:
            values[name] = _read_text(text, inner)
    return values, check(values, dict(shape), "query")


def _read_text(text: str, shape: Any) -> Any:
    if shape is bool:
        return {"true": True, "false": False}.get(text, text)
    if shape is int or isinstance(shape, range):
        return int(text) if text.removeprefix("-").isdigit() and text.isascii() else text
    return text
