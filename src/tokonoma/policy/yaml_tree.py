"""YAML as a tree that knows where each part stands. Safe: no aliases, no tags of others, 64 KB, 16 levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tokonoma.core.errors import Invalid

MOST = 64 * 1024  # bytes
_DEEPEST = 16
_SCALARS = ("str", "int", "float", "bool", "null", "timestamp")
_YAML: Any = yaml  # its stubs leave most of it unknown
_YES = ("yes", "true", "on")


@dataclass(frozen=True, slots=True)
class Problem:
    key: str  # where it belongs: boundary_classes.pii.redact[0]
    message: str
    line: int
    column: int

    def shown(self) -> dict[str, Any]:
        return {"key": self.key, "message": self.message, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class Node:
    value: "Mapping[str, Node] | Sequence[Node] | str | int | float | bool | None"
    written: str  # a scalar as it stands there: 0.10 is not 0.1
    key: str
    line: int
    column: int

    def problem(self, message: str) -> Problem:
        return Problem(self.key, message, self.line, self.column)


def refused(problems: Sequence[Problem]) -> Invalid:
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
        problems=[each.shown() for each in problems[:50]],
    )


def tree(text: str) -> Node:
    """The whole document; Invalid names the place of what is wrong."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST:
        raise refused([Problem("", f"it has {size} bytes, and {MOST} is the most", 1, 1)])
    try:
        _check_events(text)
        root = _YAML.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise refused([Problem("", f"this is not YAML: {error.problem or error.context}", line, column)]) from None
    except yaml.YAMLError as error:
        place = str(text[: getattr(error, "position", 0)])
        problem = Problem("", "it holds a character that YAML does not allow", place.count("\n") + 1, 1)
        raise refused([problem]) from None
    if root is None:
        raise refused([Problem("", "it is empty", 1, 1)])
    return _node(root, "")


def _check_events(text: str) -> None:
    """Before anything is built: an alias can make a small text very large, and nesting can exhaust the stack."""
    depth = documents = 0
    for event in _YAML.parse(text, Loader=yaml.SafeLoader):
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = Problem("", "aliases and anchors are not allowed; write it out", mark.line + 1, mark.column + 1)
            raise refused([problem])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > _DEEPEST:
            raise refused([Problem("", f"more than {_DEEPEST} levels", mark.line + 1, mark.column + 1)])
        if documents > 1:
            raise refused([Problem("", "one document, not several", mark.line + 1, mark.column + 1)])


def _node(node: Any, key: str) -> Node:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if isinstance(node, yaml.MappingNode):
        return Node(dict(_members(node, key)), "", key, line, column)
    if isinstance(node, yaml.SequenceNode):
        return Node([_node(each, f"{key}[{place}]") for place, each in enumerate(node.value)], "", key, line, column)
    kind = str(node.tag).removeprefix("tag:yaml.org,2002:")
    if kind not in _SCALARS:
        raise refused([Problem(key, f"the tag {kind} is not allowed", line, column)])
    return Node(_scalar(kind, node.value, node), node.value, key, line, column)


def _members(node: Any, key: str) -> Iterator[tuple[str, Node]]:
    seen: set[str] = set()
    for name, value in node.value:
        line, column = name.start_mark.line + 1, name.start_mark.column + 1
        if not isinstance(name, yaml.ScalarNode):
            raise refused([Problem(key, "a key must be a word", line, column)])
        place = f"{key}.{name.value}" if key else name.value
        if name.value in seen:
            raise refused([Problem(place, "it stands here twice", line, column)])
        seen.add(name.value)
        yield name.value, _node(value, place)


def _scalar(kind: str, text: str, node: Any) -> Any:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in _YES
    if kind in ("int", "float"):
        try:
            return _YAML.SafeLoader("").construct_object(node)
        except (ValueError, OverflowError):
            raise refused([Problem("", "this number cannot be read", node.start_mark.line + 1, 1)]) from None
    return text
