"""YAML as a tree that knows where each part stands. Safe: no aliases, no tags of others, 64 KB, 16 levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tokonoma.core.errors import Invalid

MAX_BYTES = 64 * 1024  # bytes
_MAX_DEPTH = 16
_SCALARS = ("str", "int", "float", "bool", "null", "timestamp")
_YAML: Any = yaml  # its stubs leave most of it unknown
_YES = ("yes", "true", "on")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    key: str  # where it belongs: boundary_classes.pii.redact[0]
    message: str
    line: int
    column: int

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "message": self.message, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class YamlNode:
    value: "Mapping[str, YamlNode] | Sequence[YamlNode] | str | int | float | bool | None"
    written: str  # a scalar as it stands there: 0.10 is not 0.1
    key: str
    line: int
    column: int

    def problem(self, message: str) -> PolicyProblem:
        return PolicyProblem(self.key, message, self.line, self.column)


def policy_error(problems: Sequence[PolicyProblem]) -> Invalid:
    first = problems[0]
    more = f" There are {len(problems) - 1} more problems." if len(problems) > 1 else ""
    where = f"line {first.line}, column {first.column}" + (f", {first.key}" if first.key else "")
    return Invalid(
        f"The policy is not right ({where}): {first.message}.{more}",
        reason="policy",
        alias="POLICY_INVALID",
        line=first.line,
        column=first.column,
        key=first.key,
        problems=[each.to_dict() for each in problems[:50]],
    )


def parse_yaml(text: str) -> YamlNode:
    """The whole document; Invalid names the place of what is wrong."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise policy_error([PolicyProblem("", f"it has {size} bytes, and {MAX_BYTES} is the most", 1, 1)])
    try:
        _check_events(text)
        root = _YAML.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise policy_error(
            [PolicyProblem("", f"this is not YAML: {error.problem or error.context}", line, column)]
        ) from None
    except yaml.YAMLError as error:
        place = str(text[: getattr(error, "position", 0)])
        problem = PolicyProblem("", "it holds a character that YAML does not allow", place.count("\n") + 1, 1)
        raise policy_error([problem]) from None
    if root is None:
        raise policy_error([PolicyProblem("", "it is empty", 1, 1)])
    return _build_node(root, "")


def _check_events(text: str) -> None:
    """Before anything is built: an alias can make a small text very large, and nesting can exhaust the stack."""
    depth = documents = 0
    for event in _YAML.parse(text, Loader=yaml.SafeLoader):
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = PolicyProblem(
                "", "aliases and anchors are not allowed; write it out", mark.line + 1, mark.column + 1
            )
            raise policy_error([problem])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > _MAX_DEPTH:
            raise policy_error([PolicyProblem("", f"more than {_MAX_DEPTH} levels", mark.line + 1, mark.column + 1)])
        if documents > 1:
            raise policy_error([PolicyProblem("", "one document, not several", mark.line + 1, mark.column + 1)])


def _build_node(node: Any, key: str) -> YamlNode:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if isinstance(node, yaml.MappingNode):
        return YamlNode(dict(_build_members(node, key)), "", key, line, column)
    if isinstance(node, yaml.SequenceNode):
        return YamlNode(
            [_build_node(each, f"{key}[{place}]") for place, each in enumerate(node.value)], "", key, line, column
        )
    kind = str(node.tag).removeprefix("tag:yaml.org,2002:")
    if kind not in _SCALARS:
        raise policy_error([PolicyProblem(key, f"the tag {kind} is not allowed", line, column)])
    return YamlNode(_build_scalar(kind, node.value, node), node.value, key, line, column)


def _build_members(node: Any, key: str) -> Iterator[tuple[str, YamlNode]]:
    seen: set[str] = set()
    for name, value in node.value:
        line, column = name.start_mark.line + 1, name.start_mark.column + 1
        if not isinstance(name, yaml.ScalarNode):
            raise policy_error([PolicyProblem(key, "a key must be a word", line, column)])
        place = f"{key}.{name.value}" if key else name.value
        if name.value in seen:
            raise policy_error([PolicyProblem(place, "it stands here twice", line, column)])
        seen.add(name.value)
        yield name.value, _build_node(value, place)


def _build_scalar(kind: str, text: str, node: Any) -> Any:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in _YES
    if kind in ("int", "float"):
        try:
            return _YAML.SafeLoader("").construct_object(node)
        except (ValueError, OverflowError):
            raise policy_error([PolicyProblem("", "this number cannot be read", node.start_mark.line + 1, 1)]) from None
    return text
