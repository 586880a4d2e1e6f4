"""Addresses of resources that another MCP server has: `tokonoma://NAME/URI`. Pure."""

from urllib.parse import unquote

SCHEME = "tokonoma://"


def parse_server_address(address: str) -> tuple[str, str]:
    """The name of the module, and the URI as its server knows it; empty for the list of its resources."""
    name, _, uri = address.removeprefix(SCHEME).partition("/")
    return name, uri if "://" in uri else unquote(uri)
