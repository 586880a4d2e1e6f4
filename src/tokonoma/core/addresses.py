"""Addresses: every record of every module has one, and the directory leads from it to the record."""

import re
from typing import Protocol

from tokonoma.core.desk import Desk, Record, Rows
from tokonoma.core.errors import Invalid

_ADDRESS = re.compile(r"tokonoma://([a-z][a-z0-9_]*)/(.+)")


class Addresses(Protocol):
    """The registry joins the modules' `read` into one."""

    def read_record(self, rows: Rows, address: str) -> Record | None: ...

    def refresh(self, desk: Desk, address: str) -> None:
        """What the record is made of may have changed behind the index: its module looks."""
        ...

    def mark_used(self, desk: Desk, address: str, trace_id: str) -> None: ...


def format_address(module: str, name: str) -> str:
    return f"tokonoma://{module}/{name}"


def parse_address(address: str) -> tuple[str, str]:
    """`tokonoma://items/12` → `("items", "12")`."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise Invalid(f"{address!r} is not an address. One looks like tokonoma://memory/<id>.", field="address")
    return found[1], found[2]
