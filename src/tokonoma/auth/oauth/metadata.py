"""What clients read first: where to sign in, and what this server understands (RFC 8414, RFC 9728). Pure."""

from typing import Any

from tokonoma.auth.oauth.clients import METHODS
from tokonoma.auth.oauth.model import SCOPES


def build_resource_metadata(origin: str) -> dict[str, Any]:
    return {
        "resource": f"{origin}/mcp",
        "authorization_servers": [origin],
        "scopes_supported": ["mcp"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Tokonoma",
    }


def build_server_metadata(origin: str, *, registration: bool, documents: bool) -> dict[str, Any]:
    return {
        "issuer": origin,
        "authorization_endpoint": f"{origin}/authorize",
        "token_endpoint": f"{origin}/token",
        "revocation_endpoint": f"{origin}/revoke",
        "jwks_uri": f"{origin}/jwks",
        **({"registration_endpoint": f"{origin}/register"} if registration else {}),
        "scopes_supported": sorted(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": list(METHODS),
        "revocation_endpoint_auth_methods_supported": list(METHODS),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": documents,
        "ui_locales_supported": ["en", "ja"],
    }


def build_openid_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """The same for clients that look for OpenID Connect: its schema has two more required fields."""
    return {**metadata, "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["Ed25519"]}
