"""Modules that no house should take in, one for each reason."""

from dataclasses import replace
from typing import Any

from tokonoma.core.desk import Desk
from tokonoma.core.module import Migration, Module, Tool


def fine(desk: Desk) -> dict[str, str]:
    """Answers."""
    return {"told": desk.principal.name}


def silent(desk: Desk) -> dict[str, str]:
    return {"told": desk.principal.name}


def untyped(desk: Desk):
    """No return type."""
    return {"told": desk.principal.name}


def bare(desk: Desk) -> list[str]:
    """Not an object."""
    return [desk.principal.name]


async def waits(desk: Desk) -> dict[str, str]:
    """Talks to somebody."""
    return {"told": desk.principal.name}


def made(name: str, *tools: Tool) -> Module:
    return Module(name, "A summary.", tools)


def storing(name: str, *statements: str, **more: Any) -> Module:
    return Module(name, "A summary.", (Tool("fine", fine, "Fine"),), tables=(Migration("001", statements),), **more)


GOOD = made("good", Tool("fine", fine, "Fine"))
CLASH = made("clash", Tool("fine", fine, "Fine", listed="system_status"))
ALIAS = made("alias", Tool("fine", fine, "Fine", aliases=("good.fine",)))
TWICE = made("twice", Tool("fine", fine, "Fine"), Tool("other", fine, "Fine", listed="twice_fine"))
LONG = made("long", Tool("fine", fine, "Fine", listed="x" * 65))
OTHER = made("another", Tool("fine", fine, "Fine"))
SHOUT = made("Shout", Tool("fine", fine, "Fine"))
JOURNAL = made("journal", Tool("fine", fine, "Fine"))
KEYRING = made("keyring", Tool("fine", fine, "Fine"))
MEMO = made("memo", Tool("fine", fine, "Fine"))
EMPTY = made("empty")
ODD = made("odd", Tool("Fine Tool", fine, "Fine"))
SILENT = made("silent", Tool("silent", silent, "Silent"))
UNTYPED = made("untyped", Tool("untyped", untyped, "Untyped"))
BARE = made("bare", Tool("bare", bare, "Bare"))
WAITS = made("waits", Tool("waits", waits, "Waits"))
NOT_OUTSIDE = made("not_outside", Tool("fine", fine, "Fine", outside=True))
NUMBER = 42
TAKES = storing("takes", "create table if not exists api_key (id text)")
STRAYS = storing("strays", "create table strays_note (id text)", "create unique index note on strays_note (id)")
DROPS = storing("drops", "DROP TABLE journal")
UNCLASSED = storing("unclassed", "create table unclassed_row (id text)", record_tables=frozenset({"unclassed_row"}))
INDEXES = replace(made("indexes", Tool("fine", fine, "Fine")), documents=lambda rows, after, most: ())
CLAIMS_ROWS = storing("claims_rows", record_tables=frozenset({"memo"}))
NOTE = storing("note", "create table note_book_page (id text)")
