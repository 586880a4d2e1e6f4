"""What manual_find takes and answers."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class ManualBudget(TypedDict):
    time_ms: NotRequired[Annotated[int, Field(ge=1, le=600_000)]]
    max_candidates: NotRequired[Annotated[int, Field(ge=1, le=1000)]]


class ManualFindSummary(TypedDict):
    scanned_files: int
    scanned_nodes: int
    candidates: int
    warnings: list[str]
    max_stage_applied: float
    scope_expanded: bool
    unscanned_sections_count: int
    integrated_nodes: int
    signal_coverage: dict[str, float]
    file_bias_ratio: float
    conflict_count: int
    gap_count: int
    sufficiency_score: float
    integration_status: Literal["ready", "needs_followup", "blocked"]
    cutoff_reason: NotRequired[Literal["time_budget", "candidate_cap", "stage_cap", "hard_limit"]]


class ManualNextAction(TypedDict):
    type: str
    intent: str
    confidence: float | None
    params: dict[str, Any] | None


class ManualFindResult(TypedDict):
    trace_id: str
    summary: ManualFindSummary
    next_actions: list[ManualNextAction]
