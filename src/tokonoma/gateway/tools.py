"""The gateway as a module: the three meta-tools, joined to the house by functions that are handed in."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, NoReturn

from pydantic import Field

from tokonoma.core.call import Call
from tokonoma.core.deferred import Later
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Entry, Module, Tool
from tokonoma.core.tracing import traceparent
from tokonoma.gateway.batch import Batch, Failure, Submit
from tokonoma.gateway.idempotency import TABLES, Key, Writing, claim, keep, key_of
from tokonoma.gateway.jsonl import Limits
from tokonoma.gateway.plan import Plan, read_plan
from tokonoma.gateway.results import BatchAnswer, planned
from tokonoma.gateway.schema import get_module_schema
from tokonoma.gateway.step_parser import Check

LIMITS = Limits()
_LEASE = 60.0  # seconds after its time limit in which a batch must have stored its answer


def gateway_module(submit: Submit, check: Check, failure: Failure, writing: Writing, at_once: int = 4) -> Module:
    """`check(entry, params)` refuses bad parameters; `failure(call, error)` words an error; `at_once` is per module."""
    last = LIMITS.seconds + _LEASE  # the batch ends itself before the pipeline would
    return Module(
        name="gateway",
        summary="Reach every module through three tools.",
        tools=(
            Tool("get_module_schema", get_module_schema, "Tools of a module", listed="get_module_schema"),
            Tool("call", call_tool(submit), "Call one tool", effect="destroy", listed="call", time_limit=last),
            Tool(
                "batch",
                batch_tool(submit, check, failure, writing, at_once),
                "Call many tools",
                effect="destroy",
                listed="batch",
                time_limit=last,
            ),
        ),
        tables=TABLES,
    )


def call_tool(submit: Submit) -> Callable[..., Later[dict[str, Any]]]:
    def call(
        desk: Desk,
        module: Annotated[str, Field(description="such as system")],
        tool_name: Annotated[str, Field(description="such as status")],
        params: Annotated[dict[str, Any] | None, Field(description="as its signature says")] = None,
    ) -> Later[dict[str, Any]]:
        """Run one tool of a module. Names and parameters come from get_module_schema; a wrong one is answered with
        the nearest names or the signature, and nothing is run."""
        entry = desk.house.entry(module, tool_name, desk.principal)
        outer, later = desk.call, Later[dict[str, Any]]()
        inner = Call(
            entry.module,
            entry.name,
            params or {},
            outer.caller,
            trace_parent=traceparent(outer.trace_id, outer.span_id),
            progress=outer.progress,
            parent=outer.request_id,
            bytes_in=outer.bytes_in,
        )
        outer.stop.hook(lambda: inner.stop.set(outer.stop.reason))
        submit(inner, lambda call, error: later.settle(call.value, error))
        return later

    return call


def batch_tool(
    submit: Submit, check: Check, failure: Failure, writing: Writing, at_once: int
) -> Callable[..., Later[BatchAnswer]]:
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
    ) -> Later[BatchAnswer]:
        """Run up to 100 tool calls in one go, and keep what lies between out of your context. Each line is a step:
        {"id":"a","module":"m","tool":"t","params":{}}, optionally "after":["x"], "output":true, "fields":["items.id"],
        "time_limit":5. "${a.items[0].id}" in params reads step a's result and waits for a; "$${" is a literal "${".
        Steps that wait for nothing run side by side. Only output:true results, cut down to their fields, and all
        errors come back. Every line is checked before any runs; steps that need a failed one are skipped."""
        plan = read_plan(jsonl, partial(_entry, desk), check, LIMITS)
        if dry_run:
            return _at_once(planned(plan))
        seconds = time_limit or LIMITS.seconds
        key = key_of(desk.principal, idempotency_key, jsonl, desk.call.request_id) if idempotency_key else None
        if key is not None:
            earlier = claim(writing, key, seconds + _LEASE, desk.call.stop)
            if earlier is not None:
                return _at_once(earlier)
        return _started(plan, desk, seconds, key)

    def _started(plan: Plan, desk: Desk, seconds: float, key: Key | None) -> Later[BatchAnswer]:
        kept = partial(_kept, writing, key)
        return Batch(plan, desk, submit, failure, kept, at_once=at_once, seconds=seconds).start()

    return batch


def _entry(desk: Desk, module: str, tool: str) -> Entry:
    return desk.house.entry(module, tool, desk.principal)


def _at_once(answer: BatchAnswer) -> Later[BatchAnswer]:
    later: Later[BatchAnswer] = Later()
    later.settle(answer)
    return later


def _kept(writing: Writing, key: Key | None, answer: BatchAnswer) -> None:
    """The steps have run: if their answer cannot be stored, the caller still gets it, and the claim still holds."""
    if key is None:
        return
    try:
        keep(writing, key, answer)
    except Refusal as error:
        log("error", "batch_key", request_id=key.request_id, reason=error.reason)


def _apart(*_: Any) -> NoReturn:
    raise Unready("This gateway is not joined to a house.")


def _no_failure(call: Call, error: BaseException) -> Mapping[str, Any]:
    _apart(call, error)


MODULE = gateway_module(_apart, _apart, _no_failure, _apart)
"""The gateway as the catalogue describes it. A running house makes its own with `gateway_module`."""
