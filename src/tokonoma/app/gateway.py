"""The gateway of a process."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from tokonoma.core.call import Call
from tokonoma.core.module import Module
from tokonoma.gateway.plan import BatchPlan
from tokonoma.gateway.references import expand
from tokonoma.gateway.tools import build_gateway
from tokonoma.pipeline.permit import StepRequest
from tokonoma.server.results import describe_error

if TYPE_CHECKING:
    from tokonoma.app import App


def load_gateway(app: "App") -> Module:
    """Its steps take the same way as every other call."""
    return build_gateway(
        submit=app.calls.submit,
        check=app.registry.parse_params,
        failure=partial(describe_error, app.registry.error_codes),
        writing=app.database.writing,
        max_answer=app.settings.get_int("max_answer_bytes"),
        judge=partial(_judge_plan, app),
    )


def _judge_plan(app: "App", call: Call, plan: BatchPlan, /, *, dry_run: bool) -> Mapping[str, str]:
    steps = [
        StepRequest(step.line, step.id, step.tool, None if step.references else expand(step.params, {}))
        for step in plan.steps
    ]
    return app.gate().check_steps(call, steps, dry_run=dry_run)
