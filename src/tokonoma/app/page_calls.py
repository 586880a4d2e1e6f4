"""What people do on pages, as the journal holds it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from tokonoma.core.call import Call, Caller
from tokonoma.core.desk import Statements
from tokonoma.core.ids import uuid7

if TYPE_CHECKING:
    from tokonoma.app import App

OpenOwnerWrite = Callable[[str], AbstractContextManager[Statements]]
"""What is done → a transaction that the journal holds as the owner's work: at the command line, or on a page."""


def build_page_call(caller: Caller, what: str) -> Call:
    """The call that stands in the journal for what a person does on a page."""
    return Call("admin", what, {}, caller, request_id=uuid7(), identified=caller.principal)


def open_page_write(app: "App", caller: Caller) -> OpenOwnerWrite:
    return lambda what: app.journal.write(build_page_call(caller, what))
