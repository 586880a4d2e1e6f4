"""The parameters of a declared tool: from the text of its line to names, places and types."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from tokonoma.connectors.model import Service, ServiceTool

_NAME = re.compile(r"[A-Z]\w+")
_PLACEHOLDER = re.compile(r"\{(\+?)(\w+)(?::(\w+))?\}")
_LONG = 32  # characters of a choice; of a longer one a signature shows the beginning
_TYPES: Mapping[str, Any] = {"str": str, "int": int, "bool": bool, "any": Any}

Place = Literal["path", "query", "body"]


@dataclass(frozen=True, slots=True)
class ServiceParam:
    """One parameter. `shape` is its type in the words of a signature, in which `types` may be named; `wire` is the name
    that the service has for it."""

    name: str
    place: Place
    required: bool
    shape: str = "str"
    wire: str = ""
    has_slashes: bool = False  # a path of several segments
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    def format(self) -> str:
        """As a signature shows it; without a type it is a text."""
        shape = self.shape
        if len(shape) > _LONG and shape[0] not in "{[":
            shape = shape[: shape.rindex("|", 0, _LONG)] + "|…"
        return f"{self.name}{'' if self.required else '?'}{'' if shape == 'str' else f': {shape}'}"

    def build_hint(self) -> Any:
        """The type of its values, for the parser of the call. What is inside an object is for the service to check."""
        shape = _NAME.sub(lambda found: self.types.get(found[0], found[0]), self.shape)
        hint = _find_type(shape)
        return Annotated[hint, Field(description=shape)] if "{" in shape else hint


def list_params(service: Service, tool: ServiceTool) -> list[ServiceParam]:
    """Path first, as in the address; then the others, as in the line."""
    found = [
        ServiceParam(name, "path", True, shape or "str", has_slashes=bool(plus))
        for plus, name, shape in _PLACEHOLDER.findall(tool.path)
    ]
    place: Place = "query" if tool.method in ("GET", "DELETE") else "body"
    texts: tuple[tuple[Place, str], ...] = ((place, tool.takes), ("query", tool.query))
    for each_place, text in texts:
        found += [_parse_param(service, each, each_place) for each in _split_list(text)]
    return sorted(found, key=lambda each: not each.required)


def fill_path(tool: ServiceTool, values: Mapping[str, str]) -> str:
    """The path with these values, which are quoted already."""
    return _PLACEHOLDER.sub(lambda found: values[found[2]], tool.path)


def _parse_param(service: Service, text: str, place: Place) -> ServiceParam:
    name, _, shape = text.partition(":")
    name = name.strip()
    required, name = not name.endswith("?"), name.removesuffix("?")
    wire = service.wire.get(name, name)
    return ServiceParam(name, place, required, shape.strip() or "str", wire, types=service.types)


def _split_list(text: str) -> Iterator[str]:
    """The parts between commas that stand in no bracket."""
    depth = start = 0
    for at, letter in enumerate(text):
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if rest := text[start:].strip():
        yield rest


def _find_type(shape: str) -> Any:
    if shape in _TYPES:
        return _TYPES[shape]
    if shape.startswith("["):
        return list[_find_type(shape[1:-1])] if re.fullmatch(r"\[[\w|.+-]+\]", shape) else list[Any]
    if shape.startswith("{"):
        return dict[str, Any]
    if shape.startswith("str | {"):
        return str | dict[str, Any]
    if shape.endswith(" | null"):
        return _find_type(shape.removesuffix(" | null")) | None
    # `typing` takes two unions of the same choices for one, whatever their order: the shape tells them apart.
    return Annotated[cast("Any", Literal)[tuple(shape.split("|"))], shape]
