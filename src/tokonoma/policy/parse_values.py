"""Values of a policy: texts, numbers, lists, keys. Each problem is noted with its place, and the parsing goes on."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from tokonoma.core.errors import find_nearest
from tokonoma.policy.yaml_tree import PolicyProblem, YamlNode

T = TypeVar("T")


class PolicyValues:
    """Collects problems. What cannot be parsed gets a placeholder, which is never used: the whole policy is refused."""

    def __init__(self) -> None:
        self.problems: list[PolicyProblem] = []

    def report(self, node: YamlNode, message: str, instead: T) -> T:
        self.problems.append(PolicyProblem(node.key, message, node.line, node.column))
        return instead

    def take_members(self, node: YamlNode, allowed: Collection[str]) -> dict[str, YamlNode]:
        if not isinstance(node.value, dict):
            return self.report(node, f"expected keys: {', '.join(allowed)}", {})
        members = node.value
        for name, each in members.items():
            if name not in allowed:
                meant = find_nearest(name, allowed, 1)
                hint = f"; did you mean {meant[0]}?" if meant else f"; known keys: {', '.join(allowed)}"
                self.report(each, f"unknown key {name!r}{hint}", None)
        return {name: each for name, each in members.items() if name in allowed}

    def take_each(
        self, node: YamlNode | None, allowed: Collection[Any] | None, read: Callable[[YamlNode], T]
    ) -> dict[Any, T]:
        if node is None or node.value is None:
            return {}
        names = allowed if allowed is not None else list(node.value) if isinstance(node.value, Mapping) else ("NAME",)
        return {name: read(each) for name, each in self.take_members(node, names).items()}

    def take_list(self, node: YamlNode | None, read: Callable[[YamlNode], T]) -> list[T]:
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            return self.report(node, "expected a list", [])
        return [read(each) for each in node.value]

    def take_text(self, node: YamlNode | None) -> str:
        if node is None:
            return ""
        return node.value if isinstance(node.value, str) else self.report(node, "expected a text", "")

    def take_one_of(self, node: YamlNode | None, allowed: Collection[str], default: str) -> str:
        if node is None:
            return default
        if node.value in allowed and isinstance(node.value, str):
            return node.value
        return self.report(node, f"expected one of {', '.join(allowed)}", default)

    def take_flag(self, node: YamlNode | None) -> bool:
        if node is None:
            return False
        return node.value if isinstance(node.value, bool) else self.report(node, "expected true or false", False)

    def take_number(
        self, node: YamlNode | None, default: float, low: float, high: float, *, whole: bool = False
    ) -> float:
        if node is None:
            return default
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            return self.report(node, "expected a number", default)
        if not low <= value <= high or (whole and not isinstance(value, int)):
            return self.report(node, f"expected a {'whole ' if whole else ''}number from {low:g} to {high:g}", default)
        return value

    def take_whole(self, node: YamlNode | None, default: int, low: int, high: int) -> int:
        return int(self.take_number(node, default, low, high, whole=True))
