"""Values of variables and headers: at a hidden prompt or on standard input, never as arguments."""

import sys
from collections.abc import Sequence

import click

from tokonoma.cli.output import stands_at_terminal
from tokonoma.core.errors import Denied, Invalid
from tokonoma.upstream.secret_names import MAX_VALUE, check_header, check_variable


def read_variables(names: Sequence[str]) -> dict[str, str]:
    for name in names:
        _refuse_value(name)
        check_variable(name)
    return dict(zip(names, _read_values(names), strict=True))


def read_headers(names: Sequence[str]) -> dict[str, str]:
    for name in names:
        _refuse_value(name)
        check_header(name, "")
    found = dict(zip(names, _read_values(names), strict=True))
    for name, value in found.items():
        check_header(name, value)
    return found


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
    lines = sys.stdin.read(MAX_VALUE * len(names) + 1).splitlines()
    if len(lines) < len(names) or any(len(line) > MAX_VALUE for line in lines):
        wanted = ", ".join(names)
        raise Invalid(f"Give one line on standard input for each of: {wanted}.", field="env")
    return lines[: len(names)]
