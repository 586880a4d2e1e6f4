"""`${id.path}`: how a step names a piece of an earlier step's value. Pure.

    ${search}                       the whole value of step `search`
    ${search.results[0].id}         keys with dots, list places with [n]
    ${search.headers["x y"]}        a key with spaces, dots or brackets, in either kind of quotes
    $${search}                      the literal text ${search}

Of the dollars that stand before a brace, each pair is one literal dollar; a dollar left over opens a reference. So
`$$${a.price}` is a dollar sign and then a price.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STEP_ID = re.compile(r"[\w-]{1,64}")
_OPENING = re.compile(r"(?<!\$)(\$++)\{")  # looked for at the start of a run of dollars only: long runs stay cheap
_KEY = r"[^\s.\[\]{}\"'$\\]+"
_QUOTED = r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
_SEGMENT = re.compile(rf"\.(?P<key>{_KEY})|\[(?P<place>\d{{1,9}})\]|\[(?P<quoted>{_QUOTED})\]")
_FIELD = re.compile(rf"(?:^|(?!^)\.)(?P<key>{_KEY})|\[(?P<quoted>{_QUOTED})\]|(?P<each>\[\*?\])")
_TO_ESCAPE, _ESCAPED = r'(["\\])', r"\\\1"

ReferencePath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StepReference:
    id: str
    path: ReferencePath
    text: str  # as written, for messages


class InvalidPath(ValueError):
    """The text is neither a reference nor a path; the message says how to write one."""


def split_references(text: str) -> list[str | StepReference]:
    """The text cut into literal pieces and references; escapes are already resolved. NoPath if one is malformed."""
    return list(iterate_pieces(text)) or [""]


def iterate_pieces(text: str) -> Iterator[str | StepReference]:
    """`parts`, one after another: who looks for a few need not read all."""
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
        yield from _join_literals(literal)
        yield reference
        literal = []
    literal.append(text[at:])
    yield from _join_literals(literal)


def escape_references(text: str) -> str:
    """The text written so that `parts` reads it as itself."""
    return _OPENING.sub(lambda opening: opening[1] * 2 + "{", text)


def parse_field_path(text: str) -> tuple[str, ...]:
    """A path of `fields`: keys alone, since a list on the way is walked through (`items.id`, also `items[].id`)."""
    keys: list[str] = []
    at = 0
    while at < len(text):
        segment = _FIELD.match(text, at)
        if segment is None or (segment["each"] and not keys):
            break
        if not segment["each"]:
            keys.append(segment["key"] or _unquote(segment["quoted"]))
        at = segment.end()
    if at < len(text) or not keys:
        raise InvalidPath(f'{shorten(text)!r} is not a field path: write it like total, items.id or items["odd key"].')
    return tuple(keys)


def format_path(start: str, path: Sequence[str | int]) -> str:
    """A path as a reference would write it."""
    written = start
    for each in path:
        if isinstance(each, int):
            written += f"[{each}]"
        else:
            written += f".{each}" if re.fullmatch(_KEY, each) else f'["{re.sub(_TO_ESCAPE, _ESCAPED, each)}"]'
    return written


def shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _join_literals(literal: list[str]) -> list[str]:
    return [joined] if (joined := "".join(literal)) else []


def _parse_reference(text: str, start: int) -> tuple[StepReference, int]:
    """The reference whose braces open just before `start`, and the place after its closing brace."""
    name = STEP_ID.match(text, start)
    at = name.end() if name else start
    path: list[str | int] = []
    while name and (segment := _SEGMENT.match(text, at)):
        path.append(int(segment["place"]) if segment["place"] else segment["key"] or _unquote(segment["quoted"]))
        at = segment.end()
    if name is None or text[at : at + 1] != "}":
        shown = shorten(text[start - 2 :])
        raise InvalidPath(
            f'{shown} is not a reference: write ${{id.key[0]["odd key"]}}; a literal ${{ is written $${{.'
        )
    return StepReference(name[0], tuple(path), text[start - 2 : at + 1]), at + 1


def _unquote(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
