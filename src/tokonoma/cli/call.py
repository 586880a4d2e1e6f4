"""`call` and `batch`: tools from the command line, through the same pipeline as for every other caller.

The other commands call tools with `call_tool`, and tools that clients cannot call with `call_owner_tool`.
"""

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import click
import orjson

from tokonoma.app import App
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import EXIT_CODE, cancel_on_interrupt, take_interrupt
from tokonoma.cli.output import print_json, print_note
from tokonoma.core.call import Call, Caller
from tokonoma.core.errors import Conflict, Invalid, Limited, Refusal
from tokonoma.core.printable import escape_json
from tokonoma.server.mcp.interface import ToolRequest, ToolResult

T = TypeVar("T")

_SIGNAL_SECONDS = 0.5  # after which a signal is noticed at the latest


@command("call", "database_url")
@click.argument("module")
@click.argument("tool")
@click.argument("params", default="{}", metavar="[JSON]")
@pass_app
def call(app: App, module: str, tool: str, params: str) -> None:
    """Run one tool and print its value as JSON.

    JSON is an object of parameters, `@FILE` to read it from a file, or `-` to read it from standard input. An error is
    printed to stderr as JSON, and the exit code is 1.
    """
    _print_result(send_request(app, "call", {"module": module, "tool_name": tool, "params": _parse_object(params)}))


@command("batch", "database_url")
@click.argument("file", metavar="FILE|-")
@click.option("--dry-run", is_flag=True, help="Check every line and print the plan, but run nothing.")
@click.option("--idempotency-key", help="Return the first result again if this key was used within a day.")
@click.option("--total-time", "time_limit", type=float, metavar="SECONDS", help="Limit for all steps, at most 600.")
@pass_app
def batch(app: App, file: str, dry_run: bool, **options: Any) -> None:
    """Run the steps of a JSONL file, one JSON object per line.

    Prints the results of steps with "output": true, and all errors. The exit code is 1 if a step failed.
    """
    arguments = {"jsonl": read_text(file), **({"dry_run": True} if dry_run else {})}
    arguments |= {name: value for name, value in options.items() if value is not None}
    value = _print_result(send_request(app, "batch", arguments))
    sys.exit(0 if value["ok"] else 1)


def read_text(file: str) -> str:
    """Read a file, or standard input for `-`."""
    try:
        return sys.stdin.buffer.read().decode() if file == "-" else Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{file}: this is not UTF-8 text ({error.reason}).") from None


def _parse_object(text: str) -> dict[str, Any]:
    text = read_text(text.removeprefix("@")) if text == "-" or text.startswith("@") else text
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise click.BadParameter(f"This is not JSON ({place}: {error.msg}).", param_hint="JSON") from None
    if not isinstance(value, dict):
        raise click.BadParameter("The parameters must be a JSON object, like '{\"limit\": 5}'.", param_hint="JSON")
    return value  # pyright: ignore[reportUnknownVariableType]


def _print_result(result: ToolResult) -> dict[str, Any]:
    if result.is_error:
        print_note(escape_json(result.text))
        sys.exit(EXIT_CODE if take_interrupt() else 1)
    value: dict[str, Any] = orjson.loads(result.text)
    print_json(value)
    return value


def send_request(app: App, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Run one of the three meta-tools. Ctrl-C cancels the call; its result then says so."""
    results: SimpleQueue[ToolResult] = SimpleQueue()
    size = _measure_size(arguments)
    progress = _print_progress if sys.stderr.isatty() else None
    request = ToolRequest(name, arguments, Caller("cli"), progress=progress, bytes_in=size)
    with cancel_on_interrupt() as interrupt:
        token = app.dispatcher.start_call(request, results.put)
        interrupt.on_cancel(lambda: token.cancel("cancelled"))
        return _receive(results)


def _measure_size(params: Mapping[str, Any]) -> int:
    try:
        return len(orjson.dumps(params))
    except orjson.JSONEncodeError:  # half a character: the bytes of an argument that is not UTF-8
        raise Invalid("An argument of the command is not UTF-8 text.") from None


def _receive(results: "SimpleQueue[T]") -> T:
    while True:
        # A signal that comes just before the thread blocks would wait for the answer, too.
        with suppress(Empty):
            return results.get(timeout=_SIGNAL_SECONDS)


def _print_progress(done: float, total: float | None, message: str | None) -> None:
    share = f"{done:g}/{total:g}" if total else f"{done:g}"
    print_note(f"… {share} {message or ''}".rstrip())


def call_tool(app: App, module: str, tool: str, **params: Any) -> Any:
    """Return the value of a tool; an error of the tool becomes a refusal with the same message."""
    params = {name: value for name, value in params.items() if value is not None}
    result = send_request(app, "call", {"module": module, "tool_name": tool, "params": params})
    value = orjson.loads(result.text)
    if result.is_error and take_interrupt():
        raise KeyboardInterrupt
    if result.is_error:
        raise _to_refusal(value["error"])
    return value


def _to_refusal(error: Mapping[str, Any]) -> Refusal:
    details: dict[str, Any] = error.get("data", error).get("details", {})
    lines: list[str] = [error["message"]]
    lines += [details["pointer"]] if "pointer" in details else []
    for problem in details.get("problems", ()):
        if "line" in problem:
            place = f"line {problem['line']}, column {problem['column']}"
            lines.append(f"  {place}: {problem['key']}: {problem['message']}")
    if details.get("constraint") == "revision":
        return Conflict("\n".join(lines), **details)
    return Invalid("\n".join(lines))


def call_owner_tool(app: App, module: str, tool: str, params: Mapping[str, Any]) -> Any:
    """Return the value of a tool that only the owner can call. Waits while a rate limit applies.

    Ctrl-C cancels it. If it was already complete, its value is returned, and the next call is not made.
    """
    if take_interrupt():
        raise KeyboardInterrupt
    size = _measure_size(params)
    while True:
        info = app.registry.find_owner_tool(module, tool)
        call = Call(module, tool, params, Caller("cli"), tool_info=info, bytes_in=size)
        results: SimpleQueue[BaseException | None] = SimpleQueue()
        with cancel_on_interrupt() as interrupt:
            app.calls.submit(call, lambda _, error: results.put(error))  # noqa: B023 - waited for in this round
            interrupt.on_cancel(lambda: call.cancel_token.cancel("cancelled"))  # noqa: B023
            error = _receive(results)
        if error is None:
            return call.value
        if take_interrupt():
            raise KeyboardInterrupt from error
        if not isinstance(error, Limited):
            raise error
        threading.Event().wait(float(error.details.get("retry_after", 1)))
