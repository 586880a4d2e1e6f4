"""What Jira and Confluence share: one consent, its gateway, API tokens with an e-mail address, query languages."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, ClassVar

from .oauth import OAuthRules
from .service import Refused, Service
from .wire import WireReply, WireRequest, make_json

CLOUD_ID = "3f0d2a51-7c64-4f0e-9f0a-5d8f4a2b9c10"
EMAIL = "mio@example.org"
ACCOUNT = "5f0000000000000000000a01"
RULES = OAuthRules(
    "atlassian",
    "/authorize",
    "/oauth/token",
    client_auth="json",
    token_body="json",
    pkce=False,
    error_status=403,
    errors={"bad_code": "invalid_grant", "bad_refresh": "invalid_grant"},
    authorize_needs={"audience": "api.atlassian.com", "prompt": "consent"},
    prefix="eyJ",
)


class Atlassian(Service):
    product: ClassVar[str]
    oauth_rules = RULES
    token = "ATATT3xStandin000000000000000000000000"

    def handle(self, request: WireRequest) -> WireReply:
        """Two paths stand beside the products, at the gateway: which sites a consent reaches, and whose it is."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if request.path not in ("/oauth/token/accessible-resources", "/me"):
            return super().handle(request)
        if request.method != "GET" or scheme != "Bearer" or not self.oauth.knows(token):
            return make_json({"code": 401, "message": "Unauthorized"}, 401)
        if request.path == "/me":
            return make_json({"account_id": ACCOUNT, "email": EMAIL, "name": "Mio", "account_status": "active"})
        scopes = [each for each in self.oauth.scopes_of(token).split() if ":" in each]
        site = {"id": CLOUD_ID, "url": "https://garden.atlassian.net", "name": "garden", "scopes": scopes}
        return make_json([{**site, "avatarUrl": "https://garden.atlassian.net/avatar.png"}])

    @property
    def details(self) -> dict[str, Any]:
        return {"cloud_id": CLOUD_ID, "site": "garden", "email": EMAIL}

    def format_token(self, token: str) -> str:
        if not token.startswith("ATATT"):
            return f"Bearer {token}"
        return "Basic " + base64.b64encode(f"{EMAIL}:{token}".encode()).decode()

    def check_token(self, request: WireRequest) -> None:
        """A token of a consent is good at the gateway alone; an API token everywhere, with its e-mail address."""
        scheme, _, coded = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            try:
                email, _, token = base64.b64decode(coded, validate=True).decode().partition(":")
            except (binascii.Error, UnicodeDecodeError):
                email, token = "", ""
            if email == EMAIL and self.oauth.is_handmade(token) and self.oauth.knows(token):
                return
        consented = self.oauth.knows(coded) and not self.oauth.is_handmade(coded)
        if scheme == "Bearer" and consented and request.path.startswith("/ex/"):
            return
        raise Refused(401, "Client must be authenticated to access this resource.", "unauthorized")

    def strip_prefix(self, request: WireRequest) -> str:
        if not request.path.startswith("/ex/"):
            return request.path
        if not request.path.startswith(self.prefix + "/"):
            raise Refused(404, "No site with this cloudId", "not_found")
        return request.path[len(self.prefix) :]

    def refuse(self, refused: Refused) -> WireReply:
        if refused.status == 401:
            return make_json({"code": 401, "message": "Unauthorized; scope does not match"}, 401)
        return self.refuse_otherwise(refused)

    def refuse_otherwise(self, refused: Refused) -> WireReply:
        raise NotImplementedError


CLAUSE = re.compile(r"\s*([\w.]+)\s*(!=|>=|<=|=|~|>|<|\bnot in\b|\bin\b)\s*(.+?)\s*", re.I)


def read_query_language(
    text: str, read: Callable[[Any, str], Any], known: set[str]
) -> tuple[Callable[[Any], bool], str]:
    """A test for rows from JQL or CQL (clauses joined by AND), and the field to order by, `-` for descending."""
    where, order = split_order(text)
    clauses: list[tuple[str, str, list[str]]] = []
    for part in filter(str.strip, re.split(r"\band\b", where, flags=re.I)):
        match = CLAUSE.fullmatch(part)
        if match is None:
            raise Refused(400, f"Error in the query: {part.strip()!r} is not understood.", "query")
        name, how, value = match[1].lower(), match[2].lower(), match[3].strip("()")
        if name not in known:
            raise Refused(400, f"Field '{name}' does not exist or you do not have permission to view it.", "query")
        clauses.append((name, how, [each.strip().strip("\"'") for each in value.split(",")]))

    def test(row: Any) -> bool:
        return all(compare(read(row, name), how, values) for name, how, values in clauses)

    return test, order


def split_order(text: str) -> tuple[str, str]:
    parts = re.split(r"\border by\b", text, maxsplit=1, flags=re.I)
    if len(parts) == 1:
        return parts[0], ""
    name, *way = parts[1].split(",")[0].split()
    return parts[0], ("-" if way and way[0].lower() == "desc" else "") + name.lower()


def compare(value: Any, how: str, wanted: list[str]) -> bool:
    values = [str(each).lower() for each in (value if isinstance(value, list) else [value])]
    lower = [each.lower() for each in wanted]
    if how == "~":
        return any(lower[0].strip("*") in each for each in values)
    if how in ("=", "in"):
        return any(each in lower for each in values)
    if how in ("!=", "not in"):
        return not any(each in lower for each in values)
    if lower[0].startswith(("-", "startof", "now")):
        return True  # all of a stand-in happened lately
    return values[0] >= lower[0] if how.startswith(">") else values[0] <= lower[0]
