"""The command line. `stdio` starts before anything heavy is imported, because every client waits for its start."""

import gc
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokonoma.config.settings import SETTINGS, check_module_names
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.os_errors import describe_os_error
from tokonoma.core.printable import escape_controls

if TYPE_CHECKING:
    from tokonoma.app import App

SWITCHES = frozenset(setting.name for setting in SETTINGS if isinstance(setting.default, bool))
TAKES_VALUE = frozenset(setting.name for setting in SETTINGS) - SWITCHES | {"home", "as"}

GC_THRESHOLDS = (20_000, 20, 50)
"""A call leaves hardly any reference cycles. With the thresholds of Python, looking for them takes a tenth of the time
of a search, and of a start."""

_CLOSE_SECONDS = 0.4
"""For workers that `serve` did not wait for: end of input ends the process within two seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script. Everything but `stdio` goes through click, which ends the process itself."""
    gc.set_threshold(*GC_THRESHOLDS)
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # A process may be started without any standard input: then there is no stream at all.
    at_terminal = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    flags = parse_stdio_flags(arguments, piped=not at_terminal)
    if flags is not None:
        return run_stdio(flags)
    from tokonoma.cli.program import program

    program.main(args=arguments, prog_name="tokonoma")
    return 0


def parse_stdio_flags(arguments: Sequence[str], *, piped: bool) -> dict[str, str | bool] | None:
    """Return the flags of a plain `stdio` start, or None to leave the arguments to click.

    Importing click alone would double the time of the start. Without arguments `tokonoma` means `stdio` if its input is
    a pipe, as it is for a client that starts it.
    """
    flags: dict[str, str | bool] = {}
    words: list[str] = []
    rest = iter(arguments)
    for each in rest:
        if not each.startswith("--"):
            words.append(each)
            continue
        key, equals, value = each[2:].partition("=")
        name = key.replace("-", "_")
        switch = name.removeprefix("no_")
        if switch in SWITCHES and not equals:
            flags[switch] = name == switch
        elif name in TAKES_VALUE and (equals or (value := next(rest, ""))):
            flags[name] = value
        else:
            return None
    return flags if words == ["stdio"] or (not words and piped) else None


def run_stdio(flags: Mapping[str, Any]) -> int:
    """Serve MCP on standard input and output until the input ends; return the exit code: 1 if a request that was
    accepted was not answered, or only with its cancellation."""
    from tokonoma.app import App
    from tokonoma.core.call import Caller
    from tokonoma.server.stdio import claim_streams, serve

    caller = Caller("stdio", key=flags.get("as"))
    try:
        app = App(flags)
        check_module_names(app.settings, app.registry.list_names())
        app.identify(caller)  # a key that does not exist is an error now, not with the first request
    except (Refusal, OSError) as error:
        says = error.message if isinstance(error, Refusal) else describe_os_error(error)
        print(f"tokonoma: {escape_controls(says)}", file=sys.stderr)
        return 1
    if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        print("tokonoma waits for MCP messages. Clients start it: see `tokonoma install --help`.", file=sys.stderr)
    stdin, stdout = claim_streams()
    warm = threading.Thread(target=_warm, args=(app,), name="warm", daemon=True)
    try:
        answered = serve(app.dispatcher, stdin, stdout, caller=caller, after_list=warm.start)
    finally:
        app.close(_CLOSE_SECONDS)
    return 0 if answered else 1


def _warm(app: "App") -> None:
    """Open the store for the first call, after the list of tools was sent."""
    try:
        app.warm()
    except Refusal as error:  # the first call fails with the same error
        log("warning", "warm", reason=error.reason or error.kind)
