"""`/admin/try/batch`: a batch with its plan as a picture, then each step as it ended."""

from typing import Any

from tokonoma.core.errors import Refusal
from tokonoma.server.web.pages.handler import PROBLEMS
from tokonoma.server.web.pages.plan import draw_plan
from tokonoma.server.web.pages.request import PageRequest, PageResponse
from tokonoma.server.web.pages.tool_form import format_error, format_result

BATCH = "/admin/try/batch"
_EXAMPLE = (
    '{"id": "found", "module": "memory", "tool": "search", "params": {"query": "meeting", "k": 1}}\n'
    '{"id": "spaces", "module": "memory", "tool": "namespaces", "params": {}, "output": true}\n'
    '{"id": "memo", "module": "memory", "tool": "get", "params": {"memo_id": "${found.items[0].memo_id}"}, '
    '"output": true}\n'
)


def show_batch(request: PageRequest) -> PageResponse:
    return PageResponse("try/batch.html", _describe(_EXAMPLE))


def run_batch(request: PageRequest) -> PageResponse:
    """First the plan, which runs nothing; `run` runs it."""
    text = request.get_field("jsonl")
    values = _describe(text)
    runs = bool(request.get_field("run"))
    try:
        plan = _call(request, text, dry_run=True)
        answer = _call(request, text, dry_run=False) if runs else None
    except Refusal as error:
        found = {"mistakes": error.details.get("errors", []), "error": format_error(error), "problem": error.message}
        return PageResponse("try/batch.html", {**values, **found}, PROBLEMS.get(error.kind, ("", 503))[1])
    ended = {} if answer is None else {step["id"]: step for step in answer["steps"]}
    steps = [{**step, **ended.get(step["id"], {})} for step in plan["steps"]]
    if answer is not None:
        for step in steps:
            shown = answer["results"].get(step["id"], step.get("error"))
            step["shown"] = None if shown is None else format_result(shown)["result"]
    waves = max((step["wave"] for step in steps), default=0)
    return PageResponse("try/batch.html", {**values, "steps": steps, "waves": waves, "ran": runs, "draw": draw_plan})


def _call(request: PageRequest, jsonl: str, *, dry_run: bool) -> Any:
    return request.run_tool(request.person_caller, "gateway", "batch", {"jsonl": jsonl, "dry_run": dry_run})


def _describe(jsonl: str) -> dict[str, Any]:
    return {"jsonl": jsonl, "steps": [], "waves": 0, "ran": False, "mistakes": [], "error": None, "problem": ""}
