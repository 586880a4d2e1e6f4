"""`where` and `config`: looked at without making anything."""

from pathlib import Path

import platformdirs
import pytest

from tokonoma.app import read_environment
from tokonoma.app.places import redact_database_url
from tokonoma.config.home import find_home
from tokonoma.config.settings import SETTINGS


def test_where_makes_nothing(value, run, home):
    told = value("where", "--json")
    assert told["home"] == str(home)
    assert told["database"] == str(home / "tokonoma.db")
    assert str(home / "tokonoma.db") in run("where").stdout
    assert not home.exists()


def test_the_tool_says_the_same(value):
    told = value("call", "system", "where")["places"]
    assert told.items() <= value("where", "--json").items()


def test_every_setting_and_where_it_comes_from(value, home):
    home.mkdir()
    (home / "tokonoma.toml").write_text('port = 9000\ndirect = ["system"]\n')
    told = value("config", "show", "--origin", "--json", "--workers", "2", TOKONOMA_TIME_LIMIT="5")
    assert list(told) == [setting.name for setting in SETTINGS]
    assert told["port"] == {"value": 9000, "origin": "tokonoma.toml"}
    assert told["direct"]["value"] == ["system"]
    assert told["workers"] == {"value": 2, "origin": "flag --workers"}
    assert told["time_limit"] == {"value": 5.0, "origin": "environment TOKONOMA_TIME_LIMIT"}
    assert told["host"]["origin"] == "default"


def test_settings_for_eyes(run):
    plain = run("config", "show").stdout
    assert '"127.0.0.1"' in next(line for line in plain.splitlines() if line.startswith("host "))
    assert not any(line.split()[-1] == "default" for line in plain.splitlines())
    told = run("config", "show", "--origin").stdout
    for setting in SETTINGS:
        assert setting.description in told


def test_a_password_is_never_shown(run):
    url = "postgresql://me:geheim@db.example:5433/notes?password=geheim&sslmode=require"
    for words in (("config", "show"), ("config", "show", "--origin", "--json"), ("where",), ("where", "--json")):
        told = run("--database-url", url, *words).output
        assert "geheim" not in told
        assert "postgresql://db.example:5433/notes" in told


PASSWORDS = [
    "postgresql://me:geheim@localhost:1/notes",
    "postgresql://me:ge/geheim@localhost:1/notes",
    "postgresql://me:geheim#x@localhost:1/notes",
    "postgresql://me:geheim?x@localhost:1/notes",
    "postgresql://me:geheim/x?y#z@localhost:1/notes",
    "postgresql://localhost:1/notes?password=geheim",
    "postgresql://localhost:1/notes#geheim",
    "postgres://:geheim@localhost:1/notes",
    "host=localhost port=1 password=geheim",
    "me:geheim@localhost:1/notes",
    "postgresql:me:geheim@localhost:1/notes",
    "mysql://me:geheim@localhost/notes",
]


@pytest.mark.parametrize("url", PASSWORDS)
@pytest.mark.parametrize(
    "words",
    [
        ("config", "show"),
        ("where",),
        ("doctor",),
        ("call", "system", "status"),
        ("backup",),
    ],
    ids=" ".join,
)
def test_no_command_shows_the_password_of_a_database(run, url, words):
    told = run("--database-url", url, *words)
    assert "geheim" not in told.output + told.stderr


ENDPOINTS = [
    "https://me:geheim@host/v1",
    "https://host/v1?api_key=geheim",
    "https://host/v1#geheim",
    "me:geheim@host/v1",
]


@pytest.mark.parametrize("url", ENDPOINTS)
@pytest.mark.parametrize(
    "words", [("config", "show"), ("config", "show", "--json"), ("doctor",), ("call", "system", "status")], ids=" ".join
)
def test_no_command_shows_the_credentials_of_an_embedding_endpoint(run, url, words):
    given = ("--embed-provider", "openai", "--embed-model", "m", "--embed-url", f"https://plain.example/v1,{url}")
    told = run(*given, "--embed-api-key", "geheim", *words)
    assert "geheim" not in told.output + told.stderr
    if words[0] == "config":
        assert "https://plain.example/v1" in told.output


def test_the_path_of_the_settings(run, home):
    result = run("config", "path")
    assert Path(result.stdout.strip()) == home / "tokonoma.toml"
    assert "does not exist yet" in result.stderr
    home.mkdir()
    (home / "tokonoma.toml").touch()
    assert run("config", "path").stderr == ""


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:////srv/a%20b.db", "/srv/a b.db"),
        ("postgresql:///notes?host=/run/postgresql&user=me", "postgresql:///run/postgresql/notes"),
        ("postgresql://u:p@w@host/notes", "postgresql://host/notes"),
    ],
)
def test_a_database_as_people_may_see_it(url, told):
    assert redact_database_url(url) == told


@pytest.mark.parametrize("folder", [None, "", "/data"])
def test_the_home_lies_where_the_platform_keeps_such_things(monkeypatch, folder):
    if folder is None:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_DATA_HOME", folder)
    monkeypatch.delenv("TOKONOMA_HOME", raising=False)
    assert find_home(None, read_environment()) == platformdirs.user_data_path("tokonoma", appauthor=False)


def test_a_told_home_is_made_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert find_home("here", {"TOKONOMA_HOME": "/elsewhere"}) == tmp_path / "here"
    assert find_home(None, {"TOKONOMA_HOME": "~/there"}) == Path.home() / "there"
