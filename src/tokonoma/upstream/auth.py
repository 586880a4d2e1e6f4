"""The credentials of a server at an address: fixed headers, and tokens that are renewed through the keyring."""

import re
import shlex
from collections.abc import Mapping, Sequence

from tokonoma.core.errors import Denied, Refusal, Unavailable
from tokonoma.services.credentials import Credentials, build_authorization
from tokonoma.services.discovery import parse_challenge
from tokonoma.services.refresh import TokenRefresher
from tokonoma.upstream.servers import MAIN_ACCOUNT, UpstreamServer, find_short_name

_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,100}")  # RFC 6749: a server's own words are shown to the owner
_MAX_SCOPES = 20


class AccountAuth:
    """Tokens are renewed once for all processes, as those of other services."""

    def __init__(
        self,
        server: UpstreamServer,
        credentials: Credentials | None,
        headers: Mapping[str, str],
        refresher: TokenRefresher,
    ) -> None:
        self._server, self._credentials = server, credentials
        self._headers, self._refresher = dict(headers), refresher

    async def get_headers(self) -> Mapping[str, str]:
        held = self._credentials
        if held is None or held.account.kind != "oauth":
            return self._headers
        self._credentials = held = await self._refresher.prepare(held)
        return {**self._headers, "Authorization": build_authorization(held)}

    async def renew(self, status: int, challenge: str) -> bool:
        """After a 401 other tokens are tried, once. A 403 means that the consent does not reach so far."""
        held = self._credentials
        if held is None or held.account.kind != "oauth" or status != 401:
            return False
        newer = await self._refresher.renew(held)
        self._credentials = newer
        return newer.account.generation != held.account.generation

    def explain(self, status: int, challenge: str) -> Refusal:
        """What the owner has to do: no tool can widen a consent, or get a key, by itself."""
        name, told = self._server.name, parse_challenge(challenge)
        if status == 403 and told.error == "insufficient_scope":
            missing = [each for each in told.scopes if _SCOPE.fullmatch(each)][:_MAX_SCOPES]
            named = f" ({', '.join(missing)})" if missing else ""
            message = f"The MCP server {name} wants more than its account was given{named}."
            return Denied(
                f"{message} Ask for it with `{self._build_command(missing)}`.", reason="scope", scopes=missing
            )
        if status == 403:
            message = f"The MCP server {name} does not allow this to its account (status 403)."
            return Denied(f"{message} `{self._build_command()}` signs in as another one.", reason="forbidden")
        message = f"The MCP server {name} does not accept the credentials that it was given."
        return Unavailable(f"{message} `{self._build_command()}` gives others.", reason="token_invalid")

    def _build_command(self, more: Sequence[str] = ()) -> str:
        held = self._credentials.account if self._credentials is not None else None
        server, scopes = self._server, list[str]()
        if server.created_at:
            words = ["account", server.name, MAIN_ACCOUNT if held is None else find_short_name(server.name, held.name)]
        else:  # it is being added
            words = ["add", server.name, server.url]
        if held is not None and held.namespace != "/":
            words += ["--namespace", held.namespace]
        if more and held is not None:  # a consent replaces the one before: what that held is asked for again
            scopes += held.details.get("scopes", ())
        for scope in dict.fromkeys((*scopes, *more)):
            words += ["--scope", scope]
        return shlex.join(["tokonoma", "servers", *words])
