from web.site import Site

from tokonoma.auth.api_keys import create_key, find_key
from tokonoma.auth.oauth.clients import check_metadata, save_client
from tokonoma.auth.oauth.grants import create_grant
from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.people import OWNER_ID, add_person, ensure_owner
from tokonoma.auth.profiles import save_profile
from tokonoma.core.ids import uuid7
from tokonoma.core.reach import Reach

CLIENTS = "/admin/clients"


def fill(site: Site, text: str) -> list[str]:
    """A key, a client, a person and a profile whose names are this text, as far as each takes it."""
    named = f"{text[:200]} {uuid7()}".replace("/", "")
    reach = Reach("/work", "/work", None, frozenset({"*:destroy", "github@main.search_code", "gone:write"}))
    with site.app.database.writing() as statements:
        ensure_owner(statements)
        create_key(statements, named, reach)
        key = find_key(statements, named)
        person = add_person(statements, named, Reach("/work", "/work", frozenset({"memory"})))
        metadata = {"client_name": text[:100] or "x", "redirect_uris": ["http://127.0.0.1:1/callback"]}
        save_client(statements, named, "registered", check_metadata(metadata))
        claims = TokenClaims("", OWNER_ID, named, "http://127.0.0.1/mcp", "mcp")
        grant = create_grant(statements, named, text, claims, Reach(), text[:40])
        save_profile(statements, named, reach)
    return [
        CLIENTS,
        f"{CLIENTS}?ended=1",
        f"{CLIENTS}/keys/{key.id}",
        f"{CLIENTS}/keys/{key.id}/revoke",
        f"{CLIENTS}/grants/{grant.grant}",
        f"{CLIENTS}/grants/{grant.grant}/revoke",
        f"{CLIENTS}/people/new",
        f"{CLIENTS}/people/{person.id}",
        f"{CLIENTS}/people/{person.id}/revoke",
        f"{CLIENTS}/see?credential=person:{person.id}&tool=vault.read",
    ]
