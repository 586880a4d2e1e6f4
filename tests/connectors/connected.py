"""A server with an account for each service, all seven or some, whose stand-ins run on this machine."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.standins import SERVICES, Standin, start_standin
from talk import Lines

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.core.providers import find_provider
from tokonoma.keyring.accounts import NewAccount, set_default


@dataclass(frozen=True)
class ConnectedServices:
    app: App
    talk: Lines
    standins: Mapping[str, Standin]

    def state(self, service: str) -> Any:
        return self.standins[service].state


@contextmanager
def connect_all(home: Path, names: Sequence[str] = SERVICES) -> Generator[ConnectedServices]:
    with ExitStack() as stack:
        standins = {service: stack.enter_context(start_standin(service)) for service in names}
        app = App({"home": str(home), "durable": False, "embed_provider": "none"}, {})
        stack.callback(app.close)
        for service, standin in standins.items():
            add_account(app, service, standin)
        yield ConnectedServices(app, Lines(app), standins)


def add_account(app: App, service: str, standin: Standin) -> None:
    """By a token. Jira and Confluence share a provider, but their stand-ins have one address each: two accounts, each
    the default of its module."""
    provider = find_provider(service)
    details = {**standin.details, **({"email": "mio@example.org"} if provider == "atlassian" else {})}
    kind = "basic" if provider == "atlassian" else "token"
    account = store_account(app, NewAccount(provider, service, kind=kind, details=details), {"token": standin.token})
    with app.database.writing() as statements:
        set_default(statements, service, "/", account)
