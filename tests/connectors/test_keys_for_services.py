"""Keys narrow what an agent may do in a service: by effect, by tool, by account, and extra tools only if named."""

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from connectors.connected import ConnectedServices, connect_all
from talk import Http

from tokonoma.cli.program import program

REPO = {"owner": "mio", "repo": "garden"}


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Generator[ConnectedServices]:
    with connect_all(tmp_path_factory.mktemp("keys") / "home", ("github", "notion")) as connected:
        yield connected


@pytest.fixture
def run(services) -> Callable[..., Result]:
    def invoke(*words: str) -> Result:
        return CliRunner().invoke(program, [*words, "--home", str(services.app.home)], prog_name="tokonoma")

    return invoke


@pytest.fixture
def client(services, run) -> Generator[Callable[..., Http]]:
    """A client with a new key. The names of the keys are `agent0`, `agent1` …"""
    made: list[str] = []

    def create(*options: str) -> Http:
        made.append(f"agent{len(made)}")
        result = run("keys", "create", made[-1], *options)
        assert result.exit_code == 0, result.output
        return Http(services.app, result.stdout.strip())

    yield create
    for name in made:
        run("keys", "revoke", name)


def test_an_extra_tool_is_there_for_a_key_that_names_it_alone(services, client):
    for talk in (services.talk, client(), client("--extras", "github.list_releases,notion.*")):
        assert talk.refused("github", "list_workflows", **REPO)["code"] == "NOT_FOUND"
    for named in ("github.list_workflows", "github.*", "notion.list_users,github.list_workflows"):
        assert client("--extras", named).call("github", "list_workflows", **REPO)["items"][0]["name"] == "CI"


def test_extras_are_shown_and_can_be_taken_back(run, client):
    client("--extras", "github.list_starred")
    assert "github.list_starred" in run("keys", "set", "agent0", "--mask", "github:write").stdout
    assert read_key(run, "agent0")["extras"] == ["github.list_starred"]
    assert run("keys", "set", "agent0", "--extras", "").exit_code == 0
    assert "extras" not in read_key(run, "agent0")


def read_key(run: Callable[..., Result], name: str) -> dict[str, Any]:
    return next(each for each in json.loads(run("keys", "list", "--json").stdout) if each["name"] == name)


@pytest.mark.parametrize(
    "name", ["*", "system.*", "system.sync_read", "github.get_me", "github.list_stared", "nothing.*"]
)
def test_what_is_no_extra_tool_is_refused(run, name):
    """Above all the tools of a sync, which read everything whatever the root of the key is."""
    result = run("keys", "create", "wide", "--extras", name)
    assert result.exit_code == 1
    assert f"no extra tool called '{name}'" in result.stderr


def test_a_key_for_a_sync_keeps_its_tools_when_its_extras_change(run):
    assert run("keys", "create", "twin", "--sync").exit_code == 0
    assert run("keys", "set", "twin", "--extras", "github.merge_pr").exit_code == 0
    assert read_key(run, "twin")["extras"] == ["github.merge_pr", "system.sync_read", "system.sync_write"]


def test_a_mask_may_be_about_a_service_without_an_account(run, services, client):
    """Nobody has connected Jira here, or only in a namespace that the owner does not use."""
    client("--modules", "jira,github", "--mask", "jira:write,jira.add_comment")
    for option, text in (("--mask", "jira.ad_comment"), ("--mask", "jria:write"), ("--modules", "jria")):
        assert run("keys", "create", "typo", option, text).exit_code == 1


@pytest.mark.parametrize(
    ("mask", "hidden"),
    [
        ("github:write,github:destroy", "create_issue"),
        ("github.create_issue", "create_issue"),
        ("github@github", "list_issues"),
    ],
)
def test_masks_narrow_a_key_as_the_guides_say(services, client, mask, hidden):
    talk = client("--mask", mask)
    before = len(services.standins["github"].requests)
    assert talk.refused("github", hidden, **REPO, title="x")["code"] in ("NOT_FOUND", "TOKEN_NOT_CONFIGURED")
    assert len(services.standins["github"].requests) == before
