"""Addresses: every record has one, `tokonoma://module/name`."""

import re
from typing import TYPE_CHECKING, Protocol

from tokonoma.core.errors import Invalid

if TYPE_CHECKING:
    from tokonoma.core.call import Principal
    from tokonoma.core.desk import Record, Rows
    from tokonoma.core.module import Module

_ADDRESS = re.compile(r"tokonoma://([a-z][a-z0-9_]*)/(.+)")


class Addresses(Protocol):
    """Leads from any address to its record; implemented by the registry, which asks the owning module."""

    def is_visible(self, principal: "Principal", address: str) -> bool:
        """Whether this principal sees the module of an address: one of its tools, whatever that does."""
        ...

    def is_readable(self, principal: "Principal", module: str) -> bool:
        """Whether this principal may read what a module holds: one of its reading tools is visible."""
        ...

    def read_record(self, rows: "Rows", address: str) -> "Record | None": ...

    def find_owner(self, address: str) -> "Module | None":
        """The module that an address belongs to."""
        ...


def format_address(module: str, name: str) -> str:
    return f"tokonoma://{module}/{name}"


def parse_address(address: str) -> tuple[str, str]:
    """`tokonoma://items/12` → `("items", "12")`."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise Invalid(f"{address!r} is not an address. An address looks like tokonoma://memory/<id>.", field="address")
    return found[1], found[2]
