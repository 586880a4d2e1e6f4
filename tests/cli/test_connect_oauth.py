"""`connect --oauth`: the owner's own app, a consent in a browser, and tokens. The provider is a server of the test."""

import asyncio
import socket
import threading
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from services.provider_server import CLIENT, SITES, start_provider

from tokonoma.app import App, accounts
from tokonoma.app.keyring import open_keyring
from tokonoma.cli.connect import consent
from tokonoma.cli.serve import build_endpoint
from tokonoma.core.clock import now
from tokonoma.keyring.accounts import list_accounts, read_secrets

PUBLIC = "https://tokonoma.example.com"


@pytest.fixture
def provider():
    with start_provider() as server:
        yield server


@pytest.fixture
def open_app(home):
    opened = []

    def build(**flags):
        opened.append(App({"home": str(home), "durable": False, "log_level": "error", **flags}, {}))
        return opened[-1]

    yield build
    for app in opened:
        app.close()


@pytest.fixture
def read_home(open_app):
    def read():
        app = open_app()
        with app.database.reading() as rows:
            return {each.name: (each, read_secrets(rows, open_keyring(app), each)) for each in list_accounts(rows)}

    return read


class Browser:
    """Opens the address that `connect` prints, as its owner does."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.pages: list[httpx.Response] = []
        self.before = self.visit = None  # what else happens, before and instead
        self._threads: list[threading.Thread] = []

    def open(self, url: str) -> None:
        self.urls.append(url)
        self._threads.append(threading.Thread(target=self._go, args=(url,)))
        self._threads[-1].start()

    def _go(self, url: str) -> None:
        if self.before is not None:
            self.before(self, url)
        (self.visit or self.follow)(url)

    def follow(self, url: str) -> None:
        self.pages.append(httpx.get(url, follow_redirects=True))

    def get(self, url: str, **more) -> httpx.Response:
        self.pages.append(httpx.get(url, **more))
        return self.pages[-1]

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


@pytest.fixture
def browser(monkeypatch):
    opened = Browser()
    monkeypatch.setattr(consent, "print_line", opened.open)
    yield opened
    opened.join()


@pytest.fixture
def sign_in(run, provider, browser):
    def go(service="github", *words, stdin=CLIENT[1], client=True, **more):
        urls = ("--url", provider.url, "--authorize-url", f"{provider.url}/authorize", "--token-url")
        urls += (f"{provider.url}/token", "--revoke-url", f"{provider.url}/revoke")
        known = ("--client-id", CLIENT[0]) if client else ()
        result = run("connect", service, "--oauth", *urls, *known, *words, stdin=stdin, **more)
        browser.join()
        return result

    return go


def read_query(url):
    return {name: each for name, (each,) in parse_qs(urlsplit(url).query).items()}


@pytest.mark.parametrize("service", ["github", "notion"])
def test_a_consent_gives_tokens_that_are_stored(sign_in, read_home, browser, service):
    result = sign_in(service)
    assert result.exit_code == 0, result.output
    assert [page.status_code for page in browser.pages] == [200]
    assert "go back to the terminal" in browser.pages[0].text
    found = read_home()
    account, secrets = found["main"]
    assert (account.kind, account.who, account.details["app"]) == ("oauth", "ada", "app")
    assert secrets == {"access_token": "access-canary-0", "refresh_token": "refresh-canary-0"}
    assert account.expires_at > now() + 3_000_000
    app, kept = found["app"]
    assert (app.kind, app.details["client_id"], kept) == ("app", CLIENT[0], {"client_secret": CLIENT[1]})
    query = read_query(browser.urls[0])
    assert ("code_challenge" in query) == (service != "notion")
    assert query["redirect_uri"].startswith("http://localhost:")
    assert "canary" not in result.output
    assert CLIENT[1] not in result.output


def test_the_app_is_asked_for_once(sign_in, read_home, browser):
    assert sign_in().exit_code == 0
    again = sign_in("github", "--account", "second", client=False, stdin="")
    assert again.exit_code == 0, again.output
    assert set(read_home()) == {"main", "app", "second"}
    assert "several accounts" in again.stderr
    assert len({read_query(url)["state"] for url in browser.urls}) == 2
    stale = sign_in("github", "--namespace", "/team", stdin="another-secret")
    assert stale.exit_code == 1  # the provider refuses the new secret
    assert (read_home()["app"][1], read_home()["app"][0].namespace) == ({"client_secret": "another-secret"}, "/")
    assert "is the name of the OAuth app" in sign_in("github", "--account", "app").stderr
    other = sign_in("github", "--client-id", "another", client=False)
    assert (other.exit_code, "has another client id" in other.stderr) == (1, True)


def test_a_refused_consent_is_told(sign_in, provider, read_home):
    provider.refuses_consent = True
    result = sign_in()
    assert (result.exit_code, "The consent was refused in the browser" in result.stderr) == (1, True)
    assert set(read_home()) == {"app"}


def test_only_an_answer_with_the_right_state_ends_the_waiting(sign_in, provider, browser, read_home):
    def attack(browser, url):
        query = read_query(url)
        place = query["redirect_uri"].replace("localhost", "127.0.0.1")
        browser.get(f"{place}?state=wrong&code=theirs")
        browser.get(f"{place}?code=theirs")
        browser.get(f"{place}?state={query['state']}&code=theirs", headers={"host": "evil.example"})
        browser.get(place.replace("/services/callback", "/other"))
        assert httpx.post(place).status_code == 501

    browser.before = attack
    result = sign_in()
    assert result.exit_code == 0, result.output
    assert [page.status_code for page in browser.pages] == [400, 400, 421, 404, 200]
    for why in ("its state is not the one that was sent", "no answer to a consent", "another Host"):
        assert "was refused: " in result.stderr and why in result.stderr
    assert read_home()["main"][0].who == "ada"
    assert not any("theirs" in body.decode() for _, _, _, body in provider.asked)


def test_a_second_answer_is_refused_while_the_first_is_used(sign_in, browser, provider):
    """The provider is slow to give the token: the callback still listens."""
    used = threading.Event()
    give = provider._give_tokens

    def give_late(headers, body):
        assert used.wait(30)
        return give(headers, body)

    provider._give_tokens = give_late

    def visit(url):
        to = httpx.get(url).headers["location"]
        browser.get(to)
        browser.get(to)
        used.set()

    browser.visit = visit
    result = sign_in()
    assert result.exit_code == 0, result.output
    assert [page.status_code for page in browser.pages] == [200, 400]
    assert "already used" in browser.pages[1].text
    assert "the answer was already used" in result.stderr


def test_nobody_waits_for_ever(sign_in, browser, read_home):
    browser.visit = lambda url: None
    result = sign_in("github", "--wait", "1")
    assert (result.exit_code, "No answer came in time" in result.stderr) == (1, True)
    assert set(read_home()) == {"app"}


def test_a_fixed_port_is_used_and_told_if_it_is_taken(sign_in, browser):
    taken = httpx.URL(read_query((sign_in(), browser.urls[0])[1])["redirect_uri"]).port
    sign_in("github", "--connect-port", str(taken), client=False, stdin="")
    assert f"localhost:{taken}/" in read_query(browser.urls[1])["redirect_uri"]
    with socket.create_server(("127.0.0.1", 0)) as other:
        result = sign_in("github", "--connect-port", str(other.getsockname()[1]), client=False, stdin="")
    assert (result.exit_code, "Choose another with --connect-port" in result.stderr) == (1, True)


def test_an_atlassian_consent_serves_both_modules_of_one_site(sign_in, provider, read_home, browser):
    result = sign_in("jira")
    assert "for jira, confluence" in result.stdout, result.output
    account, _ = read_home()["main"]
    assert (account.details["cloud_id"], account.details["site"]) == ("cloud-1", "acme")
    assert {"read:jira-work", "read:page:confluence", "offline_access"} <= set(
        read_query(browser.urls[0])["scope"].split()
    )
    provider.sites = SITES
    several = sign_in("confluence", "--account", "b", client=False, stdin="")
    assert (several.exit_code, "name one with --site" in several.stderr) == (1, True)
    assert "beta" in several.stderr
    chosen = sign_in("confluence", "--account", "b", "--site", "beta.atlassian.net", client=False, stdin="")
    assert chosen.exit_code == 0, chosen.output
    assert read_home()["b"][0].details["cloud_id"] == "cloud-2"
    # Another site does not take the place of the first.
    other = sign_in("confluence", "--site", "beta", client=False, stdin="")
    assert (other.exit_code, "Choose a name with --account" in other.stderr) == (1, True)


def test_the_server_receives_the_answer_if_it_has_a_public_url(sign_in, browser, provider, open_app, read_home):
    app = open_app(public_url=PUBLIC)
    endpoint = build_endpoint(app)

    def visit(url):
        to = httpx.get(url).headers["location"]
        assert to.startswith(f"{PUBLIC}/services/callback?")

        async def go():
            async with httpx.AsyncClient(transport=httpx.ASGITransport(endpoint)) as client:
                wrong = to.replace("state=", "state=x")
                return [await client.get(wrong), await client.head(to), await client.get(to), await client.get(to)]

        browser.pages += asyncio.run(go())

    browser.visit = visit
    result = sign_in("github", "--public-url", PUBLIC)
    assert result.exit_code == 0, result.output
    assert [page.status_code for page in browser.pages] == [400, 405, 200, 400]
    assert read_home()["main"][0].who == "ada"
    with app.database.reading() as rows:
        assert rows.rows("select * from sign_in") == []


def test_an_expired_token_is_renewed_by_a_test_and_a_dead_one_marks_the_account(sign_in, provider, run, read_home):
    provider.expires_in = 1
    assert sign_in().exit_code == 0
    assert run("accounts", "test").exit_code == 0
    assert provider.refreshes == 1
    assert read_home()["main"][0].generation == 2
    provider.tokens.clear()
    result = run("accounts", "test")
    assert result.exit_code == 1, result.output
    assert read_home()["main"][0].state == "broken"


def test_disconnecting_revokes_the_consent(sign_in, provider, run, read_home):
    sign_in("google_calendar")
    refused = run("accounts", "disconnect", "google", "app", "--yes")
    assert (refused.exit_code, "Disconnect them first" in refused.stderr) == (1, True)
    result = run("accounts", "disconnect", "google", "main", "--yes")
    assert "and revoked at the service" in result.stderr
    assert [path for _, path, _, _ in provider.asked if path == "/revoke"]
    assert not [token for token in provider.tokens if token.startswith("refresh")]
    assert set(read_home()) == {"app"}
    assert run("accounts", "disconnect", "google", "app", "--yes").exit_code == 0


def test_an_account_can_be_disconnected_while_its_service_is_away(sign_in, provider, run, read_home):
    sign_in("notion")
    provider.tokens.clear()
    result = run("accounts", "disconnect", "notion", "main", "--yes")
    assert result.exit_code == 0
    assert "did not revoke" in result.stderr
    assert "revoke them at the service, too" in result.stderr
    assert "canary" not in result.output
    assert set(read_home()) == {"app"}


def test_a_token_of_another_server_is_never_sent_to_the_provider_itself(sign_in, run, browser, provider, monkeypatch):
    """Without --revoke-url nothing is revoked: the provider's own address is for its own tokens."""
    urls = (
        "--url",
        provider.url,
        "--authorize-url",
        f"{provider.url}/authorize",
        "--token-url",
        f"{provider.url}/token",
    )
    result = run("connect", "google_calendar", "--oauth", *urls, "--client-id", CLIENT[0], stdin=CLIENT[1])
    browser.join()
    assert result.exit_code == 0, result.output
    monkeypatch.setattr(accounts, "revoke_tokens", None)
    assert run("accounts", "disconnect", "google", "main", "--yes").exit_code == 0
