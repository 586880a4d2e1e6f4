"""How the places of two rules lie to each other. On the safe side: paths are compared as they are written."""

from tokonoma.core.namespaces import is_inside
from tokonoma.policy.rules import PlacementRule


def covers_place(wide: PlacementRule, narrow: PlacementRule) -> bool:
    """Whether every record that matches one rule surely matches the other."""
    return (
        wide.module in ("", narrow.module)
        and (wide.namespace in ("", "/", narrow.namespace) or is_inside(narrow.namespace, wide.namespace))
        and wide.path in ("", "*", narrow.path)
    )


def can_overlap(one: PlacementRule, other: PlacementRule) -> bool:
    """Whether a record may match both."""
    modules = "" in (one.module, other.module) or one.module == other.module
    first, second = one.namespace, other.namespace
    return modules and (not first or not second or is_inside(first, second) or is_inside(second, first))


def describe_place(rule: PlacementRule) -> str:
    parts = (rule.module, rule.namespace, rule.path)
    return ", ".join(part for part in parts if part) or "every place"
