"""The providers behind the services, as data: where they are asked, how they sign in, and how they say no.

An account's details may hold `base_url`, `authorize_url`, `token_url` and `revoke_url`, which stand before those here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tokonoma.core.errors import Missing

LimitDialect = Literal["plain", "github", "google", "notion"]
"""How a provider says "too often": with 429 alone, or in words of its own"""

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Whoami:
    """A request that any working token may make, and where its answer names the user (`bot.name`, `0.name`)."""

    module: str
    path: str
    field: str


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    at_once: int  # requests under way
    dialect: LimitDialect = "plain"


@dataclass(frozen=True, slots=True)
class Provider:
    """`base_url` is by module; `basic` is that of accounts with an e-mail address and an API token. `{site}`,
    `{cloud_id}` and `{client_id}` in URLs are details of the account and its app."""

    name: str
    modules: tuple[str, ...]
    base_url: Texts
    authorize_url: str = ""
    authorize_extra: Texts = field(default_factory=dict[str, str])
    token_url: str = ""
    client_auth: Literal["post", "basic", "json"] = "post"  # where the token endpoint wants the app's id and secret
    token_body: Literal["form", "json"] = "form"  # noqa: S105 - a format
    pkce: bool = True
    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # by module
    pastes: bool = True  # it has tokens that its users make themselves
    token_header: Literal["Bearer", "Basic"] = "Bearer"  # noqa: S105 - with such a token
    token_starts: tuple[str, ...] = ()  # what a token begins with
    token_page: str = ""  # where a user makes one
    headers: Texts = field(default_factory=dict[str, str])
    limits: ServiceLimits = ServiceLimits(4)
    error_text: tuple[str, ...] = ("message",)  # where an error's text is: `errors[].message`, `errors.*`
    whoami: tuple[Whoami, ...] = ()  # the next one is asked where a site lacks the first
    api_version: Texts = field(default_factory=dict[str, str])  # by module
    sites_url: str = ""  # which sites a consent is for, each an account of its own
    revoke_url: str = ""
    revoke_style: Literal["form", "json", "refresh", "github"] = "form"


GITHUB = Provider(
    name="github",
    modules=("github",),
    base_url={"github": "https://api.github.com"},
    authorize_url="https://github.com/login/oauth/authorize",
    token_url="https://github.com/login/oauth/access_token",  # noqa: S106 - a URL
    scopes={"github": ("repo", "read:user")},
    token_starts=("ghp_", "github_pat_", "gho_", "ghu_", "ghs_", "ghr_"),
    token_page="https://github.com/settings/personal-access-tokens",  # noqa: S106 - a URL
    headers={
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "tokonoma",  # required
    },
    limits=ServiceLimits(8, "github"),
    error_text=("message", "errors[].message"),
    whoami=(Whoami("github", "/user", "login"),),
    api_version={"github": "2022-11-28"},
    revoke_url="https://api.github.com/applications/{client_id}/token",
    revoke_style="github",
)

NOTION = Provider(
    name="notion",
    modules=("notion",),
    base_url={"notion": "https://api.notion.com"},
    authorize_url="https://api.notion.com/v1/oauth/authorize",
    authorize_extra={"owner": "user"},
    token_url="https://api.notion.com/v1/oauth/token",  # noqa: S106 - a URL
    client_auth="basic",
    token_body="json",  # noqa: S106 - a format
    pkce=False,
    token_starts=("ntn_", "secret_"),
    token_page="https://www.notion.so/profile/integrations",  # noqa: S106 - a URL
    headers={"Notion-Version": "2025-09-03"},
    limits=ServiceLimits(3, "notion"),
    whoami=(Whoami("notion", "/v1/users/me", "bot.workspace_name"),),
    api_version={"notion": "2025-09-03"},
    revoke_url="https://api.notion.com/v1/oauth/revoke",
    revoke_style="json",
)

ATLASSIAN = Provider(
    name="atlassian",
    modules=("jira", "confluence"),
    # A token of a consent is refused at the site itself, however valid it is: only the gateway takes it.
    base_url={
        "jira": "https://api.atlassian.com/ex/jira/{cloud_id}",
        "confluence": "https://api.atlassian.com/ex/confluence/{cloud_id}",
        "basic": "https://{site}.atlassian.net",
    },
    authorize_url="https://auth.atlassian.com/authorize",
    authorize_extra={"audience": "api.atlassian.com", "prompt": "consent"},
    token_url="https://auth.atlassian.com/oauth/token",  # noqa: S106 - a URL
    client_auth="json",
    token_body="json",  # noqa: S106 - a format
    pkce=False,  # its documentation knows no code_challenge
    scopes={
        "jira": ("offline_access", "read:me", "read:jira-work", "write:jira-work", "read:jira-user"),
        "confluence": (
            "offline_access",
            "read:me",
            "search:confluence",
            "write:confluence-content",
            "read:page:confluence",
            "write:page:confluence",
            "delete:page:confluence",
            "read:space:confluence",
            "read:comment:confluence",
            "write:comment:confluence",
            "read:attachment:confluence",
            "read:content.metadata:confluence",
        ),
    },
    token_header="Basic",  # noqa: S106 - a scheme
    token_starts=("ATATT", "ATCTT"),
    token_page="https://id.atlassian.com/manage-profile/security/api-tokens",  # noqa: S106 - a URL
    limits=ServiceLimits(6),
    error_text=("errorMessages[]", "errors.*", "errors[].title", "errors[].detail", "message"),  # Jira, then Confluence
    whoami=(
        Whoami("jira", "/rest/api/3/myself", "displayName"),
        Whoami("confluence", "/wiki/rest/api/user/current", "displayName"),
    ),
    api_version={"jira": "3", "confluence": "2"},
    sites_url="https://api.atlassian.com/oauth/token/accessible-resources",
)

SUPABASE = Provider(
    name="supabase",
    modules=("supabase",),
    base_url={"supabase": "https://api.supabase.com"},
    authorize_url="https://api.supabase.com/v1/oauth/authorize",
    token_url="https://api.supabase.com/v1/oauth/token",  # noqa: S106 - a URL
    client_auth="basic",
    token_starts=("sbp_",),  # scopes are chosen on the OAuth app itself
    token_page="https://supabase.com/dashboard/account/tokens",  # noqa: S106 - a URL
    limits=ServiceLimits(4),
    whoami=(Whoami("supabase", "/v1/organizations", "0.name"),),
    api_version={"supabase": "1"},
    revoke_url="https://api.supabase.com/v1/oauth/revoke",
    revoke_style="refresh",
)

GOOGLE = Provider(
    name="google",
    modules=("google_calendar",),
    base_url={"google_calendar": "https://www.googleapis.com/calendar/v3"},
    authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
    authorize_extra={"access_type": "offline", "prompt": "consent"},
    token_url="https://oauth2.googleapis.com/token",  # noqa: S106 - a URL
    scopes={
        "google_calendar": (
            "https://www.googleapis.com/auth/calendar.events",
            "https://www.googleapis.com/auth/calendar.calendarlist.readonly",
            "https://www.googleapis.com/auth/calendar.freebusy",
        )
    },
    pastes=False,
    token_starts=("ya29.",),
    limits=ServiceLimits(6, "google"),
    error_text=("error.message", "error_description"),
    whoami=(Whoami("google_calendar", "/users/me/calendarList/primary", "id"),),
    api_version={"google_calendar": "v3"},
    revoke_url="https://oauth2.googleapis.com/revoke",
)

MICROSOFT = Provider(
    name="microsoft",
    modules=("microsoft_todo",),
    base_url={"microsoft_todo": "https://graph.microsoft.com/v1.0"},
    authorize_url="https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    token_url="https://login.microsoftonline.com/common/oauth2/v2.0/token",  # noqa: S106 - a URL
    scopes={"microsoft_todo": ("Tasks.ReadWrite", "User.Read", "offline_access")},
    pastes=False,
    limits=ServiceLimits(4),  # four at once a mailbox
    error_text=("error.message", "error_description"),
    whoami=(Whoami("microsoft_todo", "/me", "userPrincipalName"),),
    api_version={"microsoft_todo": "v1.0"},
)

PROVIDERS: Mapping[str, Provider] = {
    each.name: each for each in (ATLASSIAN, GITHUB, GOOGLE, MICROSOFT, NOTION, SUPABASE)
}


MCP = Provider(name="mcp", modules=(), base_url={}, token_header="Bearer")  # noqa: S106 - a scheme
"""MCP servers behind modules. Everything about a consent is in the details of its account."""


def get_provider(name: str) -> Provider:
    provider = MCP if name == MCP.name else PROVIDERS.get(name)
    if provider is None:
        raise Missing(f"There is no provider called {name!r}.", reason="service")
    return provider
