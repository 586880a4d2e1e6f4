"""Who sent a request: the other end of the connection or, behind proxies that the owner trusts, the address that they
report. Whatever a header says, a request that came through a proxy is never local."""

from collections.abc import Iterable, Sequence

from tokonoma.core.network import IpAddress, is_inside_any, parse_ip, parse_network
from tokonoma.server.http.security import Headers

# What proxies, balancers, tunnels and CDNs add. One of them is enough: its value is not looked at.
_FORWARDING = frozenset(
    b"forwarded via x-real-ip x-client-ip x-cluster-client-ip x-original-forwarded-for x-original-host x-original-url "
    b"x-envoy-external-address x-originating-ip x-remote-ip x-remote-addr x-proxyuser-ip client-ip true-client-ip "
    b"cf-connecting-ip cf-connecting-ipv6 cf-ray cdn-loop fastly-client-ip fly-client-ip do-connecting-ip "
    b"x-azure-clientip x-azure-socketip x-appengine-user-ip x-arr-clientip x-nf-client-connection-ip "
    b"x-vercel-forwarded-for x-amz-cf-id tailscale-user-login proxy-connection".split()
)
_MAX_HOPS = 32


class TrustedProxies:
    """`networks`: addresses or networks of proxies whose `X-Forwarded-For` or `Forwarded` counts."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        self._networks = [parse_network(each) for each in networks]

    def find_remote(self, headers: Headers, peer: str | None) -> str | None:
        """The last address that is not a trusted proxy, going back from this server."""
        start = None if peer is None or not self._networks else parse_ip(peer)
        if start is None or not is_inside_any(start, self._networks):
            return peer
        lists = [_list_forwarded_for(headers), _list_forwarded(headers)]
        found = {self._walk_back(start, hops) for hops in lists if hops}
        # A proxy writes one of the two headers and may pass on what the caller wrote into the other.
        return str(found.pop()) if len(found) == 1 else peer

    def _walk_back(self, start: IpAddress, hops: Sequence[str]) -> IpAddress:
        at = start
        for hop in reversed(hops[-_MAX_HOPS:]):
            address = _parse_hop(hop)
            if address is None:  # nobody knows what came before
                return at
            at = address
            if not is_inside_any(at, self._networks):
                return at
        return at


def is_forwarded(headers: Headers) -> bool:
    """Whether a proxy has handled this request, or the caller says so."""
    return not _FORWARDING.isdisjoint(headers) or any(name.startswith(b"x-forwarded") for name in headers)


def _list_forwarded_for(headers: Headers) -> list[str]:
    return _split(headers.get(b"x-forwarded-for", b""))


def _list_forwarded(headers: Headers) -> list[str]:
    """The `for` of each element; an empty one where an element has none."""
    return [_find_for(element.split(";")) for element in _split(headers.get(b"forwarded", b""))]


def _split(value: bytes) -> list[str]:
    return [part.strip() for part in value.decode("latin-1").split(",")] if value.strip() else []


def _find_for(pairs: Iterable[str]) -> str:
    for pair in pairs:
        name, _, value = pair.partition("=")
        if name.strip().lower() == "for":
            return value.strip().strip('"')
    return ""


def _parse_hop(hop: str) -> IpAddress | None:
    """An address, maybe with a port: `192.0.2.1:80`, `[2001:db8::1]:80`."""
    if hop.startswith("["):
        host, _, port = hop[1:].partition("]")
        return parse_ip(host) if not port or port.startswith(":") else None
    return parse_ip(hop.partition(":")[0] if hop.count(":") == 1 else hop)
