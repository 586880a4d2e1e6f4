"""The result of a batch: how each step ended, in the order of the lines, and the results with `output`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from tokonoma.core.field_paths import project
from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.step_parser import BatchStep

MAX_ANSWER = 512 * 1024  # bytes of the whole answer, unless a setting says otherwise
_PARAMETERS_OF_SIZE = ("limit", "max_chars", "max_results", "top_k", "limits", "budget")  # tools that return less


class StepEnding(TypedDict):
    id: str
    status: Literal["ok", "error", "skipped", "timeout", "planned"]


# Not in the output schema, which every client reads: a report explains itself.
class StepReport(StepEnding):
    error: NotRequired[dict[str, Any]]  # with request_id and trace_id beside it, as in every failure
    cause: NotRequired[str]  # the failed step because of which this one was skipped
    message: NotRequired[str]
    missing_fields: NotRequired[list[str]]
    result_bytes: NotRequired[int]  # of a result that did not fit into the answer


class BatchResult(TypedDict):
    ok: bool
    steps: Sequence[StepEnding]
    results: dict[str, Any]
    repeated: NotRequired[bool]


def describe_plan(plan: BatchPlan, verdicts: Mapping[str, str] | None = None) -> BatchResult:
    """The result of a dry run: what would run, in which wave, what each step waits for and reads, and whether it needs
    an approval."""
    asked = {id for id, verdict in (verdicts or {}).items() if verdict == "ask"}
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
            **({"needs_approval": True} if step.id in asked else {}),
        }
        for step in plan.steps
    ]
    return {"ok": True, "steps": cast(list[StepReport], steps), "results": {}}


def report_skip(id: str, message: str, cause: str = "") -> StepReport:
    report: StepReport = {"id": id, "status": "skipped", "message": message}
    return {**report, "cause": cause} if cause else report


def build_result(
    plan: BatchPlan, reports: Mapping[str, StepReport], results: Mapping[str, bytes], most: int = MAX_ANSWER
) -> BatchResult:
    """The whole result, of at most so many bytes. A result that does not fit is left out, and its step says so."""
    steps = [reports[step.id] for step in plan.steps]
    _shorten_errors(steps, most // 2)
    included: dict[str, Any] = {}
    left = most - len(orjson.dumps(steps))
    for step, report in zip(plan.steps, steps, strict=True):
        encoded = results.get(step.id)
        if encoded is None:
            continue
        if len(encoded) + len(step.id) < left:
            left -= len(encoded) + len(step.id)
            included[step.id] = orjson.loads(encoded)
        else:
            leave_out(step, report, len(encoded), most)
    return {"ok": all(report["status"] == "ok" for report in steps), "steps": steps, "results": included}


def leave_out(step: BatchStep, report: StepReport, size: int, most: int) -> None:
    """Say in a step's report that its result is too large, and how to get it."""
    ways = ["request fewer `fields`"]
    named = [name for name in _PARAMETERS_OF_SIZE if name in step.tool.input.get("properties", {})]
    if named:
        ways.append(f"set {' or '.join(named)}")
    if step.tool.effect == "read":
        ways.append(f"call {step.tool.path} alone")
        effect = "The step ran"
    else:
        effect = "The step ran and its effects stand: do not run it again"
    report["result_bytes"] = size
    report["message"] = (
        f"{effect}. Its result of {size} bytes is left out, because the answer of a batch may have {most} bytes."
        f" To get such a result, {', or '.join(ways)}."
    )


def leave_out_texts(result: BatchResult, why: str) -> BatchResult:
    """Only how each step ended. A step whose result or error is left out says so."""
    message = f"The step ended as its status says. What it returned is left out, because {why} since then."
    steps: list[StepEnding] = []
    for report in cast("Sequence[StepReport]", result["steps"]):
        short: StepReport = {"id": report["id"], "status": report["status"]}
        if "cause" in report:
            short["cause"] = report["cause"]
        if "error" in report:
            short["error"] = {"code": report["error"].get("code")}
        if "error" in report or report["id"] in result["results"]:
            short["message"] = message
        steps.append(short)
    return {"ok": result["ok"], "steps": steps, "results": {}}


def _shorten_errors(steps: Sequence[StepReport], most: int) -> None:
    """Remove the details of errors, the largest first, until all reports together have at most so many bytes."""
    sizes = [len(orjson.dumps(report)) for report in steps]
    total = sum(sizes)
    for size, report in sorted(zip(sizes, steps, strict=True), key=lambda each: -each[0]):
        error = report.get("error")
        if total <= most or error is None:
            break
        details = "details" if "details" in error else "data"
        report["error"] = {**error, details: {}, "message": f"{error['message'][:1000]} (details left out)"}
        total -= size - len(orjson.dumps(report))


def shape_result(step: BatchStep, body: bytes, report: StepReport) -> bytes:
    """A result with the step's `fields` only; fields that it does not have are added to the report."""
    if step.fields is None:
        return body
    value, missing = project(orjson.loads(body), step.fields)
    if missing:
        report["missing_fields"] = missing
    return orjson.dumps(value)
