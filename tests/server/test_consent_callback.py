"""`/services/callback`: for browsers without a key that bring the right state; consents may begin on a page of any
server."""

import pytest

from tokonoma.auth.oauth.documents import check_document
from tokonoma.core.errors import Invalid
from tokonoma.keyring.sign_ins import begin_sign_in, take_answer

PATH = "/services/callback"
DOCUMENT = "/services/client.json"
HOST = [("host", "tokonoma.example.com")]


@pytest.fixture
def door(open_door):
    found = open_door(public_url="https://tokonoma.example.com/", require_key=True)
    with found.app.database.writing() as statements:
        begin_sign_in(statements, "github", "right", 600)
    return found


def test_an_answer_is_taken_once_and_nothing_of_it_is_repeated(door):
    query = f"{PATH}?state=right&code=canary"
    page = door.get(query, remote="203.0.113.9", headers=HOST)
    assert (page.status_code, "go back to the terminal" in page.text) == (200, True)
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert page.headers["content-type"].startswith("text/plain")
    again = door.get(query, headers=HOST)
    assert (again.status_code, "already been used" in again.text) == (400, True)
    assert "canary" not in page.text + again.text
    with door.app.database.reading() as rows:
        assert take_answer(rows, "right") == "state=right&code=canary"


@pytest.mark.parametrize(
    "query",
    [
        "state=wrong&code=c",
        "code=c",
        "",
        "state=right",
        "state=right&code=c&error=e",
        "state=right&code=c&code=d",
    ],
)
def test_anything_else_leaves_the_consent_open(door, query):
    page = door.get(f"{PATH}?{query}", headers=HOST)
    assert page.status_code == 400
    assert not any(word in page.text for word in ("wrong", "right"))
    with door.app.database.reading() as rows:
        assert take_answer(rows, "right") is None


def test_another_method_does_not_use_the_state_up(door):
    for method in ("HEAD", "POST", "DELETE"):
        assert door.send(method, f"{PATH}?state=right&code=c", "127.0.0.1", HOST, b"").status_code == 405
    with door.app.database.reading() as rows:
        assert take_answer(rows, "right") is None


def test_a_foreign_host_and_a_foreign_page_are_refused(door):
    target = f"{PATH}?state=right&code=c"
    assert door.get(target, headers=[("host", "evil.example")]).status_code == 421
    assert door.get(target, headers=[*HOST, ("origin", "https://evil.example")]).status_code == 403
    assert [each["code"] for each in door.read_journal()] == ["denied.origin", "denied.host"]
    with door.app.database.reading() as rows:
        assert take_answer(rows, "right") is None


def test_without_a_public_url_only_a_page_can_begin_a_consent(open_door):
    answer = open_door().get(f"{PATH}?state=right&code=c")
    assert (answer.status_code, "Nobody waits" in answer.text) == (400, True)
    assert open_door().get(DOCUMENT).status_code == 404


def test_authorization_servers_can_read_which_client_this_is(door):
    page = door.get(DOCUMENT, remote="203.0.113.9", headers=HOST)
    client_id = f"https://tokonoma.example.com{DOCUMENT}"
    assert (page.status_code, page.headers["content-type"]) == (200, "application/json")
    kept = check_document(client_id, page.json())  # as a server of the same kind would
    assert kept["redirect_uris"] == [f"https://tokonoma.example.com{PATH}"]
    assert kept["token_endpoint_auth_method"] == "none"
    assert door.send("POST", DOCUMENT, "127.0.0.1", HOST, b"").status_code == 405


@pytest.mark.parametrize(
    "url", ["http://example.com", "https://x/path", "https://u@x", "tokonoma", "https://", "https://x:0"]
)
def test_a_public_url_is_an_origin_that_nobody_can_listen_to(open_door, url):
    with pytest.raises(Invalid, match="must look like https://"):
        open_door(public_url=url)


def test_a_public_url_may_be_on_this_machine(open_door):
    for url in ("http://localhost:8722", "http://127.0.0.1", "https://[2001:db8::1]:8443"):
        assert open_door(public_url=url).app.settings.get_text("public_url") == url
