"""`stdio` and `serve`: MCP on standard input and output, and over HTTP."""

import errno
import os
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.cli import run_stdio
from tokonoma.cli.command import command, get_flags, open_app
from tokonoma.cli.output import print_note
from tokonoma.core.call import Principal
from tokonoma.core.errors import Denied, Unready
from tokonoma.core.log import log, set_level, writes_text

if TYPE_CHECKING:
    from tokonoma.server.http.app import HttpApp
    from tokonoma.server.http.asgi import AsgiApp
    from tokonoma.server.http.listen import WatchStore
    from tokonoma.telemetry.metrics import Metrics


@command("stdio", "database_url", "direct", "modules_off", "workers", "time_limit", "rate_limit", "log_level")
@click.option(
    "--as",
    "key",
    metavar="NAME",
    help="Use the rights of this key, client or person: a name, or `key:NAME`, `client:NAME`, `person:NAME`.",
)
@click.pass_context
def stdio(ctx: click.Context, key: str | None) -> None:
    """Serve MCP on standard input and output. Clients start this command.

    The caller is the owner, or with --as has the rights of that credential. Ends when the input ends.
    """
    ctx.exit(run_stdio({**get_flags(ctx), "as": key}))


@command(
    "serve", "host", "port", "database_url", "direct", "modules_off", "allowed_hosts", "allowed_origins",
    "trusted_proxies", "public_url", "oauth", "require_key", "metrics_public", "tls_cert", "tls_key", "workers",
    "time_limit", "rate_limit", "log_level", "log_format",
)  # fmt: skip
@click.pass_context
def serve(ctx: click.Context) -> None:
    """Serve MCP over HTTP at /mcp, with /health, /ready and /metrics.

    Until the first key is created, a caller on this machine is the owner and other machines are refused.
    """
    # Starlette and uvicorn: 70 ms that other commands do not need.
    from tokonoma.core.network import is_loopback
    from tokonoma.server.http.connections import ConnectionLimits
    from tokonoma.server.http.run import HttpServer, load_tls

    with open_app(ctx, serves=True) as app:
        settings = app.settings
        host = settings.get_text("host")
        if not is_loopback(host) and not app.authenticator.requires_key():
            raise Denied(
                f"{host} can be reached from other machines, and no key is required. "
                "Create one with `tokonoma keys create NAME`, or require keys with --require-key; then start again.",
                reason="no_credential",
            )
        tls = load_tls(settings.get_text("tls_cert"), settings.get_text("tls_key"))
        if writes_text() and settings.origins["log_level"] == "default":
            set_level("warning")  # a person reads along, and is told what to do instead
        app.warm(serves=True)
        endpoint = build_endpoint(app)
        listener = _open_listener(host, settings.get_int("port"))
        scheme, port = "http" if tls is None else "https", listener.getsockname()[1]
        limits = ConnectionLimits(
            connections=settings.get_int("max_connections"),
            header_seconds=settings.get_seconds("header_timeout"),
            idle_seconds=settings.get_seconds("idle_timeout"),
        )
        server = HttpServer(endpoint, tls=tls, on_started=lambda: _announce(app, scheme, host, port), limits=limits)
        server.run(sockets=[listener])
    if app.pool.is_busy:
        # A worker that has not noticed its cancellation would hold up the interpreter's end. Everything is closed.
        sys.stderr.flush()
        os._exit(0)


def build_endpoint(app: App) -> "HttpApp":
    """The HTTP application with the settings of this server."""
    from tokonoma.app.consents import receive_answer
    from tokonoma.core.network import is_loopback
    from tokonoma.server.http.app import HttpApp
    from tokonoma.server.http.asgi import HttpLimits
    from tokonoma.telemetry.metrics import Metrics

    settings, metrics = app.settings, Metrics(__version__)
    if not is_loopback(settings.get_text("host")):
        app.authenticator.always_require_key()
    app.observers.append(metrics.observe)
    app.journal.refusals.observers.append(metrics.observe_refusal)
    return HttpApp(
        app.dispatcher,
        # Checking host names protects a server without keys against web pages. A page has no key.
        host_names=_choose_hosts(app),
        origins=settings.get_names("allowed_origins"),
        limits=HttpLimits(
            body_seconds=settings.get_seconds("body_timeout"),
            bodies=settings.get_int("body_memory") * 2**20,
            streams=max(1, min(200, settings.get_int("max_connections") // 2)),  # the others are for requests
        ),
        ready=app.server_info.list_problems,
        metrics=partial(_render_metrics, app, metrics),
        metrics_public=settings.get_flag("metrics_public"),
        trusted_proxies=settings.get_names("trusted_proxies"),
        on_refused=app.journal.refusals.record,
        receive_answer=partial(receive_answer, app),
        public_url=settings.get_text("public_url"),
        offers_oauth=app.authenticator.recalls_oauth,
        web=partial(_load_web, app),
        watches=_open_watches(app),
    )


def _open_watches(app: App) -> "WatchStore | None":
    """On PostgreSQL other servers may stand behind the same address."""
    if app.database.kind == "sqlite":
        return None
    from tokonoma.auth.session_watches import SessionWatches

    return SessionWatches(app.database.reading, app.database.writing)


def _load_web(app: App) -> "AsgiApp":
    """OAuth and pages, with the first request for one of them."""
    from tokonoma.app.web import build_web_app

    return build_web_app(app)


def _choose_hosts(app: App) -> set[str] | None:
    """The Host names that this server answers to; None: any. Then it has no name of its own, and clients cannot sign
    in: a token is bound to the name under which a client knows the server."""
    from tokonoma.core.network import is_loopback
    from tokonoma.server.http.security import LOOPBACK

    settings = app.settings
    host, allowed = settings.get_text("host"), settings.get_names("allowed_hosts")
    if is_loopback(host) or allowed:
        return {*LOOPBACK, host, *allowed, *_list_own_host(app)}
    if not settings.get_text("public_url"):
        problem = f"{host} is open to other machines, and neither public_url nor allowed_hosts says by which name"
        if app.authenticator.offers_oauth("https://any"):
            log("warning", "oauth.off", reason=problem)
        app.authenticator.refuse_oauth(problem)
    return None


def _list_own_host(app: App) -> list[str]:
    """The name under which browsers know this server, if it has one."""
    from urllib.parse import urlsplit

    public = urlsplit(app.settings.get_text("public_url")).hostname
    return [] if public is None else [f"[{public}]" if ":" in public else public]


def _render_metrics(app: App, metrics: "Metrics", principal: Principal | None) -> bytes:
    """For the owner, and (None) where metrics are public, everything; for a key, the modules that it can see."""
    if principal is None or principal.kind == "owner":
        return metrics.render()
    visible = {module.name for module in app.registry.visible_modules(principal)}
    if "system" not in visible:
        raise Denied("Metrics are for the owner, and for keys that can use the module system.", reason="metrics")
    return metrics.render(visible)


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
    required, public_url = app.authenticator.requires_key(), app.settings.get_text("public_url")
    origin = public_url or f"{scheme}://{shown}:{port}"
    oauth = f"{origin}/mcp" if app.authenticator.offers_oauth(origin) else None
    if not writes_text():
        log("info", "serving", url=url, version=__version__, key_required=required, oauth=oauth)
        return
    from tokonoma.cli.welcome import list_welcome

    for line in list_welcome(app, url, oauth):
        print_note(line)
