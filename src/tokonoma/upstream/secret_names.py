"""Names of variables and headers that the owner may give a server, and what their values may be. Pure."""

import re

from tokonoma.core.errors import Invalid

MAX_VALUE = 16_384
"""Characters of one value"""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_PRINTABLE = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset({"host", "content-length", "content-type", "accept", "cookie", "transfer-encoding"})


def check_variable(name: str, value: str = "") -> None:
    if not _VARIABLE.fullmatch(name) or name.startswith("TOKONOMA_") or "\0" in value or len(value) > MAX_VALUE:
        raise Invalid(f"{name!r} is not the name of a variable that a server can be given.", field="env")


def check_header(name: str, value: str) -> None:
    if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS or not _PRINTABLE.fullmatch(value):
        raise Invalid(f"{name!r} is not a header that a server can be given, or its value is not one.", field="header")
