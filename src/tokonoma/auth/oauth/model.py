"""The words of OAuth that several files share: a client, and what it asks a person for."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

SCOPES = frozenset({"mcp", "offline_access"})
"""What a client may do is the reach of its grant, which the person chooses. Scopes say nothing about it."""

MAX_NAME = 60  # characters of a client's name that are shown


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """What a client sends to the token endpoint, or to that for revocation."""

    form: Mapping[str, str]
    authorization: str
    origin: str
    remote: str | None


@dataclass(frozen=True, slots=True)
class OAuthClient:
    id: str
    kind: str  # registered | document
    name: str
    redirect_uris: tuple[str, ...]
    method: str = "none"  # how it authenticates at the token endpoint
    secret: bytes | None = None  # its hash
    uri: str = ""  # of its home page, as it says itself

    @property
    def host(self) -> str:
        """The host that has published its metadata, which only that host could do. Empty: it registered itself."""
        return urlsplit(self.id).netloc if self.kind == "document" else ""


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What a client asks for. All of it was checked; the client's name and home page are still its own words."""

    client_id: str
    client_name: str
    client_host: str  # that published its metadata; empty for a client that registered itself
    client_uri: str  # of its home page; empty if it has not said
    redirect_uri: str
    redirect_origin: str  # for `form-action` of the page: an origin, or a scheme like `cursor:`
    state: str | None
    challenge: str
    resource: str
    scope: str


def hash_secret(secret: str) -> bytes:
    """Codes, tokens and secrets are long and random, so a plain hash hides them well enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def clean_name(name: object, fallback: str) -> str:
    """A client's name as it may be shown: one line, without marks that turn or hide what stands beside it."""
    text = name if isinstance(name, str) else ""
    kept = "".join(" " if each.isspace() else each for each in text if each.isspace() or _is_visible(each))
    short = " ".join(kept.split())
    return (short if len(short) <= MAX_NAME else f"{short[: MAX_NAME - 1]}…") or fallback


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] not in "CZ"


@dataclass(frozen=True, slots=True)
class TokenClaims:
    grant: str
    person: str
    client_id: str
    resource: str
    scope: str
