"""IP addresses: reading them, whether one is this machine, and whether one belongs to given networks."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network


def parse_ip(text: str) -> IpAddress | None:
    """None if it is no address. `::ffff:192.0.2.1` is the IPv4 address that it carries."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def parse_network(text: str) -> IpNetwork:
    """`10.0.0.0/8`, or one address; ValueError for anything else, also for an address with bits behind its prefix."""
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError(f"must list IP addresses or networks like 10.0.0.0/8; {text!r} is neither") from None


@lru_cache(maxsize=256)  # asked for every request
def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine. No other place decides that."""
    address = parse_ip(host.strip("[]"))
    # A name may resolve to any address; this one is defined to be local.
    return host == "localhost" or (address is not None and address.is_loopback)


def is_inside_any(address: IpAddress, networks: Sequence[IpNetwork]) -> bool:
    return any(address in network for network in networks)
