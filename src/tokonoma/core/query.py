"""What one asks the shared index, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tokonoma.core.desk import Classification

Mode = Literal["hybrid", "text", "vector"]
Metric = Literal["cosine", "l2"]
Operator = Literal["is", "in", "contains", "prefix", "between", "exists"]
Scalar = str | float | bool


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact of a record. `between` takes (low, high), None for an open end; `exists` takes (True,) or (False,)"""

    key: str  # nested keys joined by dots
    operator: Operator
    values: tuple[Scalar | None, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these; none: always true."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these at least; none: never true."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The opposite: a record that lacks the fact altogether passes, too."""

    part: "Predicate"


Predicate = Condition | AllOf | AnyOf | NoneOf


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Filtered inside the query, before anything is ranked. The caller's root and classes are added by the desk."""

    modules: tuple[str, ...] = ()  # none: all
    namespace: str | None = None  # this one and those below it
    conditions: tuple[Predicate, ...] = ()
    since: int | None = None  # milliseconds, of the record's own time
    until: int | None = None
    classifications: tuple[Classification, ...] | None = None  # of the classes that the caller sees, only these


@dataclass(frozen=True, slots=True)
class Query:
    text: str = ""
    pivot: str | None = None  # the address of a record whose vector is asked with, instead of a text
    mode: Mode = "hybrid"
    metric: Metric = "cosine"
    limit: int = 10
    min_similarity: float | None = None  # similarity below which a vector hit does not count
    neighbours: bool = True  # two records on each side in the same thread lend weight
    boost_dates: bool = False  # a time that the text names is looked for in the records' own time
    half_life: float | None = None  # days after which a record counts half; None: age does not matter
    wait_for_embedding: bool = True  # what was saved a moment ago is embedded first, if that is soon done
    explain: bool = False  # say how each score came about
    expect: str | None = None  # an address: if it is not among the hits, say why not


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The walls around the caller: its root, and the classes that the policy lets it see."""

    root: str
    classifications: tuple[Classification, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    address: str
    module: str
    namespace: str
    title: str
    score: float  # 0..1; what the order follows
    text_score: float | None = None
    similarity: float | None = None  # of the vectors, by the metric asked for
    score_parts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # with `explain`


@dataclass(frozen=True, slots=True)
class Hits:
    items: Sequence[Hit]
    mode: Mode  # the legs that were really used: hybrid becomes text where there are no vectors
    why_not: str | None = None  # with `expect`: not indexed, filtered (by what), not yet embedded, below the line
    pending_vectors: int = 0  # records whose vector is still to be made
