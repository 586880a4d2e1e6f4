"""The front matter of a Markdown file: the fields of the page before its text, in YAML (`---`) or TOML (`+++`). Pure.

A front matter that cannot be read is text like any other: it is searched as it is written.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

_MAX_CHARS = 64 * 1024
_MAX_DEPTH = 16
_NAMES = ("aliases", "alias")
_WORDS = ("description", "tags", "tag", "keywords", "slug")
_YAML: Any = yaml  # its stubs leave most of it unknown
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Fields = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`names` are the other names of the page, `text` is all that a search looks through; `lines` and `end` say how
    much of the file it takes."""

    lines: int
    end: int
    title: str = ""
    names: tuple[str, ...] = ()
    text: str = ""


def find_front_matter_end(text: str) -> int:
    """Where the text after the front matter starts: the lines between two lines of `---` or `+++`. 0 if there is
    none."""
    start = text.find("\n") + 1
    sign = text[:start].lstrip("\ufeff")[:3]
    if sign not in ("---", "+++") or not _is_rule(text[:start].lstrip("\ufeff"), sign):
        return 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        if text.startswith(sign, start) and _is_rule(text[start:end], sign):
            return end
        start = end
    return 0


def read_front_matter(text: str) -> FrontMatter | None:
    """The front matter of a whole file. None if there is none, or if two rules stand around something else."""
    front = text[: find_front_matter_end(text)]
    if not front:
        return None
    written = front[front.find("\n") + 1 : front.rstrip().rfind("\n") + 1]
    lines = front.count("\n") + (not front.endswith("\n"))
    try:
        fields = _read_toml(written) if front.lstrip("\ufeff").startswith("+") else _read_yaml(written)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError, ValueError):
        return FrontMatter(lines, len(front), _find_title(written), (), written)
    if fields is None:
        return None
    title, names = " ".join(" ".join(fields.get("title", ())).split()), _pick(fields, _NAMES)
    found = [each for each in (title, *names, *_pick(fields, _WORDS)) if each]
    return FrontMatter(lines, len(front), title, names, "".join(f"{each}\n" for each in found))


def _is_rule(line: str, sign: str) -> bool:
    written = line[:-1].removesuffix("\r") if line.endswith("\n") else line
    return written.rstrip(" \t") == sign


def _read_yaml(text: str) -> Fields | None:
    """The texts and lists of texts at the top. Nothing is built of the rest: no alias is followed, no date is read."""
    if len(text) > _MAX_CHARS:
        raise ValueError("too long")
    fields: dict[str, list[str]] = {}
    key, depth, is_list = "", 0, False
    for event in _YAML.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.ScalarEvent):
            value: str = event.value
            if depth == 0:
                return None  # a text between two rules
            if depth == 1 and not key:
                key = value.casefold()
                continue
            if depth == 1 or (depth == 2 and is_list):
                fields.setdefault(key, []).append(value)
            key = "" if depth == 1 else key
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            is_list = isinstance(event, yaml.SequenceStartEvent)
            if depth == 1 and is_list:
                return None
            if depth > _MAX_DEPTH:
                raise ValueError("nested too deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            key = "" if depth == 1 else key
        elif isinstance(event, yaml.AliasEvent):
            key = "" if depth == 1 else key
    return fields


def _read_toml(text: str) -> Fields:
    if len(text) > _MAX_CHARS:
        raise ValueError("too long")
    fields: dict[str, list[str]] = {}
    for key, value in tomllib.loads(text).items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        fields[key.casefold()] = [str(each) for each in values if isinstance(each, str | int | float)]
    return fields


def _pick(fields: Fields, keys: Sequence[str]) -> tuple[str, ...]:
    values = (" ".join(value.split()) for key in keys for value in fields.get(key, ()))
    return tuple(dict.fromkeys(value for value in values if value))


def _find_title(written: str) -> str:
    """The `title:` of a front matter that is not valid; empty if it has none."""
    for line in written.split("\n"):
        if line.startswith("title:") and (title := line[6:].strip(" \t\r")):
            return title.strip("\"' ")
    return ""
