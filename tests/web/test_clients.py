"""Clients and keys: the reach editor without scripts, keys that are shown once, people, profiles, "see as"."""

import re
from dataclasses import replace
from typing import Any

import pytest
from connectors.standins import start_standin
from talk import Http
from web.site import Site

from tokonoma.app.accounts import store_account
from tokonoma.auth.api_keys import create_key, find_key
from tokonoma.auth.oauth.grants import create_grant, find_grant
from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.people import OWNER_ID, add_person, ensure_owner, find_person, read_password
from tokonoma.auth.profiles import find_profile, save_profile
from tokonoma.auth.sessions import find_ticket
from tokonoma.core.errors import Missing
from tokonoma.core.reach import UNLIMITED, Reach
from tokonoma.keyring.accounts import NewAccount

PATH = "/admin/clients"
BOX = re.compile(r'<input type="(checkbox|radio)" name="(\w+)" value="([^"]*)"([^>]*)>')
FIELD = re.compile(r'<input (?:id="\w+" )?(?:type="hidden" )?name="(\w+)"(?: type="\w+")? value="([^"]*)"')


@pytest.fixture
def home(site) -> Site:
    site.sign_in()
    return site


def read(site: Site, find: Any, *given: Any) -> Any:
    with site.app.database.reading() as rows:
        return find(rows, *given)


def write(site: Site, do: Any, *given: Any) -> Any:
    with site.app.database.writing() as statements:
        ensure_owner(statements)
        return do(statements, *given)


def read_form(site: Site, path: str) -> dict[str, list[str]]:
    """What a browser would send of the editor, as it stands."""
    text = site.get(path).text
    part = text[text.index('<form method="post" action="/admin/clients') :]
    form: dict[str, list[str]] = {}
    for name, value in FIELD.findall(part):
        form.setdefault(name, []).append(value)
    for _, name, value, rest in BOX.findall(part):
        if "checked" in rest:
            form.setdefault(name, []).append(value)
    return form


def untick(form: dict[str, list[str]], *rules: str) -> dict[str, list[str]]:
    for rule in rules:
        form["allow"].remove(rule)
    return form


def add_grant(site: Site, person: str = OWNER_ID, reach: Reach = UNLIMITED) -> str:
    site.add_client()
    claims = TokenClaims("", person, "client-1", "http://127.0.0.1:8722/mcp", "mcp")
    return write(site, create_grant, "client-1", "Claude Code", claims, reach, "10.0.0.1").grant


def test_a_key_is_shown_once_and_works(home):
    form = untick(read_form(home, f"{PATH}/keys/new"), "vault", "memory.delete", "*:destroy")
    form |= {"name": ["reports"], "root": ["/work"], "default": [""], "expires": ["90d"], "do": ["save"]}
    made = home.post(f"{PATH}/keys/new", form)
    (secret,) = re.findall(r'id="secret">(tkn_[^<]+)<', made.text)
    key = read(home, find_key, "reports")
    assert key.reach == Reach("/work", "/work", None, frozenset({"vault", "memory.delete", "*:destroy"}))
    assert key.expires_at is not None
    agent = Http(home.app, secret)
    assert agent.call("memory", "save", content="x")["memo_id"]
    assert agent.refused("vault", "write", path="a", content="x")["code"]
    assert secret not in home.get(PATH).text + home.get(f"{PATH}/keys/{key.id}").text
    entry = next(each for each in home.read_journal() if each["tool"] == "keys.create")
    assert (entry["principal"], entry["transport"]) == ("owner", "web")


def test_the_form_as_it_stands_changes_nothing(home):
    """Each kind of rule has its tick, and what the tree cannot show is kept."""
    mask = {"*:read", "items", "memory.save", "vault:write", "github@work", "github@work.merge_pr", "gone@a:write"}
    for modules in (None, frozenset({"memory", "github"})):
        reach = Reach("/a", "/a/b", modules, frozenset(mask), frozenset({"github.*", "jira.delete_issue"}))
        write(home, save_profile, "p", reach)
        path = f"{PATH}/profiles/p"
        home.post(path, {**read_form(home, path), "do": ["save"]})
        # A module that is not one of its modules needs no rule of its own.
        expected = reach if modules is None else replace(reach, mask=reach.mask - {"items"})
        assert read(home, find_profile, "p").reach == expected


def test_a_client_is_narrowed_and_follows_at_once(home):
    id = add_grant(home)
    path = f"{PATH}/grants/{id}"
    form = untick(read_form(home, path), "*:write", "*:destroy", "items")
    preview = home.post(path, {**form, "do": ["preview"]})
    assert preview.status_code == 200
    assert "This would be stored" in preview.text
    assert "--mask &#39;*:destroy,*:write,items&#39;" in preview.text
    assert read(home, find_grant, id).reach == UNLIMITED
    answer = home.post(path, {**form, "do": ["save"]})
    assert answer.headers["location"] == f"{path}?notice=saved"
    assert read(home, find_grant, id).reach.mask == {"*:write", "*:destroy", "items"}
    seen = home.get(f"{PATH}/see?credential=client:claude-code").text
    assert "<b>memory</b>" in seen
    assert "<b>items</b>" not in seen
    tried = home.get(f"{PATH}/see?credential=client:claude-code&tool=memory.save").text
    assert "memory.save does not exist for it." in tried
    assert "mask: *:write" in tried
    assert "clients.narrow" in [each["tool"] for each in home.read_journal()]


def test_only_ticked_modules(home):
    id = add_grant(home)
    form = read_form(home, f"{PATH}/grants/{id}")
    form = {**form, "scope": ["chosen"], "allow": [each for each in form["allow"] if each != "vault"], "do": ["save"]}
    home.post(f"{PATH}/grants/{id}", form)
    reach = read(home, find_grant, id).reach
    assert "vault" not in reach.modules
    assert {"memory", "items"} <= reach.modules
    nothing = home.post(f"{PATH}/grants/{id}", {**form, "allow": []})
    assert nothing.status_code == 400
    assert "Choose at least one module." in nothing.text


def test_a_client_gets_no_more_than_its_person(home):
    person = write(home, add_person, "ada", Reach("/ada", "/ada", frozenset({"memory"})))
    id = add_grant(home, person.id, Reach("/ada", "/ada", frozenset({"memory"})))
    form = {**read_form(home, f"{PATH}/grants/{id}"), "root": ["/"], "default": ["/"], "do": ["save"]}
    answer = home.post(f"{PATH}/grants/{id}", form)
    assert answer.status_code == 400
    assert "may not use the namespace /" in answer.text
    assert read(home, find_grant, id).reach.root == "/ada"


def test_what_is_typed_stays_after_a_mistake(home):
    form = {**read_form(home, f"{PATH}/keys/new"), "name": ["k"], "other": ["gihtub:write"], "do": ["save"]}
    answer = home.post(f"{PATH}/keys/new", form)
    assert answer.status_code == 400
    assert "Did you mean &#39;github&#39;?" in answer.text
    assert 'value="gihtub:write"' in answer.text
    assert 'value="k"' in answer.text
    wrong = home.post(f"{PATH}/keys/new", {**form, "other": [""], "expires": ["soon"]})
    assert "Use a duration like 90d" in wrong.text


def test_revoking_needs_a_second_step(home):
    key = write(home, create_key, "old")
    agent, id = Http(home.app, key), read(home, find_key, "old").id
    assert "It is the last key." in home.get(f"{PATH}/keys/{id}/revoke").text
    assert agent.call("memory", "list")["items"] == []
    home.post(f"{PATH}/keys/{id}/revoke", {"token": home.find_token()})
    with pytest.raises(Missing):
        read(home, find_key, "old")
    grant = add_grant(home)
    assert "Its tokens are refused" in home.get(f"{PATH}/grants/{grant}/revoke").text
    home.post(f"{PATH}/grants/{grant}/revoke", {"token": home.find_token()})
    assert read(home, find_grant, grant).state == "revoked"
    assert "claude-code" in home.get(f"{PATH}?ended=1").text
    assert "claude-code" not in home.get(PATH).text


def test_people_get_a_password_or_a_link(home):
    form = {**read_form(home, f"{PATH}/people/new"), "name": ["ada"], "password": ["short"], "do": ["save"]}
    assert "at least 12 characters" in home.post(f"{PATH}/people/new", form).text
    place = home.post(f"{PATH}/people/new", {**form, "password": [""]}).headers["location"].partition("?")[0]
    token = home.find_token()
    link = home.post(place, {"token": token, "do": "link"})
    (secret,) = re.findall(r"sign-in\?link=([\w-]+)<", link.text)
    assert read(home, find_ticket, secret).person.name == "ada"
    words = {"token": token, "do": "password", "password": "correct horse battery"}
    assert "are not the same" in home.post(place, {**words, "again": "other"}).text
    assert home.post(place, {**words, "again": words["password"]}).status_code == 303
    assert read(home, read_password, "ada")[1] is not None
    home.post(place, {"token": token, "do": "remove"})
    assert read(home, read_password, "ada")[1] is None
    home.post(f"{place}/revoke", {"token": token})
    with pytest.raises(Missing):
        read(home, find_person, "ada")
    assert home.post(f"{PATH}/people/owner/revoke", {"token": token}).status_code == 403


def test_profiles_are_made_taken_over_and_removed(home):
    form = untick(read_form(home, f"{PATH}/profiles"), "*:write", "*:destroy")
    home.post(f"{PATH}/profiles", {**form, "name": ["reader"], "do": ["save"]})
    assert read(home, find_profile, "reader").reach.mask == {"*:write", "*:destroy"}
    again = home.post(f"{PATH}/profiles", {**form, "name": ["reader"], "do": ["save"]})
    assert "already a profile" in again.text
    assert "*:write" not in read_form(home, f"{PATH}/keys/new?profile=reader")["allow"]
    home.post(f"{PATH}/profiles/reader/remove", {"token": home.find_token()})
    with pytest.raises(Missing):
        read(home, find_profile, "reader")


def test_the_tree_has_the_accounts_of_a_service(home):
    with start_standin("github") as standin:
        store_account(home.app, NewAccount("github", "work", details=standin.details), {"token": standin.token})
    form = untick(read_form(home, f"{PATH}/keys/new"), "github@work:write", "github@work.search_code")
    home.post(f"{PATH}/keys/new", {**form, "name": ["k"], "do": ["save"]})
    assert read(home, find_key, "k").reach.mask == {"github@work:write", "github@work.search_code"}
    seen = home.get(f"{PATH}/see?credential=key:k").text
    assert ">get_file<" in seen or ">get_issue<" in seen
    assert ">search_code<" not in seen
