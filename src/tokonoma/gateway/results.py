"""The result of a batch: how each step ended, in the order of the lines, and the results with `output`.

`fields` selects parts of a result and keeps its shape and order. A path is keys joined by dots, and goes through lists:
`items.id` turns `{"items": [{"id": 1, "text": …}, …], "total": 2}` into `{"items": [{"id": 1}, …]}`. A value that ends
before its path is left out (null in a list); a null stays null.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

import orjson
from typing_extensions import TypedDict

from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.references import parse_field_path
from tokonoma.gateway.step_parser import BatchStep

FieldTree = dict[str, "FieldTree"]  # an empty tree keeps everything
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


def describe_plan(plan: BatchPlan) -> BatchResult:
    """The result of a dry run: what would run, in which wave, and what each step waits for and reads."""
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


def project(value: Any, fields: Sequence[str]) -> tuple[Any, list[str]]:
    """The value with only these fields, and the fields that it does not have."""
    paths = {field: parse_field_path(field) for field in fields}
    missing = [field for field, path in paths.items() if _is_missing(value, path)]
    return _prune(value, _build_tree(paths.values())), missing


def _build_tree(paths: Iterable[tuple[str, ...]]) -> FieldTree:
    tree: FieldTree = {}
    for path in sorted(paths, key=len):  # the shorter first: a whole value includes its parts
        node = tree
        for key in path:
            if key in node and not node[key]:
                break
            node = node.setdefault(key, {})
    return tree


def _prune(value: Any, tree: FieldTree) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_prune(each, tree) for each in cast(list[Any], value)]
    if not isinstance(value, dict):
        return None
    held = cast(dict[str, Any], value)
    return {key: _prune(each, tree[key]) for key, each in held.items() if key in tree and _can_descend(each, tree[key])}


def _can_descend(value: Any, tree: FieldTree) -> bool:
    return not tree or value is None or isinstance(value, dict | list)


def _is_missing(value: Any, path: tuple[str, ...]) -> bool:
    """Whether the value has nothing at this path; an empty list or a null on the way is not missing."""
    level = [value]
    for key in path:
        level = _flatten_lists(level)
        if all(each is None for each in level):
            return False
        objects = cast(list[dict[str, Any]], [each for each in level if isinstance(each, dict)])
        level = [each[key] for each in objects if key in each]
        if not level:
            return True
    return False


def _flatten_lists(values: list[Any]) -> list[Any]:
    while any(isinstance(each, list) for each in values):
        values = [inner for each in values for inner in (cast(list[Any], each) if isinstance(each, list) else [each])]
    return values
