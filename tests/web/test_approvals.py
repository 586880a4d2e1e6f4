"""The page of calls that wait: what it shows, and that only the owner's own form decides."""

import re

import pytest
from policy.houses import enforce, key
from talk import Http
from web.site import Site

from tokonoma.app.approvals import list_approvals

PATH = "/admin/approvals"
ASK = "version: 1\ntools:\n  - { tool: memory.save, verdict: ask }\n"


@pytest.fixture
def asked(site) -> tuple[Site, Http]:
    """A client whose call waits."""
    agent = Http(site.app, key(site.app, "agent"))
    enforce(site.app, ASK)
    agent.refused("memory", "save", content="the text", metadata={"a": [1, 2]})
    site.sign_in()
    return site, agent


def decide(site: Site, decision: str, id: str = ""):
    id = id or list_approvals(site.app)[0].id
    return site.post(PATH, {"token": site.find_token(), "id": id, "decision": decision})


def test_it_shows_who_calls_what_with_which_parameters(asked):
    site, _ = asked
    page = site.get(PATH).text
    for text in ("key:agent", "memory.save", "the text", "metadata", "Approve once"):
        assert text in page
    assert 'hx-trigger="every 2s"' in page


def test_an_approved_call_runs_once(asked):
    site, agent = asked
    answer = decide(site, "approve")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PATH}?notice=approved")
    assert agent.call("memory", "save", content="the text", metadata={"a": [1, 2]})["memo_id"]
    assert "approved and used" in site.get(PATH).text
    refused = agent.refused("memory", "save", content="the text", metadata={"a": [1, 2]})
    assert refused["details"]["reason"] == "approval"
    entry = next(each for each in site.read_journal() if each["tool"] == "approvals.approve")
    assert (entry["principal"], entry["transport"], entry["outcome"]) == ("owner", "web", "committed")


def test_a_refused_call_stays_refused(asked):
    site, agent = asked
    assert decide(site, "deny").headers["location"].endswith("notice=refused")
    refused = agent.refused("memory", "save", content="the text", metadata={"a": [1, 2]})
    assert refused["details"]["reason"] == "approval_denied"
    assert "the text" not in site.get(PATH).text


def test_what_was_decided_elsewhere_is_not_decided_again(asked):
    site, _ = asked
    id = list_approvals(site.app)[0].id
    decide(site, "approve")
    again = decide(site, "deny", id)
    assert again.status_code == 409
    assert "does not wait any more" in again.text
    assert decide(site, "approve", "unknown").status_code == 409
    assert decide(site, "perhaps", id).status_code == 400


def test_what_the_policy_hides_is_masked(asked):
    site, agent = asked
    enforce(site.app, f"{ASK}writes: {{ secret: allow }}\n")
    agent.refused("memory", "save", content="AKIAIOSFODNN7EXAMPLQ")
    page = site.get(PATH).text
    assert "AKIAIOSFODNN7EXAMPLQ" not in page
    assert len(re.findall("Approve once", page)) == 2


def test_nobody_but_the_owner_decides(asked):
    """Another person cannot, nor can an agent with its key."""
    site, _ = asked
    id = list_approvals(site.app)[0].id
    token = key(site.app, "other")
    site.cookies.clear()
    site.add_person("ada")
    site.sign_in("ada")
    assert site.get(PATH).status_code == 403
    answer = site.post(PATH, {"token": site.find_token(), "id": id, "decision": "approve"})
    assert answer.status_code == 403
    site.cookies.clear()
    assert site.post(PATH, {"id": id, "decision": "approve"}, authorization=f"Bearer {token}").status_code == 403
    assert [each.id for each in list_approvals(site.app)] == [id]
