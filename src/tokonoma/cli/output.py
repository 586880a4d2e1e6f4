"""Output of commands: values on stdout, notes about them on stderr.

Everything that a command prints goes through here, so that no stored text can steer the terminal. The text of a file or
of a policy is printed as it is if stdout is not a terminal: there it is copied.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from tokonoma.core.errors import Denied
from tokonoma.core.printable import escape_controls, escape_json, escape_line, fold, measure_width

if TYPE_CHECKING:
    from tokonoma.transfer.model import Remark

_NARROWEST = 8  # columns of a table at a terminal
_MAX_REMARKS = 50  # of each kind, unless --json


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line, or several."""
    click.echo(escape_controls(text), err=err)


def print_json(value: Any, *, indented: bool = True) -> None:
    """Print JSON: indented at a terminal, one line for programs."""
    import orjson  # `tokonoma --help` does not need it

    option = orjson.OPT_INDENT_2 if indented and sys.stdout.isatty() else 0
    click.echo(escape_json(orjson.dumps(value, option=option).decode()))


def print_note(text: str) -> None:
    """Print progress, a hint or a warning."""
    print_line(text, err=True)


def print_text(text: str) -> None:
    """Print the text of a file, which may or may not end with a line break; exactly, unless it is for a terminal."""
    shown = escape_controls(text) if sys.stdout.isatty() else text
    click.echo(shown, nl=not text.endswith("\n"), color=True)  # else click removes escape sequences


def print_marked(mark: str, colour: str, text: str, *, bold: bool, color: bool | None) -> None:
    """Print a line that begins with a coloured mark."""
    click.echo(click.style(mark, fg=colour, bold=bold) + escape_controls(text), color=color)


def print_parts(parts: Sequence[tuple[str, str]]) -> None:
    """Print one line of texts, each with a colour or an empty name for none. Colours are for a terminal that has them
    and a person who wants them."""
    from tokonoma.app import read_environment  # `tokonoma --help` does not need it

    environment = read_environment()
    plain = "NO_COLOR" in environment or environment.get("TERM") == "dumb"
    styled = (
        click.style(escape_line(text), fg=colour, bold=True) if colour else escape_line(text) for text, colour in parts
    )
    click.echo("".join(styled), color=False if plain else None)


def rewrite_line(text: str, *, finished: bool = False) -> None:
    """Print progress over the last line of a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        click.echo(f"\r{escape_line(text)}", nl=finished, err=True)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns that fit the terminal, or unwrapped ones for programs. A cell is on one line, or folded at a
    terminal that is too narrow for it."""
    rows = [[escape_line(cell) for cell in row] for row in rows]
    widths = [max(map(measure_width, column)) for column in zip(headings, *rows, strict=True)]
    if sys.stdout.isatty():
        widths = fit_widths(widths, shutil.get_terminal_size().columns - 2 * (len(widths) - 1))
    for row in (headings, *rows):
        folded = [fold(cell, width) for cell, width in zip(row, widths, strict=True)]
        for cells in zip_longest(*folded, fillvalue=""):
            padded = (cell + " " * (width - measure_width(cell)) for cell, width in zip(cells, widths, strict=True))
            click.echo("  ".join(padded).rstrip())


def fit_widths(widths: Sequence[int], room: int) -> list[int]:
    """The widths of columns, the widest of them cut until all fit, but none below 8."""
    fitted, most = list(widths), max(widths, default=0)
    while sum(fitted) > room and most > _NARROWEST:
        most -= 1
        fitted = [min(width, most) for width in fitted]
    return fitted


def stands_at_terminal() -> bool:
    """Whether somebody can answer a question."""
    return sys.stdin.isatty()


def open_browser(url: str) -> None:
    """Only for a person at a terminal: a script has no use for one."""
    if stands_at_terminal():
        import webbrowser  # few commands need it

        webbrowser.open(url)


def confirm(question: str, refusal: str) -> None:
    """Ask at a terminal; elsewhere refuse unless --yes was given."""
    if not stands_at_terminal():
        raise Denied(f"{refusal} Use --yes to confirm.", reason="confirm")
    click.confirm(question, abort=True, err=True)


def confirm_removal(what: str) -> None:
    confirm(f"Remove {what} permanently?", f"This removes {what} permanently.")


def format_remarks(heading: str, remarks: "Sequence[Remark]", total: int) -> list[str]:
    """The heading and the first remarks, one per line; nothing if there are none."""
    lines = [f"{heading} ({total}):"] if total else []
    lines += [escape_line(f"  {each.place}: {each.why}") for each in remarks[:_MAX_REMARKS]]
    return lines + ([f"  … and {total - _MAX_REMARKS} more; --json lists all"] if total > _MAX_REMARKS else [])


class ProgressPrinter:
    """Progress on stderr: every second at a terminal, every ten seconds in a log."""

    def __init__(self) -> None:
        self._interval = 1.0 if sys.stderr.isatty() else 10.0
        self._next_at = time.monotonic() + self._interval
        self._line_open = False

    def print_progress(self, text: str) -> None:
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + self._interval
        if sys.stderr.isatty():
            rewrite_line(f"… {text} ")
            self._line_open = True
        else:
            print_note(f"… {text}")

    def finish(self) -> None:
        if self._line_open:
            print_note("")
