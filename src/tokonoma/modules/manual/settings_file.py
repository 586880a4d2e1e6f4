"""What an owner writes beside the files of a manual: `glossary.yml` (words that mean one thing, words that announce an
exception) and `manual.yml` (a title, the namespace that it belongs to, whether whole files may be read)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

import yaml

MOST = 512 * 1024
"""Bytes of a glossary."""


@dataclass(frozen=True, slots=True)
class Glossary:
    groups: tuple[tuple[str, ...], ...] = ()
    exceptions: tuple[str, ...] = ()
    problem: str = ""  # why it was not read

    def joined(self, other: "Glossary") -> "Glossary":
        problem = self.problem or other.problem
        return Glossary((*self.groups, *other.groups), (*self.exceptions, *other.exceptions), problem)


@dataclass(frozen=True, slots=True)
class About:
    title: str = ""
    space: str = "/"
    allow_file: bool = False  # whether a Markdown file may be read whole
    problem: str = ""  # why something of it does not count


class _Loader(yaml.SafeLoader):
    """Without aliases: nine of them can stand for a billion values."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        loader: Any = super()
        if loader.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not taken")
        return loader.compose_node(parent, index)


@lru_cache(maxsize=1)
def shipped() -> Glossary:
    """The general one that comes with the program."""
    return glossary((files("tokonoma.modules.manual") / "glossary.yml").read_bytes())


@lru_cache(maxsize=100)  # read before every answer, and seldom another
def glossary(raw: bytes) -> Glossary:
    """`terms:` is a list of lists, each of words that mean one thing; `exceptions:` a list of words."""
    value, problem = _loaded(raw)
    if problem:
        return Glossary(problem=problem)
    groups = [tuple(_texts(group)) for group in _listed(value.get("terms"))]
    return Glossary(tuple(group for group in groups if len(group) > 1), tuple(_texts(value.get("exceptions"))))


@lru_cache(maxsize=100)
def about(raw: bytes) -> About:
    value, problem = _loaded(raw)
    if problem:
        return About(problem=problem)
    space, allow_file = value.get("space", "/"), value.get("allow_file", False)
    if not isinstance(space, str) or not space.startswith("/") or ".." in space.split("/"):
        return About(problem="space must be a namespace from the root, like /team")
    root = "/" + "/".join(part for part in space.split("/") if part)
    problems: list[str] = []
    unknown = sorted(str(name) for name in value if name not in _ABOUT)
    if unknown:
        problems.append(f"unknown: {', '.join(unknown)[:200]}; there are {', '.join(_ABOUT)}")
    if not isinstance(allow_file, bool):
        problems.append("allow_file must be true or false")
    return About(str(value.get("title", "")), root, allow_file is True, "; ".join(problems))


_ABOUT = ("title", "space", "allow_file")


def _loaded(raw: bytes) -> tuple[Mapping[str, Any], str]:
    if len(raw) > MOST:
        return {}, f"larger than {MOST} bytes"
    try:
        value = yaml.load(raw.decode(), Loader=_Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"not YAML at line {mark.line + 1}" if mark is not None else "not YAML in UTF-8"
    if value is None:
        return {}, ""
    return (cast("Mapping[str, Any]", value), "") if isinstance(value, dict) else ({}, "its top is not a mapping")


def _listed(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [str(each).strip() for each in _listed(value) if isinstance(each, str | int | float) and str(each).strip()]
