"""The consent page over HTTP: what is shown, what is chosen, and where the browser is sent."""

import html
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from web.site import CALLBACK
from web.test_sign_in import FOREIGN

from tokonoma.auth.reaches import to_columns
from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid
from tokonoma.core.reach import UNLIMITED, Reach
from tokonoma.server.web.pages.consent import build_choice

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe\x07" + "A" * 10_000


@pytest.fixture
def consent(site):
    """A signed-in owner whom a client asks for access."""
    site.add_client()
    site.sign_in()
    return site


def decide(site, decision: Any = "allow", path="", **form):
    path = path or site.build_request()
    modules = [each.split('"')[0] for each in site.get(path).text.split('name="module" value="')[1:]]
    return site.post(path, {"token": site.find_token(), "decision": decision, "module": modules, **form})


def read_answer(page):
    """The place and the parameters of a redirect."""
    place = urlsplit(page.headers["location"])
    return f"{place.scheme}://{place.netloc}{place.path}", {k: v[0] for k, v in parse_qs(place.query).items()}


def test_the_page_names_client_and_place_and_is_shown_every_time(consent):
    for _ in range(2):
        page = consent.get(consent.build_request())
        assert page.status_code == 200
        for text in ("Claude Code asks to use Tokonoma", "127.0.0.1:3999", CALLBACK, "has registered itself"):
            assert text in html.unescape(page.text)
        decide(consent)
    assert len(consent.list_codes()) == 2


def test_a_client_that_was_published_is_named_by_its_host(consent):
    url = "https://claude.ai/oauth/client-metadata"
    consent.add_client(id=url)
    text = consent.get(consent.build_request(client_id=url)).text
    assert "Published by claude.ai" in text
    assert "registered itself" not in text


def test_allowing_sends_a_code_to_the_client(consent):
    page = decide(consent)
    place, answer = read_answer(page)
    assert (page.status_code, place) == (303, CALLBACK)
    assert answer.keys() == {"code", "state", "iss"}
    assert (answer["state"], answer["iss"]) == ("st&te", consent.origin)
    ((person, *reach),) = consent.list_codes()
    assert person == "owner"
    assert dict(zip(("root", "start", "modules", "mask", "extras"), reach, strict=True)) == to_columns(UNLIMITED)


def test_denying_sends_no_code(consent):
    place, answer = read_answer(decide(consent, "deny"))
    assert place == CALLBACK
    assert (answer["error"], answer["state"], answer["iss"]) == ("access_denied", "st&te", consent.origin)
    assert consent.list_codes() == []


def test_what_is_chosen_is_what_the_client_gets(consent):
    decide(consent, namespace="/work", module=["memory", "items"], read_only="1")
    ((_, root, start, modules, mask, _),) = consent.list_codes()
    assert (root, start, json.loads(modules)) == ("/work", "/work", ["items", "memory"])
    assert json.loads(mask) == ["*:destroy", "*:write"]


def test_a_profile_narrows_further_and_a_person_never_gives_more_than_the_own_reach(site):
    readers = Reach("/team/a", "/team/a", None, frozenset({"*:write"}))
    with site.app.database.writing() as statements:
        statements.run(
            """insert into profile (name, root, start, modules, mask, extras, created_at)
            values ('readers', :root, :start, :modules, :mask, :extras, 1)""",
            **to_columns(readers),
        )
    site.add_client()
    site.add_person("ada", reach=Reach("/team", "/team/b", frozenset({"memory", "vault"}), frozenset({"vault:write"})))
    site.sign_in("ada")
    page = site.get(site.build_request()).text
    assert page.count('name="module"') == 2
    assert ">readers</option>" in page
    decide(site, module=["memory", "items"], profile="readers")
    ((_, root, _, modules, mask, _),) = site.list_codes()
    assert (root, json.loads(modules)) == ("/team/a", ["memory"])
    assert json.loads(mask) == ["*:write", "vault:write"]
    refused = decide(site, namespace="/b", profile="readers")
    assert (refused.status_code, "nothing in common" in refused.text) == (400, True)
    assert decide(site, profile="gone").status_code == 400
    assert decide(site, namespace="/../x").status_code == 400
    assert len(site.list_codes()) == 1


def test_a_mistake_shows_the_page_again_with_what_was_chosen(consent):
    page = decide(consent, namespace="/work", module=[], read_only="1")
    assert page.status_code == 400
    assert "Choose at least one module." in page.text
    assert 'value="/work"' in page.text
    assert page.text.count(" checked>") == 1
    assert decide(consent, "").status_code == 400
    assert decide(consent, ["allow", "deny"]).status_code == 400
    assert consent.list_codes() == []


@pytest.mark.parametrize(
    ("principal", "chosen", "expected"),
    [
        (Principal("owner"), {}, Reach()),
        (Principal("p", "web", Reach("/t", "/t/x")), {}, Reach("/t", "/t/x")),
        (Principal("p", "web", Reach("/t", "/t/x")), {"namespace": "y"}, Reach("/t/x/y", "/t/x/y", accounts_from="/t")),
        (Principal("p", "web", Reach("/t", "/t/x")), {"namespace": "/y/"}, Reach("/t/y", "/t/y", accounts_from="/t")),
        (Principal("p", "web", Reach(extras=frozenset({"jira.*"}))), {}, Reach(extras=frozenset({"jira.*"}))),
    ],
)
def test_a_choice_is_made_inside_the_reach_of_the_person(principal, chosen, expected):
    asked: dict[str, Any] = {"namespace": "", "modules": None, "read_only": False, "profile": None, **chosen}
    assert build_choice(principal, **asked) == expected


@pytest.mark.parametrize("namespace", ["/..", "../../..", "a\x01b"])
def test_a_namespace_outside_is_refused(namespace):
    with pytest.raises(Invalid, match="not one that you may use"):
        build_choice(Principal("owner"), namespace=namespace, modules=None, read_only=False, profile=None)


@pytest.mark.parametrize("headers", FOREIGN, ids=json.dumps)
def test_a_decision_of_another_site_makes_no_code(open_site, headers):
    site = open_site()
    site.add_client()
    site.sign_in()
    path, token = site.build_request(), site.find_token()
    form = {"token": token, "decision": "allow", "module": "memory"}
    assert site.post(path, form, **headers).status_code == 403
    assert site.list_codes() == []
    assert site.post(path, form).status_code == 303
    assert len(site.list_codes()) == 1


def test_a_decision_needs_a_session_and_its_token(consent):
    path, form = consent.build_request(), {"decision": "allow", "module": "memory"}
    token = consent.find_token()
    for sent in ({}, {"token": ""}, {"token": "x"}, {"token": [token, token]}):
        assert consent.post(path, {**form, **sent}).status_code == 403
    consent.cookies = httpx.Cookies()
    assert consent.post(path, {**form, "token": token}).status_code == 403
    assert consent.list_codes() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "nobody"},
        {"client_id": ""},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": CALLBACK + "/../x"},
        {"redirect_uri": CALLBACK + "?x=1"},
        {"redirect_uri": CALLBACK.replace("127.0.0.1", "localhost")},
        {"redirect_uri": CALLBACK.replace("127.0.0.1", "evil@127.0.0.1")},
    ],
)
def test_what_could_lead_elsewhere_is_shown_and_never_followed(consent, changed):
    path = consent.build_request(**changed)
    for page in (consent.get(path), consent.post(path, {"token": consent.find_token(), "decision": "allow"})):
        assert page.status_code == 400
        assert "location" not in page.headers
        assert "form-action 'self';" in page.headers["content-security-policy"]


def test_a_parameter_sent_twice_is_shown_in_both_languages(consent):
    path = consent.build_request() + "&state=again"
    assert "sent twice" in consent.get(path).text
    page = consent.get(path, accept_language="ja")
    assert (page.status_code, "二重" in page.text) == (400, True)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"scope": "everything"}, "invalid_scope"),
    ],
)
def test_other_mistakes_go_to_the_client(consent, changed, error):
    place, answer = read_answer(consent.get(consent.build_request(**changed)))
    assert (place, answer["error"], answer["state"], answer["iss"]) == (CALLBACK, error, "st&te", consent.origin)


@pytest.mark.parametrize(
    ("uri", "allowed"),
    [
        ("http://127.0.0.1:3999/callback", "'self' http://127.0.0.1:3999"),
        ("https://claude.ai/api/mcp/auth_callback", "'self' https://claude.ai"),
        ("cursor://anysphere.cursor-retrieval/oauth", "'self' cursor:"),
        ("http://[::1]:3999/callback", "'self'"),
    ],
)
def test_the_policy_allows_the_place_of_this_request_and_no_other(open_site, uri, allowed):
    site = open_site()
    site.add_client(redirect_uri=uri)
    site.sign_in()
    policy = site.get(site.build_request(redirect_uri=uri)).headers["content-security-policy"]
    assert f"form-action {allowed};" in policy
    page = decide(site, path=site.build_request(redirect_uri=uri))
    if uri.startswith(("https", "http://127")):
        assert page.headers["location"].startswith(f"{uri}?code=")
    else:  # a page that leads on: the policy cannot name the place, or a program opens beside the browser
        assert page.status_code == 200
        assert html.unescape(page.text).count(f"{uri}?code=") == 2


def test_the_name_of_a_client_is_cut_and_escaped(open_site):
    site = open_site()
    site.add_client(name=HOSTILE)
    site.sign_in()
    text = site.get(site.build_request()).text
    assert "<img" not in text
    assert "&lt;img" in text
    assert not any(mark in text for mark in ("\u202e", "\x07", "A" * 100))


def test_no_client_can_ask_where_oauth_is_off(open_site):
    site = open_site(oauth="off")
    site.add_client()
    site.sign_in()
    assert "Give this address to a client" not in site.get("/admin/").text
    assert site.get(site.build_request()).status_code == 404
    assert decide(site).status_code == 404
    assert site.list_codes() == []
