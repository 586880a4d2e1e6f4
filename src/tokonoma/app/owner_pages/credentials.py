"""Keys, clients, people and profiles, for the pages that show and change them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from tokonoma.app.masks import find_principal, list_maskable, try_tool_as
from tokonoma.app.page_calls import open_page_write
from tokonoma.app.reaches import SYNC_TOOLS, check_credential_name, check_reach
from tokonoma.auth import api_keys, people, profiles, sessions
from tokonoma.auth.oauth import grants
from tokonoma.auth.oauth.grants import StoredGrant
from tokonoma.auth.passwords import hash_password
from tokonoma.catalogue.explain import AccessVerdict
from tokonoma.core.call import Caller, Principal
from tokonoma.core.module import ModuleInfo
from tokonoma.core.reach import Reach
from tokonoma.server.web.access_parts import CredentialParts, ReachFields

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.core.desk import Rows

P = ParamSpec("P")
T = TypeVar("T")


def build_credential_parts(app: "App") -> CredentialParts:
    return CredentialParts(
        list_keys=partial(_read, app, api_keys.list_keys),
        find_key=partial(_read, app, api_keys.find_key),
        create_key=partial(_create_key, app),
        update_key=partial(_update_key, app),
        revoke_key=partial(_revoke_key, app),
        list_grants=partial(_read, app, grants.list_grants),
        find_grant=partial(_read, app, grants.find_grant),
        narrow_grant=partial(_narrow_grant, app),
        revoke_grant=partial(_revoke_grant, app),
        list_people=partial(_list_people, app),
        find_person=partial(_read, app, people.find_person),
        add_person=partial(_add_person, app),
        set_password=partial(_set_password, app),
        create_link=partial(_create_link, app),
        revoke_person=partial(_revoke_person, app),
        list_profiles=partial(_read, app, profiles.list_profiles),
        save_profile=partial(_save_profile, app),
        remove_profile=partial(_remove_profile, app),
        list_modules=partial(_list_modules, app),
        check_reach=partial(_check_reach, app),
        find_principal=partial(find_principal, app),
        list_seen=app.registry.visible_modules,
        try_tool=partial(_try_tool, app),
    )


def _read(app: "App", find: "Callable[Concatenate[Rows, P], T]", *given: P.args, **named: P.kwargs) -> T:
    with app.database.reading() as rows:
        return find(rows, *given, **named)


# Keys


def _create_key(app: "App", caller: Caller, name: str, reach: Reach, expires_at: int | None) -> str:
    check_credential_name(name)
    with open_page_write(app, caller)("keys.create") as statements:
        return api_keys.create_key(statements, name, reach, expires_at)


def _update_key(app: "App", caller: Caller, name: str, reach: Reach, expires_at: int | None) -> api_keys.StoredKey:
    with open_page_write(app, caller)("keys.set") as statements:
        return api_keys.update_key(statements, name, reach, expires_at)


def _revoke_key(app: "App", caller: Caller, name: str) -> None:
    with open_page_write(app, caller)("keys.revoke") as statements:
        api_keys.revoke_key(statements, name)


# Clients


def _narrow_grant(app: "App", caller: Caller, name: str, reach: Reach) -> StoredGrant:
    with open_page_write(app, caller)("clients.narrow") as statements:
        return grants.narrow_grant(statements, name, reach)


def _revoke_grant(app: "App", caller: Caller, name: str) -> StoredGrant:
    with open_page_write(app, caller)("clients.revoke") as statements:
        return grants.revoke_grant(statements, name)


# People


def _list_people(app: "App") -> list[tuple[people.Person, int]]:
    with app.database.reading() as rows:
        found, signed_in = people.list_people(rows), [each.person.id for each in sessions.list_sessions(rows)]
    return [(each, signed_in.count(each.id)) for each in found]


def _add_person(app: "App", caller: Caller, name: str, reach: Reach, password: str) -> people.Person:
    check_credential_name(name)
    hashed = hash_password(password) if password else None
    with open_page_write(app, caller)("people.add") as statements:
        person = people.add_person(statements, name, reach)
        if hashed is not None:
            people.set_password(statements, person, hashed)
        return people.find_person(statements, name)


def _set_password(app: "App", caller: Caller, name: str, password: str) -> int:
    hashed = hash_password(password) if password else None
    with open_page_write(app, caller)("people.password") as statements:
        people.ensure_owner(statements)
        return people.set_password(statements, people.find_person(statements, name), hashed)


def _create_link(app: "App", caller: Caller, name: str) -> str:
    with open_page_write(app, caller)("people.link") as statements:
        return sessions.create_ticket(statements, people.find_person(statements, name).id, "/admin/")


def _revoke_person(app: "App", caller: Caller, name: str) -> people.Revocation:
    with open_page_write(app, caller)("people.revoke") as statements:
        return people.revoke_person(statements, name)


# Profiles


def _save_profile(app: "App", caller: Caller, name: str, reach: Reach) -> None:
    check_credential_name(name)
    with open_page_write(app, caller)("profiles.set") as statements:
        profiles.save_profile(statements, name, reach)


def _remove_profile(app: "App", caller: Caller, name: str) -> None:
    with open_page_write(app, caller)("profiles.remove") as statements:
        profiles.remove_profile(statements, name)


# Reaches


def _list_modules(app: "App") -> list[ModuleInfo]:
    """Without the tools for a sync: those see everything, and only `keys create --sync` names them."""
    app.modules.look_now()  # services that another process has connected
    off = app.settings.get_names("modules_off")
    return [
        replace(info, entries=[tool for tool in info.entries if tool.path not in SYNC_TOOLS])
        for info in list_maskable(app).values()
        if info.name not in off
    ]


def _check_reach(app: "App", old: Reach, fields: ReachFields) -> Reach:
    return check_reach(
        app,
        old,
        root=fields.root or "/",
        start=fields.default,
        modules=fields.modules,
        mask=fields.mask,
        extras=fields.extras,
    )


def _try_tool(app: "App", principal: Principal, path: str, account: str, namespace: str) -> AccessVerdict:
    return try_tool_as(app, principal, path, account or None, namespace or None)[1]
