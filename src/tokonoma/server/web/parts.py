"""What OAuth endpoints and pages need of the rest of the server: functions and settings, joined by `app/web.py`.

Every function here may block, since it asks the store or another host: endpoints call them in a thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.oauth.model import AuthorizationRequest, ClientRequest
from tokonoma.core.reach import Reach
from tokonoma.server.web.page_parts import PageParts


@dataclass(frozen=True, slots=True)
class OAuthParts:
    """`origin` is always the one under which the request came in; a client knows it as the issuer."""

    is_offered: Callable[[str], bool]
    """origin → whether clients may sign in there. If not, no OAuth path exists for it."""
    check_authorization: Callable[[list[tuple[str, str]], str], AuthorizationRequest]
    """Parameters of the query, origin → the request. Raises ShownError or RedirectedError. May fetch the client's
    document from its host."""
    build_code_location: Callable[[AuthorizationRequest, str, Reach, str], str]
    """request, id of the person, what the person chose, origin → where the browser brings the code."""
    build_denied_location: Callable[[AuthorizationRequest, str], str]
    describe: Callable[[str], dict[str, Any]]
    """origin → the metadata of the authorization server."""
    list_keys: Callable[[], list[dict[str, Any]]]
    """The public keys of access tokens."""
    register: Callable[[object, str | None], dict[str, Any]]
    """metadata of a client, its address → what it is registered as. These three raise OAuthError."""
    exchange: Callable[[ClientRequest], dict[str, Any]]
    revoke: Callable[[ClientRequest], None]


@dataclass(frozen=True, slots=True)
class WebParts:
    oauth: OAuthParts
    pages: PageParts
