"""The errors that OAuth clients know, as the RFCs spell them."""

from typing import Any


class OAuthError(Exception):
    """`error` is a code of RFC 6749, 7591, 8707 or 9728; the description is for the client's developer. Never raised
    inside a transaction that has something to keep."""

    def __init__(self, error: str, description: str, status: int = 400, retry_after: int = 0) -> None:
        super().__init__(description)
        self.error, self.description, self.status, self.retry_after = error, description, status, retry_after

    def to_response(self) -> dict[str, Any]:
        return {"error": self.error, "error_description": self.description}


def build_client_error(description: str) -> OAuthError:
    """Tells a client that it is not known: good ones then register again."""
    return OAuthError("invalid_client", description, 401)


def build_grant_error(description: str) -> OAuthError:
    return OAuthError("invalid_grant", description)


def build_limit_error(description: str, retry_after: int) -> OAuthError:
    return OAuthError("temporarily_unavailable", description, 429, retry_after)
