"""MCP servers, for the pages that add, review and approve them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tokonoma.app import servers
from tokonoma.app.page_calls import open_page_write
from tokonoma.app.servers import NO_SECRETS
from tokonoma.app.upstreams import read_logs
from tokonoma.core.call import Caller
from tokonoma.core.errors import Unready
from tokonoma.core.module import Effect
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.server.web.access_parts import ServerFields, ServerParts
from tokonoma.services.identity import open_http
from tokonoma.upstream.login import probe
from tokonoma.upstream.secret_names import check_header, check_variable
from tokonoma.upstream.servers import UpstreamServer, read_server, read_servers

if TYPE_CHECKING:
    from tokonoma.app import App


def build_server_parts(app: "App") -> ServerParts:
    return ServerParts(
        list_servers=partial(_list_servers, app),
        find_server=partial(_find_server, app),
        add=partial(_add, app),
        review=partial(_review, app),
        approve=partial(_approve, app),
        restart=partial(_restart, app),
        remove=partial(_remove, app),
        read_logs=partial(read_logs, app),
    )


def _list_servers(app: "App") -> list[UpstreamServer]:
    with app.database.reading() as rows:
        return read_servers(rows)


def _find_server(app: "App", name: str) -> UpstreamServer:
    with app.database.reading() as rows:
        return read_server(rows, name)


def _add(app: "App", caller: Caller, fields: ServerFields) -> UpstreamServer:
    texts = {"folder": fields.folder, "summary": fields.summary}
    details = {name: text for name, text in texts.items() if text}
    new = servers.build_server(servers.check_name(app, fields.name), fields.target, details)
    namespace = normalize_namespace(fields.namespace or "/")
    for name, value in fields.values.items():
        (check_header if new.url else check_variable)(name, value)
    secrets = replace(NO_SECRETS, headers=fields.values) if new.url else replace(NO_SECRETS, env=fields.values)
    if new.url and _wants_consent(new.url, secrets.headers):
        message = f"{new.name} wants a consent, which this page cannot take."
        raise Unready(f"{message} Run `tokonoma servers add {new.name} {new.url}`.", reason="consent")
    found = servers.look_at(app, new, secrets)
    return servers.store_server(app, new, secrets, found, namespace, write=open_page_write(app, caller))


def _wants_consent(url: str, headers: Mapping[str, str]) -> bool:
    async def ask() -> bool:
        async with open_http() as http:
            return await probe(http, url, headers) is not None

    return asyncio.run(ask())


def _review(app: "App", caller: Caller, name: str) -> UpstreamServer:
    return servers.review_server(app, name, open_page_write(app, caller))[0]


def _approve(
    app: "App", caller: Caller, name: str, tools: Sequence[str], effects: Mapping[str, Effect]
) -> UpstreamServer:
    return servers.approve_tools(app, name, tools, effects, open_page_write(app, caller))


def _restart(app: "App", caller: Caller, name: str) -> None:
    servers.restart_server(app, name, open_page_write(app, caller))


def _remove(app: "App", caller: Caller, name: str) -> None:
    servers.delete_server(app, name, open_page_write(app, caller))
