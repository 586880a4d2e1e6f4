"""What an owner writes beside the files of a manual: `glossary.yml` (words that mean one thing, words that announce an
exception) and `manual.yml` (a title, the namespace that it belongs to, whether whole files may be read)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

import yaml

MAX_SETTINGS_BYTES = 512 * 1024
"""Bytes of a glossary."""


@dataclass(frozen=True, slots=True)
class Glossary:
    groups: tuple[tuple[str, ...], ...] = ()
    exceptions: tuple[str, ...] = ()
    problem: str = ""  # why it was not read

    def merge(self, other: "Glossary") -> "Glossary":
        problem = self.problem or other.problem
        return Glossary((*self.groups, *other.groups), (*self.exceptions, *other.exceptions), problem)


@dataclass(frozen=True, slots=True)
class ManualSettings:
    title: str = ""
    namespace: str = "/"
    allow_file: bool = False  # whether a Markdown file may be read whole
    problem: str = ""  # why something of it does not count


class _NoAliasLoader(yaml.SafeLoader):
    """Without aliases: nine of them can stand for a billion values."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        loader: Any = super()
        if loader.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not taken")
        return loader.compose_node(parent, index)


@lru_cache(maxsize=1)
def load_shipped_glossary() -> Glossary:
    """The general one that comes with the program."""
    return parse_glossary((files("tokonoma.modules.manual") / "glossary.yml").read_bytes())


@lru_cache(maxsize=100)  # read before every answer, and seldom another
def parse_glossary(raw: bytes) -> Glossary:
    """`terms:` is a list of lists, each of words that mean one thing; `exceptions:` a list of words."""
    value, problem = _load_yaml(raw)
    if problem:
        return Glossary(problem=problem)
    groups = [tuple(_as_texts(group)) for group in _as_list(value.get("terms"))]
    return Glossary(tuple(group for group in groups if len(group) > 1), tuple(_as_texts(value.get("exceptions"))))


@lru_cache(maxsize=100)
def parse_settings(raw: bytes) -> ManualSettings:
    value, problem = _load_yaml(raw)
    if problem:
        return ManualSettings(problem=problem)
    space, allow_file = value.get("space", "/"), value.get("allow_file", False)
    if not isinstance(space, str) or not space.startswith("/") or ".." in space.split("/"):
        return ManualSettings(problem="space must be a namespace from the root, like /team")
    root = "/" + "/".join(part for part in space.split("/") if part)
    problems: list[str] = []
    unknown = sorted(str(name) for name in value if name not in _SETTINGS)
    if unknown:
        problems.append(f"unknown: {', '.join(unknown)[:200]}; there are {', '.join(_SETTINGS)}")
    if not isinstance(allow_file, bool):
        problems.append("allow_file must be true or false")
    return ManualSettings(str(value.get("title", "")), root, allow_file is True, "; ".join(problems))


_SETTINGS = ("title", "space", "allow_file")


def _load_yaml(raw: bytes) -> tuple[Mapping[str, Any], str]:
    if len(raw) > MAX_SETTINGS_BYTES:
        return {}, f"larger than {MAX_SETTINGS_BYTES} bytes"
    try:
        value = yaml.load(raw.decode(), Loader=_NoAliasLoader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"not YAML at line {mark.line + 1}" if mark is not None else "not YAML in UTF-8"
    if value is None:
        return {}, ""
    return (cast("Mapping[str, Any]", value), "") if isinstance(value, dict) else ({}, "its top is not a mapping")


def _as_list(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _as_texts(value: Any) -> list[str]:
    return [str(each).strip() for each in _as_list(value) if isinstance(each, str | int | float) and str(each).strip()]
