"""What an access token costs beside an API key: the same calls over HTTP to one server, the two taking turns."""

from urllib.parse import parse_qs, urlsplit

from tokonoma.app import App
from tokonoma.app.oauth import build_oauth_parts
from tokonoma.auth import api_keys
from tokonoma.auth.oauth.server import ClientRequest
from tokonoma.core.clock import now
from tokonoma.core.reach import UNLIMITED

from .child import Child, started
from .messages import STATELESS
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Samples, collect
from .web import WARM_SECONDS, Site, await_port, free_port

REDIRECT = "https://bench.example/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


class CredentialSite(Site):
    """One server, called with one credential. The era without a handshake alone: the other is let in the same way."""

    def __init__(self, peer: Peer, child: Child, port: int, credential: str) -> None:
        self.peer, self.child, self.port, self.errors, self.session = peer, child, port, 0, None
        self._credential = credential

    def order(self, era: str, seconds: float, connections: int) -> dict[str, object]:
        order = super().order(era, seconds, connections)
        return {**order, "head": f"{order['head'][:-2]}Authorization: Bearer {self._credential}\r\n\r\n"}


def measure(peers: Peers, plan: Plan) -> list[Row]:
    peer = peers.tokonoma()
    if peer is None:
        return []
    port = free_port()
    key, token = _create_credentials(peer, f"http://127.0.0.1:{port}")
    env = {**peer.env, "TOKONOMA_OAUTH": "on"}
    with started([*peer.http, str(port)], env, peer.log, by_signal=True) as child:
        await_port(child, port)
        sites = {"floor": CredentialSite(peer, child, port, key), "tokonoma": CredentialSite(peer, child, port, token)}
        names = list(sites)
        for name in names:
            sites[name].block(STATELESS, WARM_SECONDS, plan.http_connections)
        samples: Samples = collect(
            names,
            2 * plan.http_rounds,
            str,
            lambda name: sites[name].block(STATELESS, plan.http_seconds, plan.http_connections),
        )
    title = "OAuth token (floor: API key)"
    return [
        row(samples, f"cpu {STATELESS}", f"{title}, server CPU per call", "µs", Goal("≤", 1.1, "floor")),
        row(samples, f"rate {STATELESS}", f"{title}, calls per second", "/s"),
        Row(f"{title}, errors", "", {name: float(site.errors) for name, site in sites.items()}, Goal("=", 0)),
    ]


def _create_credentials(peer: Peer, origin: str) -> tuple[str, str]:
    """A key, and an access token of a client that has signed in, both without limits."""
    app = App({"oauth": "on", "log_level": "error"}, peer.env)
    try:
        with app.database.writing() as statements:
            key = api_keys.create_key(statements, f"bench-{now()}")
            statements.run(
                """insert into person (id, name, root, start, mask, extras, created_at)
                values ('owner', 'owner', '/', '/', '[]', '[]', :at) on conflict (id) do nothing""",
                at=now(),
            )
        oauth = build_oauth_parts(app)
        metadata = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none", "client_name": "Bench"}
        client = oauth.register(metadata, None)["client_id"]
        pairs = {"response_type": "code", "client_id": client, "redirect_uri": REDIRECT}
        pairs |= {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        request = oauth.check_authorization(list(pairs.items()), origin)
        location = oauth.build_code_location(request, "owner", UNLIMITED, origin)
        code = parse_qs(urlsplit(location).query)["code"][0]
        form = {"grant_type": "authorization_code", "client_id": client, "code": code, "code_verifier": VERIFIER}
        return key, oauth.exchange(ClientRequest(form, "", origin, None))["access_token"]
    finally:
        app.close()
