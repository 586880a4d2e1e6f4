"""The credentials of a server at an address: fixed headers, and tokens that are renewed through the keyring."""

from collections.abc import Mapping

from tokonoma.services.credentials import Credentials, build_authorization
from tokonoma.services.refresh import TokenRefresher


class AccountAuth:
    """Tokens are renewed once for all processes, as those of other services."""

    def __init__(self, credentials: Credentials | None, headers: Mapping[str, str], refresher: TokenRefresher) -> None:
        self._credentials, self._headers, self._refresher = credentials, dict(headers), refresher

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
