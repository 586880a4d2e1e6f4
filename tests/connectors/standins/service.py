"""What all stand-ins share: routes with the rules of their requests, the checks before a route, ids and pages."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import unquote

from .oauth import OAuthIssuer, OAuthRules
from .official import Official
from .shapes import Mistake, check, read_query
from .wire import WireReply, WireRequest, make_json

BODIES = ("POST", "PUT", "PATCH")


class Refused(Exception):
    """The request ends here, with the service's own error."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True)
class Ask:
    """A request that has passed the checks."""

    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    request: WireRequest


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    query: Mapping[str, Any]
    body: Any  # a shape; None: a body is refused
    optional_body: bool
    status: int
    run: Callable[[Any, Ask], Any]
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.path.strip("/").split("/")))

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """The values of the path's places. A last `{name...}` takes all that is left."""
        names = self.names
        if names[-1].endswith("...}") and len(segments) >= len(names):
            segments = [*segments[: len(names) - 1], "/".join(segments[len(names) - 1 :])]
        if len(segments) != len(names):
            return None
        values: dict[str, str] = {}
        for name, segment in zip(names, segments, strict=True):
            if name.startswith("{"):
                values[name.strip("{.}")] = segment
            elif name != segment:
                return None
        return values


def on(
    method: str,
    path: str,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    optional_body: bool = False,
    status: int = 200,
) -> Callable[[Callable[[Any, Ask], Any]], Callable[[Any, Ask], Any]]:
    """Marks a method of a service as the answer to such requests."""

    def mark(run: Callable[[Any, Ask], Any]) -> Callable[[Any, Ask], Any]:
        run.__dict__.setdefault("routes", []).append(Route(method, path, query or {}, body, optional_body, status, run))
        return run

    return mark


class Service:
    """One service: its rules, its errors, and (in subclasses) its state and what it does."""

    name: ClassVar[str]
    prefix: ClassVar[str] = ""  # of every path, as in the service's base URL
    oauth_rules: ClassVar[OAuthRules]
    whoami: ClassVar[str]
    token: ClassVar[str]  # made by hand; good until it is revoked

    def __init__(self, url: str, oauth: OAuthIssuer, official: Official | None = None) -> None:
        self.url = url
        self.oauth = oauth
        self.official = official
        self._numbers = itertools.count(1)
        self._start = datetime(2026, 3, 1, 9, tzinfo=UTC)
        self.routes = self.list_routes()

    @classmethod
    def list_routes(cls) -> list[Route]:
        found = (getattr(cls, name) for name in dir(cls))
        routes: list[Route] = [route for each in found for route in getattr(each, "routes", [])]
        # Literal segments win over places: /tasks/delta before /tasks/{id}.
        return sorted(routes, key=lambda route: [name.startswith("{") for name in route.names])

    def close(self) -> None:
        """Lets go of what the state holds open."""

    # State.

    def next_number(self) -> int:
        return next(self._numbers)

    def now(self, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
        """A time later than the one before, and the same in every run."""
        self._start += timedelta(seconds=1)
        return self._start.strftime(form)

    # The way of a request.

    def handle(self, request: WireRequest) -> WireReply:
        try:
            return self._handle(request)
        except Refused as refused:
            return self.refuse(refused)

    def _handle(self, request: WireRequest) -> WireReply:
        self.check_token(request)
        path = self.strip_prefix(request)
        segments = [unquote(each) for each in path.strip("/").split("/")]
        fitting = [(route, values) for route in self.routes if (values := route.match(segments)) is not None]
        if not fitting:
            raise self.unknown_path(request)
        route, values = next((each for each in fitting if each[0].method == request.method), (None, {}))
        if route is None:
            raise Refused(405, "Method Not Allowed", "method")
        self.check_headers(request, route)
        query, mistakes = read_query(request.query, route.query)
        body = self._read_body(request, route)
        if body is not None:
            mistakes += check(body, route.body)
        if mistakes:
            raise self.explain(mistakes)
        if self.official and (wrong := self.official.check_request(route.method, route.path, values, request, body)):
            raise Refused(400, f"Official description: {wrong}", "official")
        found = route.run(self, Ask(values, query, body, request))
        if isinstance(found, WireReply):
            return found
        return WireReply(route.status) if found is None else make_json(found, route.status)

    def strip_prefix(self, request: WireRequest) -> str:
        if not request.path.startswith(self.prefix + "/"):
            raise self.unknown_path(request)
        return request.path[len(self.prefix) :]

    def _read_body(self, request: WireRequest, route: Route) -> Any:
        if not request.body:
            if route.body is not None and not route.optional_body:
                raise Refused(400, "A JSON body is required", "json")
            return None
        if route.body is None:
            raise Refused(400, "This request takes no body", "json")
        if request.content_type != "application/json":
            raise Refused(415, "Content-Type must be application/json", "content_type")
        try:
            return json.loads(request.body)
        except ValueError:
            raise Refused(400, "The body is no JSON", "json") from None

    # What each service does in its own way.

    def check_token(self, request: WireRequest) -> None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not self.oauth.knows(token):
            raise Refused(401, "Bad credentials", "unauthorized")

    def format_token(self, token: str) -> str:
        """The header that a client sends for a token."""
        return f"Bearer {token}"

    @property
    def ids(self) -> dict[str, Any]:
        """Values of the first state that a test's request may need."""
        return {}

    @property
    def details(self) -> dict[str, Any]:
        """What an account of this service keeps beside its URLs."""
        return {}

    def check_headers(self, request: WireRequest, route: Route) -> None:
        """Raises `Refused` for a header that is missing or wrong."""

    def unknown_path(self, request: WireRequest) -> Refused:
        return Refused(404, "Not Found", "not_found")

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        return Refused(400, "; ".join(format_mistake(each) for each in mistakes), "validation")

    def refuse(self, refused: Refused) -> WireReply:
        raise NotImplementedError


def format_mistake(mistake: Mistake) -> str:
    words = {"unknown": "is not known", "missing": "is required"}
    return f"{mistake.path} {words.get(mistake.kind) or f'must be {mistake.expected}'}"
