"""The credentials of an account as a request needs them. Nothing of them is ever printed."""

import base64
import re
from dataclasses import dataclass, field

from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unready
from tokonoma.keyring.accounts import Account, SecretFields, list_accounts, read_secrets
from tokonoma.keyring.data_keys import Keyring

_TOKEN = re.compile(r"[\x21-\x7e]+")  # anything else would end the header, or appear in an error about it


@dataclass(frozen=True, slots=True)
class Credentials:
    """An account with the secrets that it had at one moment."""

    account: Account
    secrets: SecretFields

    @property
    def can_refresh(self) -> bool:
        return self.account.kind == "oauth" and "refresh_token" in self.secrets

    def list_secrets(self) -> list[str]:
        """Every text that must not be repeated, with its encoded forms."""
        return [*self.secrets.values(), build_authorization(self).partition(" ")[2]]


@dataclass(frozen=True, slots=True)
class AppCredentials:
    """The owner's own OAuth app at a provider."""

    client_id: str
    client_secret: str = field(default="", repr=False)


def read_credentials(rows: Rows, keyring: Keyring, account: Account) -> Credentials:
    return Credentials(account, read_secrets(rows, keyring, account))


def build_authorization(credentials: Credentials) -> str:
    """The value of the header `Authorization`."""
    account, secrets = credentials.account, credentials.secrets
    token = secrets.get("access_token" if account.kind == "oauth" else "token", "")
    if not _TOKEN.fullmatch(token):
        raise Unready(
            f"The {account.describe()} has no usable token. {advise_connect(account)}", reason="token_invalid"
        )
    if account.kind != "basic":
        return f"Bearer {token}"
    pair = f"{account.details.get('email', '')}:{token}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def find_app(rows: Rows, keyring: Keyring, account: Account) -> AppCredentials:
    """The app that an account was connected through: the nearest with the name that its details give. An account of an
    MCP server has its own."""
    if "client_id" in account.details:
        secrets = read_secrets(rows, keyring, account)
        return AppCredentials(str(account.details["client_id"]), secrets.get("client_secret", ""))
    name = account.details.get("app")
    apps = [
        each
        for each in list_accounts(rows, account.provider)
        if each.kind == "app" and each.name == name and each.serves(account.namespace)
    ]
    if not apps:
        message = f"The app {name!r}, through which the {account.describe()} was connected, is gone."
        raise Unready(f"{message} {advise_connect(account)}", reason="token_expired")
    app = max(apps, key=lambda each: len(each.namespace))
    secrets = read_secrets(rows, keyring, app)
    return AppCredentials(str(app.details.get("client_id", "")), secrets.get("client_secret", ""))


def advise_connect(account: Account) -> str:
    if server := account.details.get("server"):
        name = account.name.removeprefix(f"{server}-")
        return f"The owner signs in again with `tokonoma servers account {server} {name}`."
    return f"The owner connects it again with `tokonoma connect {account.modules[0]} --account {account.name}`."
