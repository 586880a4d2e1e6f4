"""YAML as a tree of nodes with line and column. Safe: no aliases, no foreign tags, 64 KB, 16 levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from tokonoma.core.errors import Invalid

MAX_BYTES = 64 * 1024
_MAX_DEPTH = 16
_SCALARS = ("str", "int", "float", "bool", "null", "timestamp")
_YAML: Any = yaml  # its stubs leave most of it unknown
_YES = ("yes", "true", "on")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    key: str  # boundary_classes.pii.redact[0]
    message: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlNode:
    value: "Mapping[str, YamlNode] | Sequence[YamlNode] | str | int | float | bool | None"
    written: str  # a scalar as it is written: 0.10 is not 0.1
    key: str
    line: int
    column: int


def policy_error(problems: Sequence[PolicyProblem]) -> Invalid:
    first = problems[0]
    more = f" There are {len(problems) - 1} more problems." if len(problems) > 1 else ""
    where = f"line {first.line}, column {first.column}" + (f", {first.key}" if first.key else "")
    return Invalid(
        f"The policy is not valid ({where}): {first.message}.{more}",
        reason="policy",
        alias="POLICY_INVALID",
        line=first.line,
        column=first.column,
        key=first.key,
        problems=[asdict(each) for each in problems[:50]],
    )


def _error_at(mark: Any, message: str, key: str = "") -> Invalid:
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return policy_error([PolicyProblem(key, message, line, column)])


def parse_yaml(text: str) -> YamlNode:
    """The whole document; Invalid names the place of the first error."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _error_at(None, f"it has {size} bytes; at most {MAX_BYTES} are allowed")
    try:
        _check_events(text)
        root = _YAML.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _error_at(mark, f"this is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        place = str(text[: getattr(error, "position", 0)])
        problem = PolicyProblem("", "it contains a character that YAML does not allow", place.count("\n") + 1, 1)
        raise policy_error([problem]) from None
    if root is None:
        raise _error_at(None, "it is empty")
    return _build_node(root, "")


def _check_events(text: str) -> None:
    """Before anything is built: an alias can make a small text very large, and nesting can exhaust the stack."""
    depth = documents = 0
    for event in _YAML.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _error_at(event.start_mark, "aliases and anchors are not allowed; write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > _MAX_DEPTH:
            raise _error_at(event.start_mark, f"nested deeper than {_MAX_DEPTH} levels")
        if documents > 1:
            raise _error_at(event.start_mark, "more than one document")


def _build_node(node: Any, key: str) -> YamlNode:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    kind = str(node.tag).removeprefix("tag:yaml.org,2002:")
    if isinstance(node, yaml.MappingNode) and kind == "map":
        return YamlNode(dict(_build_members(node, key)), "", key, line, column)
    if isinstance(node, yaml.SequenceNode) and kind == "seq":
        items = [_build_node(each, f"{key}[{place}]") for place, each in enumerate(node.value)]
        return YamlNode(items, "", key, line, column)
    if not isinstance(node, yaml.ScalarNode) or kind not in _SCALARS:
        raise _error_at(node.start_mark, f"the tag {kind} is not allowed", key)
    return YamlNode(_build_scalar(kind, _check_text(node, key), node, key), node.value, key, line, column)


def _check_text(node: Any, key: str) -> str:
    """The text of a scalar. An escape like \\ud800 is no character, and could be neither stored nor sent."""
    if any("\ud800" <= letter <= "\udfff" for letter in node.value):
        raise _error_at(node.start_mark, "it contains half of a surrogate pair", key)
    return node.value


def _build_members(node: Any, key: str) -> Iterator[tuple[str, YamlNode]]:
    seen: set[str] = set()
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise _error_at(name.start_mark, "a key must be a word", key)
        _check_text(name, key)
        place = f"{key}.{name.value}" if key else name.value
        if name.value in seen:
            raise _error_at(name.start_mark, "this key appears twice", place)
        seen.add(name.value)
        yield name.value, _build_node(value, place)


def _build_scalar(kind: str, text: str, node: Any, key: str) -> Any:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in _YES
    if kind in ("int", "float"):
        try:
            return _YAML.SafeLoader("").construct_object(node)
        except (ValueError, OverflowError, IndexError):
            raise _error_at(node.start_mark, "this number is not valid", key) from None
    return text
