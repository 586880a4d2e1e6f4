"""A policy that matches everything, or cannot be read, never locks its owner out."""

import json

import pytest
from policy.houses import enforce
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys
from tokonoma.core.errors import Invalid
from tokonoma.core.policy import PolicyVersion
from tokonoma.policy import versions
from tokonoma.policy.breadth import find_breadth_problem
from tokonoma.policy.detections import Detector
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.scan import Scanner

pytestmark = pytest.mark.migrated

GREEDY = """
version: 2
detectors:
  - { kind: all, class: secret, pattern: '(?s).+' }
boundary_classes:
  internal: { allow: ['*'], redact: [all] }
"""
PLAIN = "version: 3\n"
BROAD = [
    ".",
    "(?s).+",
    r"\S",
    r"\w+",
    "[a-z]+",
    "[aeiou]",
    "[ぁ-ん]",
    "^.{1,5}$",
    r"\w{1,12}",
    "[^x]",
    "(?i)[A-Z]",
    "。|の|は|を|い",
]
NARROW = [
    "EMP-[0-9]{6}",
    "[0-9]+",
    r"\d{2}",
    "PIN",
    "(?i)secret",
    "田中",
    "[A-Z][a-z]+ [A-Z][a-z]+",
    "^x",
    r"[A-Z]{2,}",
]


@pytest.fixture
def app(database_url, tmp_path):
    app = App(
        {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}, {}
    )
    yield app
    app.close()


def put_in_force(app: App, yaml: str) -> None:
    """As an earlier version of the program may have stored it."""
    with app.write_as_owner("policy.apply") as statements:
        versions.save_version(statements, PolicyVersion(-1, "2.0.0", yaml, 0, "owner", "", ""))
    app.policies.invalidate()
    app.reclassifier.run_until_done()


@pytest.mark.parametrize("pattern", BROAD)
def test_a_detector_that_matches_nearly_everything_is_refused_on_apply(pattern):
    yaml = f"version: 1\ndetectors:\n  - {{ kind: all, pattern: '{pattern}' }}\n"
    with pytest.raises(Invalid) as caught:
        parse_policy(yaml, proposed=True)
    assert "make it narrower" in caught.value.message + json.dumps(caught.value.details)
    assert parse_policy(yaml).detectors  # a stored one stays readable


@pytest.mark.parametrize("pattern", NARROW)
def test_a_detector_for_something_is_accepted(pattern):
    assert find_breadth_problem(pattern) == ""


@pytest.mark.parametrize("pattern", ["", "x*", "^", "$", "(a|)"])
def test_a_detector_that_matches_the_empty_text_is_refused(pattern):
    with pytest.raises(Invalid):
        parse_policy(f"version: 1\ndetectors:\n  - {{ kind: all, pattern: '{pattern}' }}\n")


def test_the_owner_repairs_a_policy_that_matches_everything(app):
    owner = Lines(app, "cli")
    owner.call("memory", "save", content="the roof leaks")
    put_in_force(app, GREEDY)
    refused = owner.refused("claims", "policy.apply", yaml=GREEDY)  # not once more
    assert refused["code"] == "INVALID_POLICY"
    assert "make it narrower" in json.dumps(refused)
    assert owner.refused("claims", "policy.rollback", version="9.9.9")["code"] == "NOT_FOUND"
    assert owner.call("claims", "policy.get")["data"]["yaml"] == GREEDY
    assert owner.call("claims", "policy.get", version="0.1.0")["data"]["version"] == "0.1.0"
    assert [each["version"] for each in owner.call("claims", "policy.history")["data"]["items"]] == ["2.0.0", "0.1.0"]
    assert owner.call("claims", "policy.rollback", version="0.1.0")["data"]["version"] == "0.1.1"
    assert owner.call("memory", "search", query="roof")["items"]
    put_in_force(app, GREEDY)
    assert owner.call("claims", "policy.apply", yaml=PLAIN)["data"]["version"] == "3.0.0"
    assert owner.call("memory", "search", query="roof")["items"]


def test_errors_keep_their_keys_and_codes_under_a_policy_that_masks_everything(app):
    owner = Lines(app)
    before = owner.refused("memory", "get", surely="not"), owner.refused("nowhere", "x"), owner.refused("items", "x")
    put_in_force(app, GREEDY)
    after = owner.refused("memory", "get", surely="not"), owner.refused("nowhere", "x"), owner.refused("items", "x")
    for plain, masked in zip(before, after, strict=True):
        assert masked["code"] == plain["code"] != "INTERNAL"
        assert list_keys(masked) == list_keys(plain)
        assert masked["message"] != plain["message"]  # the text itself is masked as ever


def list_keys(value) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for each in value.values() for key in list_keys(each))]
    return [key for each in value for key in list_keys(each)] if isinstance(value, list) else []


def test_the_owner_replaces_a_policy_that_cannot_be_read(app):
    owner = Lines(app, "cli")
    owner.call("memory", "save", content="the roof leaks")
    with app.write_as_owner("policy.apply") as statements:
        text = "version: 2\nfrom_a_later_program: {}\n"
        versions.save_version(statements, PolicyVersion(-1, "2.0.0", text, 0, "owner", "", ""))
        statements.run("update policy_head set number = coming, coming = null where id = 1")
        statements.run("delete from policy_relabel where id = 1")
    app.policies.invalidate()
    for talk in (owner, Lines(app), Http(app)):  # nothing is allowed meanwhile
        assert talk.refused("memory", "list")["code"] == "POLICY_MISSING"
        assert talk.refused("items", "get_items", type="docs")["data"]["type"] == "POLICY_MISSING"
        assert talk.refused("claims", "list")["details"]["http_status"] == 424
        assert talk.call("system", "status")["health"]["policy"]["ok"] is False
    pending = Lines(app).call("claims", "policy.rollback", version="0.1.0")["data"]["pending"]
    assert "cannot be read" in pending["loosens"][0]
    with app.write_as_owner("keys.create") as statements:
        key = api_keys.create_key(statements, "agent")
    for tool, params in (
        ("policy.get", {}),
        ("policy.apply", {"yaml": PLAIN}),
        ("policy.rollback", {"version": "0.1.0"}),
    ):
        assert Http(app, key).refused("claims", tool, **params)["code"] in ("POLICY_MISSING", "UNAUTHORIZED")
    assert "from_a_later_program" in owner.call("claims", "policy.get")["data"]["yaml"]
    assert owner.refused("claims", "policy.rollback", version="2.0.0")["code"] == "INVALID_POLICY"
    assert owner.call("claims", "policy.rollback", version="0.1.0")["data"]["version"] == "0.1.1"
    assert len(owner.call("memory", "list")["items"]) == 1


def test_detectors_of_a_policy_see_short_texts(app):
    scanner = Scanner([Detector("pin", "secret", "[0-9]{4}"), Detector("cat", "pii", "^猫$")])
    assert [each.kind for each in scanner.scan("1234")] == ["pin"]
    assert [each.kind for each in scanner.scan("猫")] == ["cat"]
    enforce(app, "version: 1\ndetectors:\n  - { kind: pin, class: secret, pattern: '[0-9]{4}' }\n")
    refused = Lines(app).refused("memory", "save", content="1234")
    assert refused["details"]["kinds"] == ["pin"]
