"""References: how the parameters of a step name a part of an earlier step's result. Pure.

    ${search}                       the whole result of step `search`
    ${search.results[0].id}         keys with dots, list positions with [n]
    ${search.headers["x y"]}        a key with spaces, dots or brackets, in either kind of quotes
    $${search}                      the literal text ${search}

Of the dollars before a brace, each pair is one literal dollar; a dollar left over opens a reference. So `$$${a.price}`
is a dollar sign and then a price. A string that is exactly one reference takes the value as it is; inside a longer text
the value becomes text (a string unchanged, everything else as JSON). A `${…}` inside a tool's result is plain text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.core.field_paths import KEY, QUOTED, InvalidPath, format_path, shorten, unquote

MAX_DEPTH = 64
MAX_BYTES = 16 * 1024 * 1024  # the largest message that a single call could have come in
MAX_BATCH_BYTES = 2 * MAX_BYTES  # of the values that all references of a batch insert
_MAX_KEYS = 20
STEP_ID = re.compile(r"[\w-]{1,64}")
_OPENING = re.compile(r"(?<!\$)(\$++)\{")  # only at the start of a run of dollars: long runs stay cheap
_SEGMENT = re.compile(rf"\.(?P<key>{KEY})|\[(?P<place>\d{{1,9}})\]|\[(?P<quoted>{QUOTED})\]")

ReferencePath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StepReference:
    id: str
    path: ReferencePath
    text: str  # as written, for messages


FoundReference = tuple[str, StepReference | InvalidPath]  # its place, and the reference


def split_references(text: str) -> list[str | StepReference]:
    """The text as literal pieces and references, with escapes resolved. InvalidPath if one is malformed."""
    return list(iterate_pieces(text)) or [""]


def iterate_pieces(text: str) -> Iterator[str | StepReference]:
    """`split_references` as an iterator, for callers that need only the first few."""
    literal: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at:
            continue  # inside the quoted key of the reference before
        dollars = len(opening[1])
        literal += (text[at : opening.start()], "$" * (dollars // 2))
        if dollars % 2 == 0:
            literal.append("{")
            at = opening.end()
            continue
        reference, at = _parse_reference(text, opening.end())
        if joined := "".join(literal):
            yield joined
        yield reference
        literal = []
    if joined := "".join((*literal, text[at:])):
        yield joined


def _parse_reference(text: str, start: int) -> tuple[StepReference, int]:
    """The reference whose braces open just before `start`, and the place after its closing brace."""
    name = STEP_ID.match(text, start)
    at = name.end() if name else start
    path: list[str | int] = []
    while name and (segment := _SEGMENT.match(text, at)):
        path.append(int(segment["place"]) if segment["place"] else segment["key"] or unquote(segment["quoted"]))
        at = segment.end()
    if name is None or text[at : at + 1] != "}":
        shown = shorten(text[start - 2 :])
        raise InvalidPath(
            f'{shown} is not a reference: write ${{id.key[0]["odd key"]}}; a literal ${{ is written $${{.'
        )
    return StepReference(name[0], tuple(path), text[start - 2 : at + 1]), at + 1


@dataclass(slots=True)
class ExpansionBudget:
    """How many bytes the references of a batch may still insert."""

    left: int = MAX_BATCH_BYTES


@dataclass(slots=True)
class _Expansion:
    """State of one expansion: the values it reads, its limits in bytes, and the problems so far."""

    values: Mapping[str, Any]
    most: int
    budget: ExpansionBudget
    used: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def expand(
    params: Mapping[str, Any],
    values: Mapping[str, Any],
    most: int = MAX_BYTES,
    budget: ExpansionBudget | None = None,
) -> dict[str, Any]:
    """The parameters with their references replaced. Invalid names every reference without a value, and its keys.
    `budget` is shared by the steps of a batch."""
    expansion = _Expansion(values, most, budget or ExpansionBudget())
    filled: dict[str, Any] = _expand_value(params, expansion)
    if expansion.problems:
        message = " ".join(each["message"] for each in expansion.problems[:3])
        raise Invalid(message, reason="reference", errors=expansion.problems[:_MAX_KEYS])
    if measure_depth(filled) > MAX_DEPTH:
        raise Invalid(f"With their references replaced, params are nested deeper than {MAX_DEPTH}.", limit=MAX_DEPTH)
    return filled


def find_references(params: Mapping[str, Any]) -> Iterator[FoundReference]:
    """Every reference, also malformed ones, with its place (`params.filter[0].id`)."""
    stack: list[tuple[str, Any]] = [("params", params)] if b"${" in orjson.dumps(params) else []
    while stack:
        place, value = stack.pop()
        if isinstance(value, str):
            yield from ((place, each) for each in _find_in_text(value))
            continue
        entries = _list_entries(value)
        for key, _ in entries:
            if isinstance(key, str) and next(_find_in_text(key), None):
                yield place, InvalidPath(f"A reference is allowed in a value, not in a field name: {shorten(key)}")
        inner = [(key, each) for key, each in entries if not isinstance(each, str) or "${" in each]
        stack.extend((format_path(place, [key]), each) for key, each in reversed(inner))


def measure_depth(value: Any) -> int:
    """The nesting depth of lists and objects; a scalar has depth 0."""
    depth, level = 0, [value]
    while any(isinstance(each, dict | list) for each in level):
        depth += 1
        level = [inner for each in level for _, inner in _list_entries(each)]
    return depth


def _list_entries(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(cast(dict[str, Any], value).items())
    return list(enumerate(cast(list[Any], value))) if isinstance(value, list) else []


def _find_in_text(text: str) -> Iterator[StepReference | InvalidPath]:
    if "${" not in text:
        return
    try:
        yield from (each for each in iterate_pieces(text) if isinstance(each, StepReference))
    except InvalidPath as error:
        yield error


def _expand_value(value: Any, expansion: _Expansion) -> Any:
    """Recursive: the plan has already refused parameters that are nested deeper than MAX_DEPTH."""
    if isinstance(value, str):
        return _expand_text(value, expansion) if "${" in value else value
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        # A key holds no reference, but may hold an escape.
        return {
            "".join(map(str, split_references(key))): _expand_value(each, expansion) for key, each in fields.items()
        }
    if isinstance(value, list):
        return [_expand_value(each, expansion) for each in cast(list[Any], value)]
    return value


def _expand_text(text: str, expansion: _Expansion) -> Any:
    pieces = split_references(text)
    if len(pieces) == 1 and isinstance(pieces[0], StepReference):
        found = _read_reference(pieces[0], expansion)
        return None if found is None else orjson.loads(found)  # a copy: two steps never share one object
    return "".join(each if isinstance(each, str) else _to_text(_read_reference(each, expansion)) for each in pieces)


def _to_text(encoded: bytes | None) -> str:
    if encoded is None:
        return ""
    return orjson.loads(encoded) if encoded.startswith(b'"') else encoded.decode()


def _read_reference(reference: StepReference, expansion: _Expansion) -> bytes | None:
    """The referenced value as JSON; None, with a problem added, if there is none. Invalid if it is too large."""
    _check_size(reference, expansion)  # before it is encoded: hundreds of references may lead to one large value
    value = expansion.values[reference.id]
    for index, part in enumerate(reference.path):
        if problem := _explain_missing(value, part):
            at = format_path(reference.id, reference.path[:index])
            message = f"{reference.text} has no value: {at} is {problem.pop('has')}."
            expansion.problems.append({"reference": reference.text, "at": at, "message": message, **problem})
            return None
        value = value[part]
    encoded = orjson.dumps(value)
    expansion.used += len(encoded)
    expansion.budget.left -= len(encoded)
    _check_size(reference, expansion)
    return encoded


def _check_size(reference: StepReference, expansion: _Expansion) -> None:
    if expansion.used > expansion.most:
        limit, what = expansion.most, "the parameters of this step"
    elif expansion.budget.left < 0:
        limit, what = MAX_BATCH_BYTES, "what the references of this batch insert"
    else:
        return
    message = f"{shorten(reference.text)} makes {what} larger than {limit} bytes."
    problem = {"reference": shorten(reference.text), "message": message, "limit": limit}
    raise Invalid(message, reason="reference", errors=[problem])


def _explain_missing(value: Any, part: str | int) -> dict[str, Any] | None:
    """Why the value has no such part, and what it has instead; None if it has the part."""
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        if isinstance(part, str) and part in fields:
            return None
        keys = [shorten(each) for each in list(fields)[:_MAX_KEYS]]
        more = len(fields) - len(keys)
        has = f"an object with {', '.join(keys) or 'no keys'}" + (f" and {more} more" if more else "")
        return {"has": has, "keys": keys, **({"more_keys": more} if more else {})}
    if isinstance(value, list):
        length = len(cast(list[Any], value))
        if isinstance(part, int) and part < length:
            return None
        return {"has": f"a list of {length}" + (f", [0] to [{length - 1}]" if length else ""), "length": length}
    return {"has": f"only {shorten(orjson.dumps(value).decode(), 40)}"}
