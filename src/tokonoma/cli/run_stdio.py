"""MCP on this process's own streams, until they end."""

import sys
import threading
from collections.abc import Mapping
from typing import Any

from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.server.stdio import claim_streams, serve

_CLOSE_SECONDS = 0.4
"""Seconds for workers that `serve` could not wait for: end of input ends the process within two seconds."""


def run_stdio(flags: Mapping[str, Any]) -> int:
    """Serve stdio; returns the exit code."""
    try:
        app = App(flags)
    except Refusal as error:
        print(f"tokonoma: {error.message}", file=sys.stderr)
        return 1
    if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        print("tokonoma speaks MCP here; clients start it themselves. See `tokonoma install --help`.", file=sys.stderr)
    stdin, stdout = claim_streams()
    try:
        caller = Caller("stdio", key=flags.get("as"))
        serve(app.dispatcher, stdin, stdout, caller=caller, after_list=lambda: _warm_in_background(app))
    finally:
        app.close(_CLOSE_SECONDS)
    return 0


def _warm_in_background(app: App) -> None:
    """The list is out, and nobody waits: open the store for the first call."""
    threading.Thread(target=_warm, args=(app,), name="warm", daemon=True).start()


def _warm(app: App) -> None:
    try:
        app.warm()
    except Refusal as error:  # the first call meets the same refusal and answers with it
        log("warning", "warm", reason=error.reason or error.kind)
