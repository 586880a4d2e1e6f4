"""`connect` with a token: asked for, tried, stored; and `accounts test` and `disconnect` afterwards."""

import json

import pytest
from services.provider_server import start_provider

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.keyring.accounts import list_accounts, read_secrets

TOKEN = "ghp_canary0123456789"


@pytest.fixture
def provider():
    with start_provider() as server:
        server.tokens = {TOKEN: "ada"}
        yield server


@pytest.fixture
def read_home(home):
    """The accounts with their secrets, as they are stored."""

    def read():
        app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
        with app.database.reading() as rows:
            found = [(each, dict(read_secrets(rows, open_keyring(app), each))) for each in list_accounts(rows)]
        app.close()
        return found

    return read


def test_a_token_from_standard_input_is_tried_and_stored(run, provider, read_home, home):
    result = run("connect", "github", "--url", provider.url + "/", stdin=f"  {TOKEN}\n")
    assert result.exit_code == 0, result.output
    assert "Connected the github account 'main' (ada) for github." in result.stdout
    assert TOKEN not in result.output
    ((account, secrets),) = read_home()
    assert (account.who, account.kind, account.namespace, account.state) == ("ada", "token", "/", "ready")
    assert (account.details, secrets) == ({"base_url": provider.url}, {"token": TOKEN})
    assert [path for _, path, _, _ in provider.asked] == ["/user"]
    assert TOKEN.encode() not in b"".join(file.read_bytes() for file in home.iterdir())
    told = run("journal", "tail", "--json").stdout
    assert "accounts.connect" in told
    assert TOKEN not in told


def test_a_refused_token_is_told_in_the_words_of_the_service_and_not_stored(run, provider, read_home):
    provider.tokens = {}
    result = run("connect", "github", "--url", provider.url, stdin=TOKEN)
    assert result.exit_code == 1
    assert "github refuses this token: Bad credentials" in result.stderr
    assert TOKEN not in result.output
    assert read_home() == []


def test_a_service_that_is_away_stores_nothing_unless_it_is_not_to_be_asked(run, read_home):
    words = ("connect", "github", "--url", "http://127.0.0.1:9")
    result = run(*words, stdin=TOKEN)
    assert result.exit_code == 1
    assert "Nothing was stored. Use --no-test" in result.stderr
    assert read_home() == []
    assert run(*words, "--no-test", stdin=TOKEN).exit_code == 0
    assert [account.who for account, _ in read_home()] == [""]


@pytest.mark.parametrize(
    "words",
    [["github", TOKEN], [TOKEN], ["github", "--token", TOKEN], ["github", f"--token={TOKEN}"],
     ["github", "--account", TOKEN], ["github", "--email", "a" * 40], ["github", "any", "thing"]],
    ids=["behind", "service", "option", "joined", "account", "long", "anything"],
)  # fmt: skip
def test_a_token_as_an_argument_is_refused_with_the_reason_and_not_repeated(run, read_home, words):
    result = run("connect", *words, "--no-test", stdin="x")
    assert result.exit_code == 1
    assert "every user of this machine can read it" in result.stderr
    assert not [each for each in (TOKEN, "a" * 40, "thing") if each in result.output]
    assert read_home() == []


@pytest.mark.parametrize("text", ["", " \n", "two words", "a\nb", "ünicode", "x" * 9000])
def test_what_cannot_be_a_token_is_refused(run, text):
    result = run("connect", "github", "--no-test", stdin=text)
    assert result.exit_code == 1
    assert "that is not one word" in result.stderr


@pytest.mark.parametrize("url", ["http://github.example", "ftp://x", "https://u:p@x", "https://x?a=1", "x", "https://"])
def test_a_token_goes_over_https_or_stays_on_this_machine(run, url):
    result = run("connect", "github", "--url", url, "--no-test", stdin=TOKEN)
    assert (result.exit_code, "must begin with https://" in result.stderr) == (1, True), result.stderr


def test_atlassian_needs_a_site_and_an_address(run, provider, read_home):
    provider.tokens = {"ada@example.com:ATATTcanary": "ada"}
    assert "give it with --site" in run("connect", "jira", stdin="ATATTcanary").stderr
    assert "give it with --email" in run("connect", "jira", "--site", "acme", stdin="ATATTcanary").stderr
    place = ("--site", "https://ACME.atlassian.net/jira", "--email", "ada@example.com", "--url", provider.url)
    assert "first part of its address" in run("connect", "jira", "--site", "a.b", "--email", "x", stdin="x").stderr
    result = run("connect", "confluence", *place, stdin="ATATTcanary")
    assert "for jira, confluence" in result.stdout, result.output
    ((account, secrets),) = read_home()
    assert (account.provider, account.kind, secrets) == ("atlassian", "basic", {"token": "ATATTcanary"})
    assert (account.details["site"], account.details["email"]) == ("acme", "ada@example.com")


def test_google_and_microsoft_have_no_tokens_to_paste(run):
    for service in ("google_calendar", "microsoft"):
        result = run("connect", service, stdin="x")
        assert (result.exit_code, "Use --oauth" in result.stderr) == (1, True)


def test_an_account_is_connected_again_but_never_becomes_somebody_elses(run, provider, read_home):
    provider.tokens = {"one": "ada", "two": "ada", "three": "bob"}
    for token in ("one", "two"):
        assert run("connect", "github", "--url", provider.url, stdin=token).exit_code == 0
    result = run("connect", "github", "--url", provider.url, stdin="three")
    assert result.exit_code == 1
    assert "already a github account 'main', and belongs to ada" in result.stderr
    ((account, secrets),) = read_home()
    assert (account.who, account.generation, secrets) == ("ada", 2, {"token": "two"})
    other = run("connect", "github", "--url", provider.url, "--account", "bob", stdin="three")
    assert "several accounts here: bob, main" in other.stderr
    assert run("connect", "github", "--url", f"{provider.url}/v2", "--no-test", stdin="two").exit_code == 1


def test_accounts_are_tested_and_marked(run, value, provider, read_home):
    assert "No account is connected" in run("accounts", "test").stderr
    provider.tokens = {"one": "ada", "two": "bob"}
    for name, token in (("a", "one"), ("b", "two")):
        run("connect", "github", "--account", name, "--url", provider.url, stdin=token)
    assert {each["state"] for each in value("accounts", "test", "--json")} == {"ready"}
    del provider.tokens["two"]
    result = run("accounts", "test")
    assert result.exit_code == 1
    assert "Bad credentials" in result.stdout
    assert "two" not in result.output
    assert {account.name: account.state for account, _ in read_home()} == {"a": "ready", "b": "broken"}
    assert run("accounts", "test", "a").exit_code == 0
    provider.tokens["two"] = "bob"
    assert run("accounts", "test", "b").exit_code == 0
    assert {account.state for account, _ in read_home()} == {"ready"}
    assert "no account called 'c'" in run("accounts", "test", "c").stderr


def test_a_service_that_is_away_says_nothing_of_the_account(run, read_home):
    run("connect", "github", "--url", "http://127.0.0.1:9", "--no-test", stdin="one")
    result = run("accounts", "test", "--json")
    assert (result.exit_code, json.loads(result.stdout)[0]["state"]) == (1, "unknown")
    assert [account.state for account, _ in read_home()] == ["ready"]
