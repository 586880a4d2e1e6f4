"""Providers: whom an account is with. One account may serve several modules: Atlassian's serves Jira and Confluence."""

from collections.abc import Mapping

from tokonoma.core.errors import DEFAULT_CODES, ErrorCodes, Missing, Unready, find_nearest

PROVIDER_MODULES: Mapping[str, tuple[str, ...]] = {
    "atlassian": ("jira", "confluence"),
    "github": ("github",),
    "google": ("google_calendar",),
    "microsoft": ("microsoft_todo",),
    "notion": ("notion",),
    "supabase": ("supabase",),
}

SERVICE_CODES: ErrorCodes = {
    **DEFAULT_CODES,
    "unready.token_invalid": "TOKEN_INVALID",
    "unready.token_expired": "TOKEN_EXPIRED",
    "unavailable.external": "EXTERNAL_API_ERROR",
}
"""The error codes of modules that use an account."""

SERVICE_NAMES = frozenset(module for modules in PROVIDER_MODULES.values() for module in modules)
"""The modules that need an account."""

_PROVIDERS = {module: provider for provider, modules in PROVIDER_MODULES.items() for module in modules}


def find_provider(service: str) -> str:
    """The provider with this name, or the one behind the module with this name. Missing names the nearest ones."""
    if service in _PROVIDERS:
        return _PROVIDERS[service]
    if service in PROVIDER_MODULES:
        return service
    known = sorted({*_PROVIDERS, *PROVIDER_MODULES})
    nearest = find_nearest(service, known, 1)
    hint = f"Did you mean {nearest[0]!r}?" if nearest else f"There are: {', '.join(known)}."
    raise Missing(f"There is no service called {service!r}. {hint}", reason="service")


def not_connected_error(module: str) -> Unready:
    """The answer to who has no account of this service: the same whether there is none, or only those of others."""
    message = f"No {find_provider(module)} account is connected here."
    advice = f"The owner connects one with `tokonoma connect {module}`."
    return Unready(f"{message} {advice}", reason="token_not_configured", module=module)
