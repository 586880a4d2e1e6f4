"""What the owner's pages about access need of the rest of the server: services, MCP servers, credentials, approvals.

The functions that change something take the caller of the page first: the journal holds who did it, and from where."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.auth.api_keys import StoredKey
from tokonoma.auth.oauth.grants import StoredGrant
from tokonoma.auth.people import Person, Revocation
from tokonoma.auth.profiles import StoredProfile
from tokonoma.auth.sessions import WebSession
from tokonoma.catalogue.explain import AccessVerdict
from tokonoma.core.call import Caller, Principal
from tokonoma.core.module import Effect, ModuleInfo
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import Account, AccountDefault
from tokonoma.policy.approvals import Approval
from tokonoma.services.connecting import ConnectChoices
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.providers import Provider
from tokonoma.upstream.servers import UpstreamServer


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call that waits for the owner. What the policy hides from the owner is masked in `params`; None: the stored
    parameters were changed, and nobody should approve it."""

    approval: Approval
    params: Mapping[str, Any] | None
    effect: str  # of the tool; empty if it is not there any more


@dataclass(frozen=True, slots=True)
class ApprovalParts:
    list_waiting: Callable[[], Sequence[WaitingCall]]
    list_decided: Callable[[], Sequence[Approval]]
    """Those of the last seven days that do not wait any more, newest first."""
    decide: Callable[[Caller, str, Literal["approved", "denied"]], Approval]


@dataclass(frozen=True, slots=True)
class ReachFields:
    """What a form says about a reach. `modules`: None for all."""

    root: str
    default: str
    modules: Collection[str] | None
    mask: Collection[str]
    extras: Collection[str]


@dataclass(frozen=True, slots=True)
class CredentialParts:
    list_keys: Callable[[], Sequence[StoredKey]]
    find_key: Callable[[str], StoredKey]
    create_key: Callable[[Caller, str, Reach, int | None], str]
    """name, reach, when it expires → the key, which is never shown again. Conflict."""
    update_key: Callable[[Caller, str, Reach, int | None], StoredKey]
    revoke_key: Callable[[Caller, str], None]
    list_grants: Callable[[], Sequence[StoredGrant]]
    find_grant: Callable[[str], StoredGrant]
    narrow_grant: Callable[[Caller, str, Reach], StoredGrant]
    """Denied for more than the person may use who let the client in."""
    revoke_grant: Callable[[Caller, str], StoredGrant]
    list_people: Callable[[], Sequence[tuple[Person, int]]]
    """Each with the number of browsers in which that person is signed in."""
    find_person: Callable[[str], Person]
    add_person: Callable[[Caller, str, Reach, str], Person]
    """name, reach, password (empty: none)."""
    set_password: Callable[[Caller, str, str], int]
    """id, password (empty: none) → how many sessions have ended."""
    create_link: Callable[[Caller, str], str]
    """id → the secret of a link that signs this person in, once."""
    revoke_person: Callable[[Caller, str], Revocation]
    list_profiles: Callable[[], Sequence[StoredProfile]]
    save_profile: Callable[[Caller, str, Reach], None]
    remove_profile: Callable[[Caller, str], None]
    list_modules: Callable[[], Sequence[ModuleInfo]]
    """All that a mask may name, also services without an account."""
    check_reach: Callable[[Reach, ReachFields], Reach]
    """The reach before, the fields of a form → the reach. Invalid, Missing, Conflict."""
    find_principal: Callable[[str], Principal]
    """`key:NAME`, `client:NAME`, `person:NAME` → who that is. Missing, Unauthenticated."""
    list_seen: Callable[[Principal], Sequence[ModuleInfo]]
    try_tool: Callable[[Principal, str, str, str], AccessVerdict]
    """principal, `module.tool`, account, namespace (each may be empty) → whether it may use it, and why not."""


@dataclass(frozen=True, slots=True)
class OpenConsent:
    """A consent that began on a page, and whether its answer has come."""

    provider: str
    account: str
    is_answered: bool


@dataclass(frozen=True, slots=True)
class ServiceParts:
    list_accounts: Callable[[], Sequence[Account]]
    """Of the seven services; never those of MCP servers."""
    list_defaults: Callable[[], Sequence[AccountDefault]]
    connect_by_token: Callable[[Caller, Provider, ConnectChoices, str], Account]
    register_app: Callable[[Caller, Provider, ConnectChoices, AppCredentials], Account]
    begin_consent: Callable[[WebSession, Provider, ConnectChoices, str], str]
    """session, provider, choices, origin of the pages → where the owner agrees."""
    find_consent: Callable[[WebSession, str], OpenConsent]
    """session, state → the consent. Missing if it is not one of this session, or its time is over."""
    finish_consent: Callable[[Caller, WebSession, str], Account]
    test: Callable[[Caller, Account], str]
    """Why the account does not work; empty if it does. Unavailable if the service cannot be asked."""
    set_default: Callable[[Caller, Account, str, str], None]
    """account, module, namespace."""
    clear_default: Callable[[Caller, str, str], bool]
    disconnect: Callable[[Caller, Account], bool]
    """Whether the service has ended the consent, too."""


@dataclass(frozen=True, slots=True)
class ServerFields:
    """What a form says about a new MCP server. `target`: an address, or the words of a command."""

    name: str
    target: Sequence[str]
    namespace: str
    folder: str
    summary: str
    values: Mapping[str, str]  # variables of a command, headers of an address


@dataclass(frozen=True, slots=True)
class ServerParts:
    list_servers: Callable[[], Sequence[UpstreamServer]]
    find_server: Callable[[str], UpstreamServer]
    add: Callable[[Caller, ServerFields], UpstreamServer]
    """Starts or asks it once. Nothing is approved yet. Unready if it wants a consent."""
    review: Callable[[Caller, str], UpstreamServer]
    approve: Callable[[Caller, str, Sequence[str], Mapping[str, Effect]], UpstreamServer]
    """name, tools (none: all), what tools do where their own annotations do not say so."""
    restart: Callable[[Caller, str], None]
    remove: Callable[[Caller, str], None]
    read_logs: Callable[[UpstreamServer], Mapping[str, str]]
    """What its processes wrote last to standard error, by account."""


@dataclass(frozen=True, slots=True)
class AccessParts:
    servers: ServerParts
    services: ServiceParts
    approvals: ApprovalParts
    credentials: CredentialParts
