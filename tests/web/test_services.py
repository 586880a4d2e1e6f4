"""Services: connected by a pasted token and by a consent, tested, made default and disconnected; no secret is shown."""

import re
from collections.abc import Generator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from connectors.standins import Standin, start_standin
from web.site import Site

from tokonoma.app.keyring import open_keyring
from tokonoma.keyring.accounts import Account, list_accounts, list_defaults, read_secrets

PATH = "/admin/services"


@pytest.fixture(scope="module")
def github() -> Generator[Standin]:
    with start_standin("github") as standin:
        yield standin


@pytest.fixture
def home(site) -> Site:
    site.sign_in()
    return site


def find_accounts(site: Site) -> dict[str, Account]:
    with site.app.database.reading() as rows:
        return {each.name: each for each in list_accounts(rows)}


def open_secrets(site: Site, name: str) -> dict[str, str]:
    with site.app.database.reading() as rows:
        found = next(each for each in list_accounts(rows) if each.name == name)
        return dict(read_secrets(rows, open_keyring(site.app), found))


def connect(site: Site, standin: Standin, token: str = "", **more: str) -> httpx.Response:
    form = {"token": site.find_token(), "do": "token", "account": "main", "namespace": "/", "secret": token}
    form |= {"base_url": standin.base_url, **more}
    return site.post(f"{PATH}/connect/github", form)


def test_a_pasted_token_connects_and_is_never_shown(home, github):
    assert "No account is connected." in home.get(PATH).text
    answer = connect(home, github, f" {github.token}\n")
    place = answer.headers["location"]
    assert place.startswith(f"{PATH}/accounts/")
    account = find_accounts(home)["main"]
    assert (account.who, account.kind, account.state) == (github.state.login, "token", "ready")
    assert open_secrets(home, "main") == {"token": github.token}
    pages = "".join(home.get(path).text for path in (PATH, place, f"{PATH}/connect/github"))
    assert pages.count("Last used") == 2
    assert account.who in pages
    assert github.token not in pages
    assert home.call("github", "get_me")["login"] == account.who
    entry = next(each for each in home.read_journal() if each["tool"] == "accounts.connect")
    assert (entry["principal"], entry["transport"], entry["outcome"]) == ("owner", "web", "committed")


def test_a_token_that_the_service_refuses_is_not_stored(home, github):
    answer = connect(home, github, "ghp_wrong", account="typed", namespace="/work")
    assert answer.status_code == 400
    assert 'value="typed"' in answer.text
    assert 'value="/work"' in answer.text
    assert "ghp_wrong" not in answer.text
    assert find_accounts(home) == {}
    assert connect(home, github, "two words").status_code == 400
    assert connect(home, github, github.token, base_url="http://elsewhere.example").status_code == 400


def test_it_is_tested_made_default_and_disconnected(home, github):
    place = connect(home, github, github.token).headers["location"].partition("?")[0]
    token = home.find_token()
    tested = home.post(place, {"token": token, "do": "test"})
    assert tested.headers["location"].endswith("notice=account_works")
    home.post(place, {"token": token, "do": "default", "module": "github", "namespace": "/work"})
    with home.app.database.reading() as rows:
        (default,) = list_defaults(rows, list_accounts(rows))
    assert (default.module, default.namespace) == ("github", "/work")
    assert "/work" in home.get(PATH).text
    wrong = home.post(place, {"token": token, "do": "default", "module": "jira", "namespace": "/"})
    assert (wrong.status_code, "does not serve the module" in wrong.text) == (400, True)
    home.post(place, {"token": token, "do": "clear", "module": "github", "namespace": "/work"})
    assert "Revoke the token or the app at the service" in home.get(f"{place}/disconnect").text
    assert "main" in find_accounts(home)
    gone = home.post(f"{place}/disconnect", {"token": token})
    assert gone.headers["location"] == f"{PATH}?notice=disconnected_here"
    assert find_accounts(home) == {}
    assert home.get(place).status_code == 404


def begin(site: Site, github: Standin) -> str:
    """Register an app and ask for a consent: where the service asks."""
    token = site.find_token()
    client_id, secret = github.oauth.client_id, github.oauth.client_secret
    urls = {"base_url": github.base_url, "authorize_url": github.authorize_url, "token_url": github.token_url}
    form = {"token": token, "do": "app", "app": "app", "client_id": client_id, "secret": secret, **urls}
    assert site.post(f"{PATH}/connect/github", form).status_code == 303
    assert secret not in site.get(f"{PATH}/connect/github").text
    form = {"token": token, "do": "consent", "app": "app", "account": "work", "namespace": "/work"}
    page = site.post(f"{PATH}/connect/github", form)
    (url,) = re.findall(r'href="(http[^"]+authorize[^"]*)"', page.text)
    return url.replace("&amp;", "&")


def bring_back(site: Site, url: str) -> str:
    """As the browser does it: agree, and come back to the page to which the callback leads."""
    back = urlsplit(httpx.get(url).headers["location"])
    assert f"{back.scheme}://{back.netloc}" == site.origin
    answer = site.get(f"{back.path}?{back.query}")
    assert answer.status_code == 303
    return answer.headers["location"]


def test_a_consent_through_an_app_of_the_owner(home, github):
    url = begin(home, github)
    assert parse_qs(urlsplit(url).query)["redirect_uri"] == [f"{home.origin}/services/callback"]
    place = bring_back(home, url)
    assert "GitHub has answered" in home.get(place).text
    state = parse_qs(urlsplit(place).query)["state"][0]
    done = home.post(f"{PATH}/consent", {"token": home.find_token(), "state": state})
    assert done.headers["location"].endswith("notice=connected"), done.text
    account = find_accounts(home)["work"]
    assert (account.kind, account.namespace, account.details["app"]) == ("oauth", "/work", "app")
    assert "access_token" in open_secrets(home, "work")
    again = home.post(f"{PATH}/consent", {"token": home.find_token(), "state": state})
    assert (again.status_code, "time for this consent is over" in again.text) == (400, True)


def test_a_consent_belongs_to_the_session_that_began_it(home, github):
    place = bring_back(home, begin(home, github))
    home.cookies.clear()
    assert home.get(place).headers["location"].startswith("/sign-in")
    home.sign_in()
    assert home.get(place).status_code == 404
    state = parse_qs(urlsplit(place).query)["state"][0]
    answer = home.post(f"{PATH}/consent", {"token": home.find_token(), "state": state})
    assert (answer.status_code, "did not begin in this session" in answer.text) == (400, True)
    assert set(find_accounts(home)) == {"app"}


def test_a_consent_that_was_refused_stores_nothing(home, github):
    github.oauth.denies = True
    try:
        place = bring_back(home, begin(home, github))
    finally:
        github.oauth.denies = False
    state = parse_qs(urlsplit(place).query)["state"][0]
    answer = home.post(f"{PATH}/consent", {"token": home.find_token(), "state": state})
    assert "The consent was refused in the browser" in answer.text
    assert set(find_accounts(home)) == {"app"}


def test_a_consent_needs_an_app_and_google_takes_no_token(home):
    form = {"token": home.find_token(), "do": "consent", "app": "app", "account": "a"}
    assert "Register your OAuth app first." in home.post(f"{PATH}/connect/google", form).text
    assert "With a token" not in home.get(f"{PATH}/connect/google").text
    pasted = home.post(f"{PATH}/connect/google", {**form, "do": "token", "secret": "ya29.x"})
    assert "no tokens to paste" in pasted.text
    assert home.get(f"{PATH}/connect/nothing").status_code == 404
