"""Two files that an owner may write beside those of a manual.

`glossary.yml`: words that mean one thing, and words that announce an exception. `manual.yml`: a title, the namespace
that it belongs to, whether whole files may be read, and how links from the root of its site start.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from tokonoma.files.yaml_text import load_mapping

MAX_SETTINGS_BYTES = 512 * 1024
_SETTINGS = ("title", "space", "allow_file", "link_prefix")


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
    problem: str = ""  # why some of it is ignored
    link_prefixes: tuple[str, ...] = ()  # `/docs/`: how links from the root of the site to this manual start


@lru_cache(maxsize=1)
def load_shipped_glossary() -> Glossary:
    """The general glossary that comes with the program."""
    return parse_glossary((files("tokonoma.modules.manual") / "glossary.yml").read_bytes())


@lru_cache(maxsize=100)  # parsed before every answer, and seldom changed
def parse_glossary(raw: bytes) -> Glossary:
    """`terms:` is a list of lists, each of words that mean one thing; `exceptions:` is a list of words."""
    value, problem = load_mapping(raw, MAX_SETTINGS_BYTES)
    terms = value.get("terms")
    groups = [_to_texts(group) for group in cast("list[Any]", terms)] if isinstance(terms, list) else []
    return Glossary(tuple(group for group in groups if len(group) > 1), _to_texts(value.get("exceptions")), problem)


@lru_cache(maxsize=100)
def parse_settings(raw: bytes) -> ManualSettings:
    value, problem = load_mapping(raw, MAX_SETTINGS_BYTES)
    space, allow_file = value.get("space", "/"), value.get("allow_file", False)
    if not isinstance(space, str) or not space.startswith("/") or ".." in space.split("/"):
        return ManualSettings(problem="space must be an absolute namespace, like /team")
    namespace = "/" + "/".join(part for part in space.split("/") if part)
    problems = [problem] if problem else []
    unknown = sorted(str(name) for name in value if name not in _SETTINGS)
    if unknown:
        problems.append(f"unknown: {', '.join(unknown)[:200]}; allowed: {', '.join(_SETTINGS)}")
    if not isinstance(allow_file, bool):
        problems.append("allow_file must be true or false")
    prefix = value.get("link_prefix", ())
    written = _to_texts(prefix if isinstance(prefix, list) else [prefix])
    prefixes = tuple(f"/{each.strip('/')}/".replace("//", "/") for each in written if each.startswith("/"))
    if prefix and (len(prefixes) < len(written) or not prefixes):
        problems.append("link_prefix must start with /, like /docs/, or be a list of such texts")
    return ManualSettings(str(value.get("title", "")), namespace, allow_file is True, "; ".join(problems), prefixes)


def _to_texts(value: Any) -> tuple[str, ...]:
    texts = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(str(each).strip() for each in texts if isinstance(each, str | int | float) and str(each).strip())
