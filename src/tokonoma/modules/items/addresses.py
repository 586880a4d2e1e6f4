"""Addresses of items as people write them (`docs-12`), and of other modules' records (`tokonoma://memory/…`). Pure."""

import re
from dataclasses import dataclass

from tokonoma.core.desk import parse_address
from tokonoma.core.errors import Invalid
from tokonoma.modules.items.constants import MODULE_NAME

_SHORT = re.compile(r"([a-z0-9_]+)-([1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """An item by its number, with the type if one was named; or a record of another module by its address."""

    written: str
    item: int | None = None
    type: str | None = None  # None: any; `items-12` and `tokonoma://items/12` name none
    address: str = ""


def parse_target(written: str) -> LinkTarget | None:
    """What an address leads to; None if it is none."""
    found = _SHORT.fullmatch(written)
    if found is not None:
        return LinkTarget(written, int(found[2]), None if found[1] == MODULE_NAME else found[1])
    try:
        module, name = parse_address(written) if len(written) <= _LONGEST else ("", "")
    except Invalid:
        return None
    if module == MODULE_NAME:
        return LinkTarget(written, int(name)) if _NUMBER.fullmatch(name) else None
    return LinkTarget(written, address=written) if module and "\0" not in written else None


def format_short_address(type: str, id: int) -> str:
    return f"{type}-{id}"
