"""What pages need of the rest of the server: functions that `app/pages.py` joins. They block: handlers call them in a
thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.auth.sessions import Visitor, WebSession, WebTicket
from tokonoma.core.call import Caller, Principal
from tokonoma.core.reach import Reach
from tokonoma.server.web.access_parts import AccessParts
from tokonoma.server.web.system_parts import SystemParts

Language = Literal["en", "ja"]
RunTool = Callable[[Caller, str, str, Mapping[str, Any]], Any]
"""who, module, tool, parameters → the value, as JSON has it. Walks the pipeline like any call. Raises Refusal."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A reach with a name, to choose at a consent."""

    name: str
    reach: Reach


@dataclass(frozen=True, slots=True)
class ModuleLine:
    """A module as a person chooses it."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class PageParts:
    find_session: Callable[[str], WebSession | None]
    """The token of a cookie → its session, if it is still good. Notes that it was used."""
    list_sessions: Callable[[str], Sequence[WebSession]]
    """The id of a person → where that person is signed in."""
    check_password: Callable[[str, str, Visitor], str]
    """name, password → the token of a new session. Unauthenticated or Limited."""
    find_ticket: Callable[[str], WebTicket | None]
    """The secret of a one-time link → whom it signs in. Does not use it up."""
    use_ticket: Callable[[str, Visitor], tuple[str, str]]
    """The secret of a one-time link → the token of a new session, and the path that the link leads to. Expired."""
    end_session: Callable[[WebSession], None]
    end_other_sessions: Callable[[WebSession], int]
    run_tool: RunTool
    """`gateway` is the module of the meta-tools."""
    run_owner_tool: RunTool
    """A tool that no catalogue lists (ADR 0012), for the owner alone. Denied for others."""
    list_modules: Callable[[Principal], Sequence[ModuleLine]]
    list_profiles: Callable[[], Sequence[Profile]]
    record_refusal: Callable[[Caller, str, str], None]
    system: SystemParts
    count_approvals: Callable[[], int]
    """How many calls wait for the owner."""
    session_days: int
    language: Language
    """For browsers that ask for neither of ours."""
    access: AccessParts
