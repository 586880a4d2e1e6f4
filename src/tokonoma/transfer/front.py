"""Front matter: the YAML between two lines of `---` at the start of a Markdown file. Pure.

A file may come from anybody. Anchors, aliases and tags are refused, nesting and size are bounded, and only what JSON
knows is made of it: text, numbers, true, false, null, lists, objects. A date stays the text that it was.
"""

import re
from collections.abc import Iterator
from typing import Any, cast

import yaml

MAX_CHARS = 1024 * 1024  # characters of somebody's front matter
MAX_OWN_CHARS = 16 * 1024 * 1024
_MAX_DEPTH = 32
_FENCE = re.compile(r"^---[ \t]*\r?\n")
_WIDE = re.compile(r"\\U000[1-9A-F]")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class FrontMatterError(Exception):
    """What stands between the fences cannot be read; the message says why."""


class _FrontMatterLoader(_LOADER):
    """Text is a number, a truth or nothing only where JSON would say so: `yes`, `1:30` and `2026-01-31` are text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - how PyYAML wants it


_FrontMatterLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|false|False)$"), list("tTfF")
)
_FrontMatterLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_FrontMatterLoader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")
)
_FrontMatterLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?$"), list("-+0123456789")
)


class _FastDumper(_DUMPER):
    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


class _WideDumper(yaml.SafeDumper):
    """libyaml writes 𠮟 and emoji as escapes, which nobody can read; this one is slower and does not."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def split_front_matter(text: str) -> tuple[str | None, str]:
    """The YAML of the front matter (None: there is none), and what follows it."""
    start = _FENCE.match(text)
    end = _END.search(text, start.end()) if start else None
    if start is None or end is None:
        return None, text
    return text[start.end() : end.start()], text[end.end() :]


def parse_front_matter(block: str) -> dict[str, Any]:
    """Its keys and values; BadFront names what is wrong and where."""
    most = MAX_OWN_CHARS if block.startswith("tokonoma:") else MAX_CHARS
    if len(block) > most:
        raise FrontMatterError(f"It has more than {most} characters.")
    try:
        _check_events(block)
        found: Any = yaml.load(block, Loader=_FrontMatterLoader)  # noqa: S506 - a loader safer than the safe one
    except yaml.YAMLError as error:
        raise FrontMatterError(_describe_error(error)) from None
    except ValueError as error:  # a number with thousands of digits
        raise FrontMatterError(str(error)) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise FrontMatterError("It is not a list of keys and values.")
    return cast("dict[str, Any]", _to_json_value(found))


def format_front_matter(front: dict[str, Any]) -> str:
    """With both fences; what `split` and `read` take apart again."""
    text = _dump_yaml(front, _FastDumper)
    if _WIDE.search(text):
        wide = _dump_yaml(front, _WideDumper)
        text = wide if _parse_or_none(wide) == front else text
    return f"---\n{text}---\n"


def _parse_or_none(text: str) -> dict[str, Any] | None:
    """PyYAML's own emitter loses a few control characters (NEL): what it wrote is read before it counts."""
    try:
        return parse_front_matter(text)
    except FrontMatterError:
        return None


def _dump_yaml(front: dict[str, Any], dumper: Any) -> str:
    return yaml.dump(front, Dumper=dumper, sort_keys=False, allow_unicode=True, width=2**31 - 1)


def _check_events(block: str) -> None:
    """One look at the events, before anything is built from them."""
    depth, events = 0, cast("Iterator[Any]", yaml.parse(block, Loader=_LOADER))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if getattr(event, "anchor", None):  # an alias has one too: the name that it refers to
            raise FrontMatterError(f"Line {event.start_mark.line + 2}: anchors and aliases are not read.")
        if getattr(event, "tag", None):
            raise FrontMatterError(f"Line {event.start_mark.line + 2}: tags such as {event.tag!r} are not read.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise FrontMatterError(f"It is nested more than {_MAX_DEPTH} levels deep.")


def _describe_error(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or "it is not YAML"
    return f"Line {mark.line + 2}: {said}." if mark is not None else f"It is not YAML: {said}."


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            _to_json_value(_to_key(key)): _to_json_value(each) for key, each in cast("dict[Any, Any]", value).items()
        }
    if isinstance(value, list):
        return [_to_json_value(each) for each in cast("list[Any]", value)]
    if isinstance(value, str) and not value.isprintable() and any("\ud800" <= each <= "\udfff" for each in value):
        raise FrontMatterError("It holds half of a surrogate pair.")
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def _to_key(key: Any) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return "" if key is None else str(key)
