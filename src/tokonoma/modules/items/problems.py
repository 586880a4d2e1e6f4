"""What is wrong with a call, all of it at once."""

import re
from typing import Any, Literal

from tokonoma.core.errors import Invalid, Missing, Refusal

Kind = Literal["value", "constraint", "missing"]
_CODES = {"value": 1002, "constraint": 1004, "missing": 1001}
_SHOWN = 80  # characters of a value that is shown back


class ItemProblems:
    """Gathered while a call is checked. `place` is put before every field: `updates[3].data.` in a bulk update."""

    def __init__(self, place: str = "") -> None:
        self._place = place
        self._found: list[dict[str, Any]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def at_place(self, place: str) -> "ItemProblems":
        """The same gathering, for fields of this place."""
        inner = ItemProblems(place)
        inner._found = self._found
        return inner

    def add_value(self, field: str, value: Any, constraint: str, **more: Any) -> None:
        self._add("value", field, value, constraint, more)

    def add_constraint(self, field: str, value: Any, constraint: str, **more: Any) -> None:
        self._add("constraint", field, value, constraint, more)

    def add_missing(self, field: str, value: Any, constraint: str, **more: Any) -> None:
        self._add("missing", field, value, constraint, more)

    def _add(self, kind: Kind, field: str, value: Any, constraint: str, more: dict[str, Any]) -> None:
        told = {
            "code": _CODES[kind],
            "field": f"{self._place}{field}",
            "value": _shorten(value),
            "constraint": constraint,
        }
        self._found.append({"kind": kind, **told, **more})

    def find_indexes(self, field: str) -> set[int]:
        """The numbers of the members of a list that something is wrong with."""
        found = (re.fullmatch(rf"{field}\[(\d+)\]", each["field"]) for each in self._found)
        return {int(each[1]) for each in found if each}

    def raise_if_any(self) -> None:
        """Refuse, if there is anything to refuse for. The code is that of the first."""
        if self._found:
            raise self._build_error()

    def _build_error(self) -> Refusal:
        first = self._found[0]
        errors = [{key: value for key, value in each.items() if key != "kind"} for each in self._found]
        told = "; ".join(f"{each['field']}: {each['constraint']}" for each in errors[:5])
        more = f"; and {len(errors) - 5} more" if len(errors) > 5 else ""
        message = f"{_SAYS[first['kind']]}: {told}{more}. Nothing was changed."
        details = {key: value for key, value in errors[0].items() if key != "code"}
        if len(errors) > 1 or first["kind"] == "missing":
            details["errors"] = errors
        if first["kind"] == "missing":
            return Missing(message, **details)
        if first["kind"] == "value":
            return Invalid(message, reason="value", **details)
        return Invalid(message, reason="constraint", **details)


_SAYS = {"value": "Validation failed", "constraint": "Constraint violation", "missing": "Item not found"}


def _shorten(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]}…"
    return value


def item_not_found(type: str, id: int, **more: Any) -> Missing:
    requested = f"{type}-{id}"
    return Missing(f"There is no item {requested[:_SHOWN]} here.", type=type, id=id, requested_id=requested, **more)
