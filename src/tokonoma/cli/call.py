"""`call` and `batch`: tools from the command line, through the same pipeline as every other caller."""

import sys
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click
import orjson

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.flags import command
from tokonoma.cli.session import open_app
from tokonoma.core.call import Caller, Progress
from tokonoma.core.errors import Invalid
from tokonoma.server.mcp.interface import ToolRequest, ToolResult


@command("call", "database_url")
@click.argument("module")
@click.argument("tool")
@click.argument("params", default="{}", metavar="[JSON]")
@click.pass_context
def call(ctx: click.Context, module: str, tool: str, params: str) -> None:
    """Run one tool and print its value as JSON.

    JSON is an object of parameters, `@FILE` to read it from a file, or `-` to read it from standard input. A failure is
    printed on stderr as JSON, and the exit code is 1.
    """
    asked = {"module": module, "tool_name": tool, "params": _parse_object(params)}
    with open_app(ctx) as app:
        answer = send_request(app, "call", asked)
    _print_result(ctx, answer)


@command("batch", "database_url")
@click.argument("file", metavar="FILE|-")
@click.option("--dry-run", is_flag=True, help="Check every line, show the plan and run nothing.")
@click.option("--idempotency-key", help="Asked again with the same key within a day: the first answer, nothing runs.")
@click.option("--total-time", "total_time", type=float, metavar="SECONDS", help="For all steps together, at most 600.")
@click.pass_context
def batch(ctx: click.Context, file: str, dry_run: bool, idempotency_key: str | None, total_time: float | None) -> None:
    """Run the steps of a JSONL file, one JSON object a line.

    Prints what the steps with "output": true gave, and every error. The exit code is 1 if any step did not end well.
    """
    asked: dict[str, Any] = {"jsonl": _read_text(f"@{file}" if file != "-" else "-")}
    if dry_run:
        asked["dry_run"] = True
    if idempotency_key is not None:
        asked["idempotency_key"] = idempotency_key
    if total_time is not None:
        asked["time_limit"] = total_time
    with open_app(ctx) as app:
        answer = send_request(app, "batch", asked)
    told = _print_result(ctx, answer)
    ctx.exit(0 if told["ok"] else 1)


def call_tool(app: App, module: str, tool: str, **params: Any) -> Any:
    """A tool's value, for a command of its module's own; a refusal says what the tool says."""
    given = {name: value for name, value in params.items() if value is not None}
    answer = send_request(app, "call", {"module": module, "tool_name": tool, "params": given})
    told = orjson.loads(answer.content[0]["text"])
    if answer.is_error:
        raise Invalid(told["error"]["message"])
    return told


def send_request(app: App, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """One order to the house, and its answer. Ctrl-C asks the call to end; its answer then says so."""
    answers: SimpleQueue[ToolResult] = SimpleQueue()
    size = len(orjson.dumps(arguments))
    order = ToolRequest(name, arguments, Caller("cli"), progress=_build_progress(), bytes_in=size)
    stop = app.dispatcher.start_call(order, answers.put)
    while True:
        try:
            return answers.get()
        except KeyboardInterrupt:
            stop.cancel("cancelled")


def _build_progress() -> Progress | None:
    if not sys.stderr.isatty():
        return None

    def report(done: float, total: float | None, message: str | None) -> None:
        share = f"{done:g}/{total:g}" if total else f"{done:g}"
        show.print_note(f"… {share} {message or ''}".rstrip())

    return report


def _print_result(ctx: click.Context, answer: ToolResult) -> dict[str, Any]:
    text: str = answer.content[0]["text"]
    if answer.is_error:
        show.print_note(text)
        ctx.exit(1)
    told: dict[str, Any] = orjson.loads(text)
    show.print_json(told)
    return told


def _parse_object(text: str) -> dict[str, Any]:
    try:
        found: Any = orjson.loads(_read_text(text))
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise click.BadParameter(f"This is not JSON ({place}: {error.msg}).", param_hint="JSON") from None
    if not isinstance(found, dict):
        raise click.BadParameter("The parameters must be a JSON object, like '{\"limit\": 5}'.", param_hint="JSON")
    return found  # pyright: ignore[reportUnknownVariableType]


def _read_text(source: str) -> str:
    """The text itself, or what `-` and `@file` stand for."""
    try:
        if source == "-":
            return sys.stdin.buffer.read().decode()
        return Path(source[1:]).read_text(encoding="utf-8") if source.startswith("@") else source
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{source.lstrip('@')}: this is not UTF-8 text ({error.reason}).") from None
