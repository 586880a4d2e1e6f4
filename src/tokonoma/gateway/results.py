"""What a batch answers: how each step ended, in the order of the lines, and the results that were asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from tokonoma.gateway.plan import BatchPlan, BatchStep
from tokonoma.gateway.projection import project

MAX_RESULTS = 4 * 1024 * 1024  # bytes of all results together; they travel twice, as structure and as text


class StepEnding(TypedDict):
    id: str
    status: Literal["ok", "error", "skipped", "timeout", "planned"]


# Kept out of the output schema, which every agent pays for: an ending explains itself when it is read.
class StepReport(StepEnding):
    error: NotRequired[dict[str, Any]]  # with request_id and trace_id beside it, as in every failure
    cause: NotRequired[str]  # the step whose failure made this one be skipped
    message: NotRequired[str]
    missing_fields: NotRequired[list[str]]


class BatchResult(TypedDict):
    ok: bool
    steps: Sequence[StepEnding]
    results: dict[str, Any]
    repeated: NotRequired[bool]


def describe_plan(plan: BatchPlan) -> BatchResult:
    """The answer of a dry run: what would run, in which wave, and what each step waits for and reads."""
    wave = {id: number for number, ids in enumerate(plan.levels, 1) for id in ids}
    steps = [
        {
            "id": step.id,
            "status": "planned",
            "wave": wave[step.id],
            "module": step.tool.module,
            "tool": step.tool.name,
            "after": list(step.after),
            "references": [reference.text for reference in step.references[:20]],
        }
        for step in plan.steps
    ]
    return {"ok": True, "steps": cast(list[StepReport], steps), "results": {}}


def report_failure(step: BatchStep, told: Mapping[str, Any], timeout: bool) -> StepReport:
    """`told` is the failure as a single call would tell it."""
    return cast(StepReport, {"id": step.id, "status": "timeout" if timeout else "error", **told})


def report_skip(id: str, message: str, cause: str = "") -> StepReport:
    report: StepReport = {"id": id, "status": "skipped", "message": message}
    if cause:
        report["cause"] = cause
    return report


def build_result(plan: BatchPlan, reports: Mapping[str, StepReport], results: Mapping[str, bytes]) -> BatchResult:
    """The whole answer. A result that would make it too large is left out, and its step says so."""
    steps = [reports[step.id] for step in plan.steps]
    told: dict[str, Any] = {}
    left = MAX_RESULTS
    for report in steps:
        encoded = results.get(report["id"])
        if encoded is None:
            continue
        if len(encoded) <= left:
            left -= len(encoded)
            told[report["id"]] = orjson.loads(encoded)
        else:
            report["message"] = (
                f"It ran, but its result of {len(encoded)} bytes is left out: "
                f"all results together may take {MAX_RESULTS}. Ask for fewer fields."
            )
    return {"ok": all(report["status"] == "ok" for report in steps), "steps": steps, "results": told}


def shape_result(step: BatchStep, body: bytes, report: StepReport) -> bytes:
    """A result as the step's `fields` ask for it; the fields that it does not have go into the report."""
    if step.fields is None:
        return body
    value, missing = project(orjson.loads(body), step.fields)
    if missing:
        report["missing_fields"] = missing
    return orjson.dumps(value)
