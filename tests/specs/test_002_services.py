"""Services are there while an account is connected: in lists, schemas, calls and batches, for whom it serves."""

import json

import pytest
from specs.tiny_service import use_tiny_services
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.app.accounts import remove_account, store_account
from tokonoma.auth.api_keys import build_reach, create_key
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.keyring.accounts import NewAccount

COMMAND = "`tokonoma connect github`"


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    use_tiny_services(monkeypatch, tmp_path)


@pytest.fixture
def open_other(database_url, tmp_path):
    """Another process on this database: with the same home, or of another machine."""
    opened = []

    def build(home="home", url=None, **flags):
        flags = {"home": str(tmp_path / home), "database_url": url or database_url, "durable": False, **flags}
        opened.append(App(flags, {}))
        return opened[-1]

    yield build
    for app in opened:
        app.close()


def connect(app, provider="github", name="work", namespace="/"):
    return store_account(app, NewAccount(provider, name, namespace), {"token": "canary"})


def list_modules(talk):
    return [each["name"] for each in talk.value("get_module_schema", module="*")["modules"]]


def key_talk(app, name, **reach):
    with app.database.writing() as statements:
        key = create_key(statements, name, build_reach(**reach))
    app.authenticator.forget()
    return Http(app, key)


def test_without_an_account_a_service_is_named_but_not_listed(talk):
    told = talk.value("get_module_schema", module="*")
    assert "github" not in [each["name"] for each in told["modules"]]
    names, _, advice = told["not_connected"].partition(": ")
    assert names == "confluence, github, google_calendar, jira, microsoft_todo, notion, supabase"
    assert advice == "the owner connects one with `tokonoma connect SERVICE`"
    assert "- github" not in json.dumps(talk.ask("tools/list"))
    error = talk.refused("github", "greet")
    assert (error["code"], COMMAND in error["message"]) == ("TOKEN_NOT_CONFIGURED", True)
    assert error["details"] == {"reason": "token_not_configured", "module": "github"}
    planned = talk.error("batch", jsonl=json.dumps({"id": "a", "module": "github", "tool": "greet"}))
    assert COMMAND in planned["details"]["errors"][0]["message"]
    assert talk.error("get_module_schema", module="github")["code"] == "NOT_FOUND"


def test_a_service_connected_elsewhere_works_here_without_a_restart(app, talk, open_other):
    assert talk.refused("github", "greet")["code"] == "TOKEN_NOT_CONFIGURED"
    other = open_other("another machine")
    account = connect(other)
    assert talk.call("github", "greet") == {"hello": "-"}
    assert "github" in list_modules(talk)
    assert "github" not in talk.value("get_module_schema", module="*")["not_connected"]
    assert talk.value("get_module_schema", module="github")["modules"][0]["name"] == "github"
    step = {"id": "a", "module": "github", "tool": "greet", "params": {"account": "work"}, "output": True}
    assert "'hello': 'work'" in str(talk.batch(step)["results"])
    assert "- github: Work in github." in json.dumps(talk.ask("tools/list"))
    remove_account(other, account)
    assert talk.refused("github", "greet")["code"] == "TOKEN_NOT_CONFIGURED"
    assert "github" not in list_modules(talk)


def test_a_process_that_has_not_opened_the_database_learns_it_from_the_file(app, open_other, tmp_path):
    waiting, elsewhere = open_other(), open_other("another machine")
    account = connect(app, "atlassian")
    file = tmp_path / "home" / "services.json"
    assert json.loads(file.read_bytes())["modules"] == {"jira": [["work", "/"]], "confluence": [["work", "/"]]}
    assert "canary" not in file.read_text()
    assert [each.name for each in waiting.registry.visible_modules(OWNER)][-1] == "jira"
    assert "jira" in open_other().registry.list_names()
    assert [each.name for each in open_other().registry.visible_modules(OWNER)][-1] == "jira"
    assert [each.name for each in elsewhere.registry.visible_modules(OWNER)][-1] != "jira"
    elsewhere.warm()  # opens the database
    assert [each.name for each in elsewhere.registry.visible_modules(OWNER)][-1] == "jira"
    assert (tmp_path / "another machine" / "services.json").exists()
    assert waiting._database.current is None
    remove_account(app, account)
    assert not file.exists()
    assert [each.name for each in waiting.registry.visible_modules(OWNER)][-1] != "jira"


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"database": "other", "modules": {"jira": [["x", "/"]]}}', b'{"modules": 1}']
)
def test_a_file_that_is_damaged_or_of_another_database_says_nothing(app, open_other, tmp_path, content):
    connect(app)
    (tmp_path / "home" / "services.json").write_bytes(content)
    other = open_other()
    assert [each.name for each in other.registry.visible_modules(OWNER)][-1] == "manual"
    assert Lines(other).call("github", "greet") == {"hello": "-"}


def test_an_account_serves_its_namespace_and_nobody_elsewhere(app):
    connect(app, namespace="/team/ada")
    ada, bob, team = (key_talk(app, name, root=f"/{root}") for name, root in
                      (("ada", "team/ada/x"), ("bob", "team/bob"), ("team", "team")))  # fmt: skip
    assert ada.call("github", "greet") == {"hello": "-"}
    told = [each.refused("github", "greet") for each in (bob, team, Lines(app))]
    unconnected = Lines(app).refused("notion", "search")
    for error in told:
        assert error["message"] == unconnected["message"].replace("notion", "github")
        assert error["details"].keys() == unconnected["details"].keys()
    assert "github" not in list_modules(bob)
    assert "github" in bob.value("get_module_schema", module="*")["not_connected"]


def test_a_mask_hides_a_service_like_a_module_that_does_not_exist(app):
    masked = key_talk(app, "masked", mask=["github"])
    limited = key_talk(app, "limited", modules=["memory"])
    for talk in (masked, limited):
        before = talk.refused("github", "greet")
        unknown = talk.refused("nowhere_at_all", "greet")
        assert (before["code"], before["details"]["reason"]) == (unknown["code"], unknown["details"]["reason"])
        connect(app, name=f"n{id(talk)}")
        assert talk.refused("github", "greet") == before
        assert "github" not in talk.value("get_module_schema", module="*").get("not_connected", "")
    assert "not_connected" not in limited.value("get_module_schema", module="*")


def test_a_tool_is_there_if_the_mask_leaves_it_for_one_account(app):
    connect(app, name="work")
    talk = key_talk(app, "reader", mask=["github@work:destroy"])
    assert talk.value("get_module_schema", module="*")["modules"][-1]["tools"] == ["greet"]
    assert talk.refused("github", "close")["code"] == "NOT_FOUND"
    connect(app, name="own")
    assert talk.value("get_module_schema", module="*")["modules"][-1]["tools"] == ["greet", "close"]
    hidden = key_talk(app, "hidden", mask=["github@work", "github@own"])
    assert hidden.refused("github", "greet")["code"] == "TOKEN_NOT_CONFIGURED"


def test_an_app_alone_connects_nothing(app, talk):
    store_account(app, NewAccount("github", "app", kind="app", details={"client_id": "x"}), {"client_secret": "y"})
    assert talk.refused("github", "greet")["code"] == "TOKEN_NOT_CONFIGURED"


def test_a_service_can_be_switched_off_before_it_is_connected(open_other):
    app = open_other(modules_off="github", direct="jira")
    talk = Lines(app)
    assert talk.refused("github", "greet")["code"] == "MODULE_NOT_ALLOWED"
    assert "github" not in talk.value("get_module_schema", module="*")["not_connected"]
    connect(app)
    assert talk.refused("github", "greet")["code"] == "MODULE_NOT_ALLOWED"
    connect(app, "atlassian")
    talk.call("jira", "greet")
    assert "jira_greet" in json.dumps(talk.ask("tools/list"))
    assert talk.value("jira_greet") == {"hello": "-"}
    with pytest.raises(Invalid):
        connect(app, name="not a name")


def test_the_database_is_asked_once_a_second_and_its_loss_changes_nothing(app, monkeypatch):
    connect(app)
    talk, asked = Lines(app), []

    def fail(rows):
        asked.append(rows)
        raise Unavailable("away", reason="database")

    monkeypatch.setattr("tokonoma.app.modules.POLL_SECONDS", 3600.0)
    monkeypatch.setattr("tokonoma.keyring.connected.read_connected", fail)
    for _ in range(5):
        assert talk.call("github", "greet") == {"hello": "-"}
    assert len(asked) == 1
