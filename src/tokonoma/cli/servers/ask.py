"""Values of variables and headers: at a hidden prompt or on standard input, never as arguments."""

import re
import sys
from collections.abc import Sequence

import click

from tokonoma.cli.output import stands_at_terminal
from tokonoma.core.errors import Denied, Invalid

_MAX_VALUE = 16_384  # characters
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_PRINTABLE = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset({"host", "content-length", "content-type", "accept", "cookie", "transfer-encoding"})


def read_variables(names: Sequence[str]) -> dict[str, str]:
    for name in names:
        _refuse_value(name)
        if not _VARIABLE.fullmatch(name) or name.startswith("TOKONOMA_"):
            raise Invalid(f"{name!r} is not the name of a variable that a server can be given.", field="env")
    return dict(zip(names, _read_values(names), strict=True))


def read_headers(names: Sequence[str]) -> dict[str, str]:
    for name in names:
        _refuse_value(name)
        check_header(name, "")
    found = dict(zip(names, _read_values(names), strict=True))
    for name, value in found.items():
        check_header(name, value)
    return found


def check_header(name: str, value: str) -> None:
    if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS or not _PRINTABLE.fullmatch(value):
        raise Invalid(f"{name!r} is not a header that a server can be given, or its value is not one.", field="header")


def _refuse_value(text: str) -> None:
    if "=" in text or ":" in text:
        message = "Give no value as an argument: every user of this machine can read it, and your shell keeps it."
        raise Denied(
            f"{message} Name it alone, and give its value at the prompt or on standard input.", reason="argument"
        )


def _read_values(names: Sequence[str]) -> list[str]:
    """One value for each name: asked for, or a line each on standard input."""
    if not names:
        return []
    if stands_at_terminal():
        return [str(click.prompt(name, hide_input=True, err=True)) for name in names]
    lines = sys.stdin.read(_MAX_VALUE * len(names) + 1).splitlines()
    if len(lines) < len(names) or any(len(line) > _MAX_VALUE for line in lines):
        wanted = ", ".join(names)
        raise Invalid(f"Give one line on standard input for each of: {wanted}.", field="env")
    return lines[: len(names)]
