"""`stdio` and `serve`: MCP on standard input and output, and over HTTP."""

import errno
import os
import socket
import sys

import click

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.cli import run_stdio
from tokonoma.cli.command import command, get_flags, open_app
from tokonoma.cli.output import print_note
from tokonoma.core.errors import Denied, Unready
from tokonoma.core.log import log


@command("stdio", "database_url", "direct", "modules_off", "workers", "time_limit", "rate_limit", "log_level")
@click.option("--as", "key", metavar="NAME", help="Use the rights of the API key with this name or id.")
@click.pass_context
def stdio(ctx: click.Context, key: str | None) -> None:
    """Serve MCP on standard input and output. Clients start this command.

    The caller is the owner, or with --as has the rights of that key. Ends when the input ends.
    """
    ctx.exit(run_stdio({**get_flags(ctx), "as": key}))


@command(
    "serve", "host", "port", "database_url", "direct", "modules_off", "allowed_hosts", "allowed_origins", "require_key",
    "tls_cert", "tls_key", "workers", "time_limit", "rate_limit", "log_level",
)  # fmt: skip
@click.pass_context
def serve(ctx: click.Context) -> None:
    """Serve MCP over HTTP at /mcp, with /health, /ready and /metrics.

    Until the first key is created, a caller on this machine is the owner and other machines are refused.
    """
    # Starlette and uvicorn: 70 ms that other commands do not need.
    from tokonoma.auth.authenticate import is_loopback
    from tokonoma.server.http.app import HttpApp
    from tokonoma.server.http.run import HttpServer, load_tls
    from tokonoma.server.http.security import LOOPBACK
    from tokonoma.telemetry.metrics import Metrics

    with open_app(ctx, serves=True) as app:
        settings, metrics = app.settings, Metrics(__version__)
        host, allowed = settings.get_text("host"), settings.get_names("allowed_hosts")
        if not is_loopback(host) and not app.authenticator.requires_key():
            raise Denied(
                f"{host} can be reached from other machines, and no key is required. "
                "Create one with `tokonoma keys create NAME`, or require keys with --require-key; then start again.",
                reason="no_credential",
            )
        tls = load_tls(settings.get_text("tls_cert"), settings.get_text("tls_key"))
        app.warm(serves=True)
        app.observers.append(metrics.observe)
        endpoint = HttpApp(
            app.dispatcher,
            # Checking host names protects a server without keys against web pages. A page has no key.
            host_names=None if not is_loopback(host) and not allowed else {*LOOPBACK, host, *allowed},
            origins=settings.get_names("allowed_origins"),
            ready=lambda: [
                f"{name}: {part['says']}" for name, part in app.server_info.health().items() if not part["ok"]
            ],
            metrics=metrics.render,
        )
        listener = _open_listener(host, settings.get_int("port"))
        scheme, port = "http" if tls is None else "https", listener.getsockname()[1]
        server = HttpServer(endpoint, tls=tls, on_started=lambda: _announce(app, scheme, host, port))
        server.run(sockets=[listener])
    if app.pool.is_busy:
        # A worker that has not noticed its cancellation would hold up the interpreter's end. Everything is closed.
        sys.stderr.flush()
        os._exit(0)


def _open_listener(host: str, port: int) -> socket.socket:
    from tokonoma.server.http.run import listen

    try:
        return listen(host, port)
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: "it is already in use. Choose another with --port, or stop the program that uses it",
            errno.EACCES: "this user is not allowed to open it. Choose a port above 1023 with --port",
            errno.EADDRNOTAVAIL: "this machine does not have that address. See --host",
        }
        reason = reasons.get(error.errno or 0, f"{error.strerror or error}. See --host and --port")
        raise Unready(f"Cannot listen on {host}:{port}: {reason}.", reason="listen") from error


def _announce(app: App, scheme: str, host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    url = f"{scheme}://{shown}:{port}/mcp"
    required = app.authenticator.requires_key()
    if not sys.stderr.isatty():
        log("info", "serving", url=url, version=__version__, key_required=required)
        return
    who = "every caller needs a key" if required else "callers on this machine need no key"
    print_note(f"tokonoma {__version__} serves {url} ({who}). Ctrl-C stops it.")
