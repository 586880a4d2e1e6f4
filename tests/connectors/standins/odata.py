"""Queries of OData as Microsoft Graph takes them: `$select` and simple `$filter`."""

import re
from typing import Any

from .service import Refused


def pick(row: dict[str, Any], query: Any, more: set[str] | None = None) -> dict[str, Any]:
    """The fields that `$select` asks for."""
    wanted = query.get("$select")
    if wanted is None:
        return row
    return {name: value for name, value in row.items() if name in {"id", *wanted, *(more or ())} or name[0] == "@"}


def read_path(row: dict[str, Any], path: str) -> Any:
    value: Any = row
    for name in path.split("/"):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def fits(row: dict[str, Any], rule: str) -> bool:
    """Whether a row passes `$filter`: comparisons joined by `and`."""
    for part in filter(None, re.split(r"\s+and\s+", rule.strip())):
        match = re.fullmatch(r"([\w/]+) (eq|ne|gt|ge|lt|le) (?:'([^']*)'|(\w+))", part)
        if match is None:
            raise Refused(400, f"Invalid filter clause: {part}", "BadRequest")
        value, wanted = read_path(row, match[1]), match[3] if match[3] is not None else match[4]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        tests = {"eq": text == wanted, "ne": text != wanted, "gt": text > wanted, "ge": text >= wanted}
        if not {**tests, "lt": text < wanted, "le": text <= wanted}[match[2]]:
            return False
    return True
