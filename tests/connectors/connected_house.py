"""A house whose seven services are connected to their stand-ins. Pauses pass at once, by a clock of their own."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from connectors.standins import SERVICES, Standin, start_standin
from policy.houses import key
from services.conftest import QuickTime
from talk import Lines

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.app.keyring import open_keyring
from tokonoma.core.call import Caller
from tokonoma.core.clock import now
from tokonoma.core.providers import find_provider
from tokonoma.keyring.accounts import Account, NewAccount, list_accounts, replace_account
from tokonoma.server.mcp.session import StdioSession
from tokonoma.services.connect import ServiceConnector

Json = dict[str, Any]


class FullLines(Lines):
    """A caller that may use all tools, also those of the tier `extra`."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        key(app, "all", extras=["*"])
        self._session = StdioSession(app.dispatcher, Caller("stdio", key="all"), self._take)


class ConnectedHouse:
    """The house as a client sees it. Of each service the account is called as the service."""

    def __init__(self, app: App, standins: Mapping[str, Standin]) -> None:
        self.app, self.standins = app, standins
        for service in standins:
            connect_standin(app, standins[service])
        self.talk = FullLines(app)
        self.time = QuickTime()
        app._services._value = ServiceConnector(app.database, open_keyring(app), self.time.timing)

    def begin(self, service: str, left: float = 3600.0) -> Standin:
        """As after a start, with a new pair of tokens that the account believes good for so many seconds."""
        standin = self.standins[service]
        self.app.services._states.clear()
        self.app.services.refresher._rests.clear()
        self.forget(standin)
        with self.app.database.writing() as statements:
            replace_account(statements, open_keyring(self.app), *draft_account(standin, left))
        return standin

    def forget(self, standin: Standin) -> None:
        """Only what was asked, and what was to go wrong."""
        standin.faults.clear()
        standin.requests.clear()
        standin.token_requests.clear()
        standin.oauth.refreshes = 0
        self.time.slept.clear()

    def call(self, service: str, tool: str, **params: Any) -> Json:
        return self.talk.call(service, tool, account=service, **params)

    def refuse(self, service: str, tool: str, **params: Any) -> Json:
        return self.talk.refused(service, tool, account=service, **params)

    def find(self, service: str) -> Account:
        with self.app.database.reading() as rows:
            return next(each for each in list_accounts(rows) if each.name == service)


def draft_account(standin: Standin, left: float = 3600.0) -> tuple[NewAccount, dict[str, str]]:
    """An account through the provider's consent, with the tokens that it has just given."""
    pair = standin.oauth.issue()
    provider, details = find_provider(standin.service), {**standin.details, "app": "app"}
    expires_at = now() + int(left * 1000)
    new = NewAccount(provider, standin.service, kind="oauth", details=details, expires_at=expires_at)
    return new, {name: pair[name] for name in ("access_token", "refresh_token")}


def connect_standin(app: App, standin: Standin, left: float = 3600.0) -> None:
    own = NewAccount(find_provider(standin.service), "app", kind="app", details={"client_id": standin.oauth.client_id})
    store_account(app, own, {"client_secret": standin.oauth.client_secret})
    store_account(app, *draft_account(standin, left))


@contextmanager
def open_connected(home: Path, **flags: Any) -> Generator[ConnectedHouse]:
    with ExitStack() as opened:
        standins: dict[str, Standin] = {}
        for service in SERVICES:  # one consent at Atlassian serves Jira and Confluence
            oauth = standins["jira"].oauth if service == "confluence" else None
            standins[service] = opened.enter_context(start_standin(service, oauth))
        app = App({"home": str(home), "durable": False, "embed_provider": "none", **flags}, {})
        opened.callback(app.close)
        yield ConnectedHouse(app, standins)
