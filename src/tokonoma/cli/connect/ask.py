"""What `connect` asks for: secrets at a hidden prompt or on standard input, never as arguments."""

import re
import sys
from collections.abc import Iterable, Mapping

import click

from tokonoma.app.accounts import find_name
from tokonoma.cli.output import stands_at_terminal
from tokonoma.core.errors import Denied, Invalid, Unavailable
from tokonoma.services.connecting import MAX_SECRET, check_secret
from tokonoma.services.credentials import Credentials
from tokonoma.services.providers import PROVIDERS

_LONG = re.compile(r"[A-Za-z0-9_-]{40,}")  # longer than any name


def refuse_tokens(more: Iterable[str], named: Mapping[str, str | None]) -> None:
    """Denied for an argument that is or looks like a token. It is not repeated."""
    given = [*more, *(text for text in named.values() if text and looks_like_token(text))]
    if given:
        message = "Give no token as an argument: every user of this machine can read it, and your shell keeps it."
        advice = "Give it at the prompt or on standard input. If that was a real token, replace it at the service."
        raise Denied(f"{message} {advice}", reason="argument")


def looks_like_token(text: str) -> bool:
    starts = tuple(start for provider in PROVIDERS.values() for start in provider.token_starts)
    return text.startswith(starts) or _LONG.fullmatch(text) is not None


def read_secret(what: str) -> str:
    """One secret, without the spaces around it."""
    if stands_at_terminal():
        text = str(click.prompt(what, hide_input=True, err=True))
    else:
        text = sys.stdin.read(MAX_SECRET + 1)
    return check_secret(text, what)


def ask_text(given: str | None, what: str, option: str) -> str:
    """The value of an option, else what the owner answers."""
    if given is not None:
        return given.strip()
    if stands_at_terminal():
        return str(click.prompt(what, err=True)).strip()
    raise Invalid(f"{what} is necessary: give it with {option}.", field=option.lstrip("-"))


def ask_whose(credentials: Credentials, *, untested: bool) -> str:
    """How the service calls the user of this token; empty if it is not to be asked."""
    if untested:
        return ""
    try:
        return find_name(credentials)
    except Unavailable as error:
        error.message = f"{error.message} Nothing was stored. Use --no-test to store it without asking the service."
        raise
