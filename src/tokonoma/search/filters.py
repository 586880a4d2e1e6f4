"""A filter over the shared index, in the two forms that its legs need: as SQL, and as values to compare in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Filter:
    """`sql` is a condition over `document d` with `:f_…` parameters; it says all. The rest repeats its simple part."""

    sql: str = "1 = 1"
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    modules: frozenset[str] | None = None  # None: any
    spaces: tuple[str, ...] = ()  # trees, all of which a record must lie in
    labels: frozenset[str] | None = None
    narrow: bool = False  # the SQL asks for more than the three above: facts, times, expiry
