"""The gateway as a module: the three meta-tools, joined to the house by functions that are handed in."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, NoReturn

from pydantic import Field

from tokonoma.core.call import Call
from tokonoma.core.deferred import Deferred
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Module, Tool, ToolInfo
from tokonoma.core.tracing import format_traceparent
from tokonoma.gateway.batch import Batch, DescribeFailure, SubmitCall
from tokonoma.gateway.idempotency import TABLES, IdempotencyKey, OpenTransaction, build_key, claim_key, save_result
from tokonoma.gateway.jsonl import BatchLimits
from tokonoma.gateway.plan import BatchPlan, parse_plan
from tokonoma.gateway.results import BatchResult, describe_plan
from tokonoma.gateway.schema import get_module_schema
from tokonoma.gateway.step_parser import CheckParams

LIMITS = BatchLimits()
_LEASE = 60.0  # seconds after its time limit in which a batch must have stored its answer


def build_gateway(
    submit: SubmitCall, check: CheckParams, failure: DescribeFailure, writing: OpenTransaction, at_once: int = 4
) -> Module:
    """`check(entry, params)` refuses bad parameters; `failure(call, error)` words an error; `at_once` is per module."""
    last = LIMITS.seconds + _LEASE  # the batch ends itself before the pipeline would
    return Module(
        name="gateway",
        summary="Reach every module through three tools.",
        tools=(
            Tool("get_module_schema", get_module_schema, "Tools of a module", listed="get_module_schema"),
            Tool("call", build_call_tool(submit), "Call one tool", effect="destroy", listed="call", time_limit=last),
            Tool(
                "batch",
                build_batch_tool(submit, check, failure, writing, at_once),
                "Call many tools",
                effect="destroy",
                listed="batch",
                time_limit=last,
            ),
        ),
        tables=TABLES,
    )


def build_call_tool(submit: SubmitCall) -> Callable[..., Deferred[dict[str, Any]]]:
    def call(
        desk: Desk,
        module: Annotated[str, Field(description="such as system")],
        tool_name: Annotated[str, Field(description="such as status")],
        params: Annotated[dict[str, Any] | None, Field(description="as its signature says")] = None,
    ) -> Deferred[dict[str, Any]]:
        """Run one tool of a module. Names and parameters come from get_module_schema; a wrong one is answered with
        the nearest names or the signature, and nothing is run."""
        entry = desk.server.find_tool(module, tool_name, desk.principal)
        outer, later = desk.call, Deferred[dict[str, Any]]()
        inner = Call(
            entry.module,
            entry.name,
            params or {},
            outer.caller,
            trace_parent=format_traceparent(outer.trace_id, outer.span_id),
            progress=outer.progress,
            parent=outer.request_id,
            bytes_in=outer.bytes_in,
        )
        outer.cancel_token.on_cancel(lambda: inner.cancel_token.cancel(outer.cancel_token.reason))
        submit(inner, lambda call, error: later.resolve(call.value, error))
        return later

    return call


def build_batch_tool(
    submit: SubmitCall, check: CheckParams, failure: DescribeFailure, writing: OpenTransaction, at_once: int
) -> Callable[..., Deferred[BatchResult]]:
    def batch(
        desk: Desk,
        jsonl: Annotated[str, Field(description="one JSON object a line")],
        dry_run: Annotated[bool, Field(description="check and show the plan only")] = False,
        time_limit: Annotated[
            float | None, Field(gt=0, le=LIMITS.seconds, description="seconds for all; default 600")
        ] = None,
        idempotency_key: Annotated[
            str | None,
            Field(min_length=1, max_length=200, description="asked again within 24 h: the first answer, nothing runs"),
        ] = None,
    ) -> Deferred[BatchResult]:
        """Run up to 100 tool calls in one go, and keep what lies between out of your context. Each line is a step:
        {"id":"a","module":"m","tool":"t","params":{}}, optionally "after":["x"], "output":true, "fields":["items.id"],
        "time_limit":5. "${a.items[0].id}" in params reads step a's result and waits for a; "$${" is a literal "${".
        Steps that wait for nothing run side by side. Only output:true results, cut down to their fields, and all
        errors come back. Every line is checked before any runs; steps that need a failed one are skipped."""
        plan = parse_plan(jsonl, partial(_find_tool, desk), check, LIMITS)
        if dry_run:
            return _resolve_at_once(describe_plan(plan))
        seconds = time_limit or LIMITS.seconds
        key = build_key(desk.principal, idempotency_key, jsonl, desk.call.request_id) if idempotency_key else None
        if key is not None:
            earlier = claim_key(writing, key, seconds + _LEASE, desk.call.cancel_token)
            if earlier is not None:
                return _resolve_at_once(earlier)
        return _started(plan, desk, seconds, key)

    def _started(plan: BatchPlan, desk: Desk, seconds: float, key: IdempotencyKey | None) -> Deferred[BatchResult]:
        kept = partial(_save_answer, writing, key)
        return Batch(plan, desk, submit, failure, kept, at_once=at_once, seconds=seconds).start()

    return batch


def _find_tool(desk: Desk, module: str, tool: str) -> ToolInfo:
    return desk.server.find_tool(module, tool, desk.principal)


def _resolve_at_once(answer: BatchResult) -> Deferred[BatchResult]:
    later: Deferred[BatchResult] = Deferred()
    later.resolve(answer)
    return later


def _save_answer(writing: OpenTransaction, key: IdempotencyKey | None, answer: BatchResult) -> None:
    """The steps have run: if their answer cannot be stored, the caller still gets it, and the claim still holds."""
    if key is None:
        return
    try:
        save_result(writing, key, answer)
    except Refusal as error:
        log("error", "batch_key", request_id=key.request_id, reason=error.reason)


def _refuse_unbound(*_: Any) -> NoReturn:
    raise Unready("This gateway is not joined to a house.")


def _refuse_failure(call: Call, error: BaseException) -> Mapping[str, Any]:
    _refuse_unbound(call, error)


MODULE = build_gateway(_refuse_unbound, _refuse_unbound, _refuse_failure, _refuse_unbound)
"""The gateway as the catalogue describes it. A running house makes its own with `gateway_module`."""
