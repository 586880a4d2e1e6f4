"""What pages need of the rest of the server, joined: sessions, people, modules and the journal."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.app.approvals import list_approvals
from tokonoma.app.owner_pages import build_access_parts
from tokonoma.app.page_calls import build_page_call
from tokonoma.app.system_pages import build_system_parts
from tokonoma.auth import sessions
from tokonoma.auth.passwords import PasswordCheck
from tokonoma.auth.people import find_person
from tokonoma.auth.profiles import list_profiles
from tokonoma.auth.sessions import Visitor, WebSession, WebTicket
from tokonoma.catalogue.registry import GATEWAY
from tokonoma.core.call import Call, Caller, Principal
from tokonoma.core.errors import Denied
from tokonoma.server.web.page_parts import ModuleLine, PageParts, Profile
from tokonoma.server.web.pages.words import MODULES

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.core.desk import Statements


def build_page_parts(app: "App") -> PageParts:
    passwords = PasswordCheck(app.database.reading, app.database.writing)
    return PageParts(
        find_session=partial(_find_session, app),
        list_sessions=partial(_list_sessions, app),
        check_password=partial(_check_password, app, passwords),
        find_ticket=partial(_find_ticket, app),
        use_ticket=partial(_use_ticket, app),
        end_session=partial(_end_session, app),
        end_other_sessions=partial(_end_other_sessions, app),
        run_tool=partial(_run_tool, app),
        run_owner_tool=partial(_run_owner_tool, app),
        list_modules=partial(_list_modules, app),
        list_profiles=partial(_list_profiles, app),
        record_refusal=app.journal.refusals.record,
        system=build_system_parts(app),
        count_approvals=lambda: len(list_approvals(app)),
        session_days=app.settings.get_int("session_days"),
        language=app.dispatcher.language,
        access=build_access_parts(app),
    )


def write_as_person(
    app: "App", what: str, principal: Principal, visitor: Visitor
) -> "AbstractContextManager[Statements]":
    """A transaction for what a person does on a page; the journal holds it like any call."""
    caller = Caller("web", principal=principal, remote=visitor.remote, client=visitor.agent)
    return app.journal.write(build_page_call(caller, what))


def _run_tool(app: "App", caller: Caller, module: str, tool: str, params: Mapping[str, Any]) -> Any:
    info = app.registry.find_meta_tool(tool) if module == GATEWAY else None
    return _run_call(app, Call(module, tool, params, caller, tool_info=info))


def _run_owner_tool(app: "App", caller: Caller, module: str, tool: str, params: Mapping[str, Any]) -> Any:
    if caller.principal is None or caller.principal.kind != "owner":
        raise Denied("Only the owner can do this.")
    return _run_call(app, Call(module, tool, params, caller, tool_info=app.registry.find_owner_tool(module, tool)))


def _run_call(app: "App", call: Call) -> Any:
    """The value as a client would get it: what the guard has written."""
    results: SimpleQueue[BaseException | None] = SimpleQueue()
    app.calls.submit(call, lambda _, error: results.put(error))
    error = results.get()
    if error is not None:
        raise error
    return orjson.loads(call.body)


def _find_session(app: "App", token: str) -> WebSession | None:
    with app.database.reading() as rows:
        found = sessions.find_session(rows, token)
    if found is not None and sessions.is_use_due(found):
        with app.database.writing() as statements:
            sessions.note_use(statements, found)
    return found


def _list_sessions(app: "App", person: str) -> list[WebSession]:
    with app.database.reading() as rows:
        return sessions.list_sessions(rows, person)


def _check_password(app: "App", passwords: PasswordCheck, name: str, text: str, visitor: Visitor) -> str:
    person, met = passwords.check(name, text, visitor.remote)
    with app.database.reading() as rows:
        principal = find_person(rows, person).principal
    days = app.settings.get_int("session_days")
    with write_as_person(app, "people.sign_in", principal, visitor) as statements:
        return sessions.begin_by_password(statements, person, met, days, visitor)


def _find_ticket(app: "App", secret: str) -> WebTicket | None:
    with app.database.reading() as rows:
        return sessions.find_ticket(rows, secret)


def _use_ticket(app: "App", secret: str, visitor: Visitor) -> tuple[str, str]:
    with app.database.reading() as rows:  # strangers with wrong links write nothing
        found = sessions.require_ticket(rows, secret)
    with write_as_person(app, "people.sign_in", found.person.principal, visitor) as statements:
        ticket = sessions.use_ticket(statements, secret)
        days = app.settings.get_int("session_days")
        return sessions.create_session(statements, ticket.person.id, days, visitor), ticket.leads_to


def _end_session(app: "App", session: WebSession) -> None:
    visitor = Visitor(session.remote, session.agent)
    with write_as_person(app, "people.sign_out", session.person.principal, visitor) as statements:
        sessions.end_session(statements, session)


def _end_other_sessions(app: "App", session: WebSession) -> int:
    visitor = Visitor(session.remote, session.agent)
    with write_as_person(app, "people.sign_out", session.person.principal, visitor) as statements:
        return sessions.end_other_sessions(statements, session)


def _list_modules(app: "App", principal: Principal) -> list[ModuleLine]:
    """Those of the house first, in the order of the table; then services and plugins."""
    order = list(MODULES)
    found = app.registry.visible_modules(principal)
    found.sort(key=lambda info: (order.index(info.name) if info.name in order else len(order), info.name))
    return [ModuleLine(info.name, MODULES.get(info.name, info.summary)) for info in found]


def _list_profiles(app: "App") -> list[Profile]:
    with app.database.reading() as rows:
        return [Profile(each.name, each.reach) for each in list_profiles(rows)]
