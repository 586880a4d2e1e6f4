"""`{visible}`: the caller's filter, written into a module's SQL. Pure."""

import re

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification

_TOKEN = re.compile(r"\{visible(?::(\w+))?\}")
_INSERT = re.compile(r"\s*insert\b", re.IGNORECASE)


def expand_visible(sql: str, who: Principal, sees: tuple[Classification, ...]) -> tuple[str, dict[str, str | int]]:
    """The SQL with every `{visible}` or `{visible:alias}` written out, and the parameters that this needs."""
    walled = who.root != "/"

    def condition(found: re.Match[str]) -> str:
        prefix = f"{found[1]}." if found[1] else ""
        parts: list[str] = []
        if walled:
            # Compared letter by letter: `like` ignores case on SQLite, and a range follows the collation on PostgreSQL.
            start = f"substr({prefix}space, 1, cast(:visible_length as integer))"
            parts.append(f"({prefix}space = :visible_root or {start} = :visible_below)")
        if len(sees) < len(CLASSIFICATIONS):
            # Classes are our own fixed words, never a caller's text.
            listed = ", ".join(f"'{label}'" for label in sees)
            parts.append(f"{prefix}label in ({listed})" if sees else "1 = 0")
        return " and ".join(parts) or "1 = 1"

    filled = _TOKEN.sub(condition, sql)
    if not walled or filled == sql:
        return filled, {}
    below = who.root + "/"
    return filled, {"visible_root": who.root, "visible_below": below, "visible_length": len(below)}


def find_unfiltered_table(sql: str, records: frozenset[str]) -> str | None:
    """The record table that this SQL touches without a `{visible}`; inserting needs none."""
    if _TOKEN.search(sql) or _INSERT.match(sql):
        return None
    words = set(re.findall(r"\w+", sql.lower()))
    return next((table for table in sorted(records) if table in words), None)
