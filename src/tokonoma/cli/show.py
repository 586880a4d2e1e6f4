"""How commands speak: values on stdout, everything said about them on stderr."""

import sys
from collections.abc import Sequence
from typing import Any

import click
import orjson


def print_json(told: Any) -> None:
    """A value as JSON: indented for eyes, one line for programs."""
    option = orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0
    click.echo(orjson.dumps(told, option=option).decode())


def print_note(text: str) -> None:
    """Something said beside the result: progress, a hint, a warning."""
    click.echo(text, err=True)


def pluralize(number: int, what: str) -> str:
    """1 file, 2 files."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns that fit the terminal; in a pipe plain ones, which nothing wraps."""
    if sys.stdout.isatty():
        _print_rich_table(headings, rows)
        return
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_rich_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console  # 60 ms to import: only who looks at a table pays
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False)
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: what is stored is never read as markup
    Console().print(drawn)
