"""Pages that fail, lead elsewhere or never end; and tokens that end: with the tools of each service."""

import json
from importlib import import_module
from math import ceil
from typing import Any

import pytest
from connectors.faces import get_face
from connectors.standins import SERVICES, Standin, answer, make_error, proceed
from connectors.standins.faults import Fault

from tokonoma.app.keyring import open_keyring
from tokonoma.connectors.model import PageRule, ServiceTool
from tokonoma.keyring.accounts import read_secrets

EVERY = pytest.mark.parametrize("service", SERVICES)
LINKED = ("github", "microsoft_todo")  # the next page has an address
TOKENS = tuple(service for service in SERVICES if service not in LINKED)
ELSEWHERE = "http://169.254.169.254/latest"


def get_tool(service: str, name: str) -> ServiceTool:
    tools: Any = import_module(f"tokonoma.connectors.{service}").TOOLS
    return next(tool for tool in tools if tool.name == name)


def make_page(tool: ServiceTool, token: str) -> Fault:
    """A page with one row and this as the next one."""
    rule, rows = tool.page, [{"id": "1"}]
    assert isinstance(rule, PageRule)
    if rule.kind == "link":
        return answer(200, rows, {"Link": f'<{token}>; rel="next"'})
    if rule.next == "_links.next":
        return answer(200, {"results": rows, "_links": {"next": f"{ELSEWHERE}/pages?cursor={token}"}})
    return answer(200, {str(tool.rows): rows, rule.next: token})


def list_sent(standin: Standin, name: str) -> list[Any]:
    """What was sent by this name, in the query or in the body, by each request."""
    return [dict(seen.query).get(name) or (json.loads(seen.body).get(name) if seen.body else None) for seen in
            standin.requests]  # fmt: skip


@EVERY
def test_pages_give_all_rows_once_and_in_order_though_one_fails(house, service):
    standin = house.begin(service)
    tool, params = get_face(standin).listed
    for _ in range(5):
        fill, facts = get_face(standin).fill
        house.call(service, fill, **facts)
    if service == "supabase":  # no tool makes any
        known = standin.state.snippets
        known[:] = [{**known[0], "id": f"snippet-{number}"} for number in range(7)]
    rows = house.call(service, tool, **params, limit=100)["items"]
    house.forget(standin)
    standin.faults.script([proceed(), make_error(standin.state, 500)])
    limit, found, more = ceil(len(rows) / 3), list[Any](), {}
    for _ in range(3):
        page = house.call(service, tool, **params, limit=limit, **more)
        found += page["items"]
        more = {"cursor": page.get("next_cursor")}
    assert more == {"cursor": None}
    assert found == rows
    assert [seen.status for seen in standin.requests] == [200, 500, 200, 200]


@pytest.mark.parametrize("service", LINKED)
@pytest.mark.parametrize("place", [ELSEWHERE, "https://example.org/x", "{other}/x", "//example.org/x"])
def test_a_next_page_at_another_host_is_not_asked_for(house, service, place):
    other, standin = house.begin("notion"), house.begin(service)
    tool, params = get_face(standin).listed
    standin.faults.script([make_page(get_tool(service, tool), place.format(other=other.url))])
    if place.startswith("//"):
        assert "no address of its own" in house.refuse(service, tool, **params)["message"]
    else:
        cursor = house.call(service, tool, **params)["next_cursor"]
        error = house.refuse(service, tool, **params, cursor=cursor)
        assert (error["code"], "another host" in error["message"]) == ("EXTERNAL_API_ERROR", True)
    assert (len(standin.requests), other.requests) == (1, [])


@pytest.mark.parametrize("service", TOKENS)
@pytest.mark.parametrize("token", ["t0ken", "/w3/+=", ELSEWHERE])
def test_a_token_of_a_next_page_is_sent_back_as_it_is_and_is_never_an_address(house, service, token):
    standin = house.begin(service)
    name, params = get_face(standin).listed
    tool = get_tool(service, name)
    pages = [make_page(tool, token.replace("+", "%2B") if service == "confluence" else token)]
    standin.faults.script([*pages, answer(200, {str(tool.rows): []})])
    cursor = house.call(service, name, **params)["next_cursor"]
    house.call(service, name, **params, cursor=cursor)
    assert tool.page is not None
    assert list_sent(standin, tool.page.send) == [None, token]
    assert len({seen.path for seen in standin.requests}) == 1


@EVERY
def test_the_same_next_page_again_is_the_end_and_says_so(house, service):
    standin = house.begin(service)
    name, params = get_face(standin).listed
    token = f"{standin.base_url}/next" if service in LINKED else "t0ken"
    standin.faults.script([make_page(get_tool(service, name), token)] * 9)
    first = house.call(service, name, **params)
    second = house.call(service, name, **params, cursor=first["next_cursor"])
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert "named the same next page again" in second["stopped"]
    assert len(standin.requests) == 2


# Tokens


def read_pair(house, service: str) -> dict[str, str]:
    with house.app.database.reading() as rows:
        return dict(read_secrets(rows, open_keyring(house.app), house.find(service)))


@EVERY
def test_a_token_that_is_over_is_renewed_once_and_a_write_sent_again(house, service):
    standin = house.begin(service)
    before, generation = read_pair(house, service), house.find(service).generation
    standin.oauth.advance(standin.oauth.expires_in + 1)  # earlier than the account believes
    tool, params = get_face(standin).create
    house.call(service, tool, **params)
    after = read_pair(house, service)
    assert [seen.status // 100 for seen in standin.requests] == [4, 2]
    assert [seen.token_end for seen in standin.requests] == [before["access_token"][-6:], after["access_token"][-6:]]
    assert (standin.oauth.refreshes, house.find(service).generation) == (1, generation + 1)
    read, more = get_face(standin).read
    house.call(service, read, **more)
    assert (len(standin.requests), standin.oauth.refreshes) == (3, 1)


@EVERY
def test_a_token_is_renewed_before_it_ends(house, service):
    standin = house.begin(service, left=200)
    old = read_pair(house, service)["access_token"]
    tool, params = get_face(standin).read
    house.call(service, tool, **params)
    assert (standin.oauth.refreshes, [seen.status for seen in standin.requests]) == (1, [200])
    assert standin.requests[0].token_end != old[-6:]


@EVERY
def test_a_token_that_is_refused_also_after_its_renewal_breaks_the_account(house, service):
    standin = house.begin(service)
    standin.faults.script([make_error(standin.state, 401)], forever=True)
    tool, params = get_face(standin).read
    error = house.refuse(service, tool, **params)
    assert (error["code"], error["details"]["http_status"]) == ("TOKEN_INVALID", 401)
    assert (len(standin.requests), standin.oauth.refreshes, house.find(service).state) == (2, 1, "broken")
    assert house.refuse(service, tool, **params)["code"] == "TOKEN_INVALID"
    assert (len(standin.requests), standin.oauth.refreshes) == (2, 1)


@EVERY
@pytest.mark.parametrize(("left", "sent"), [(-1.0, 0), (3600.0, 1)])
def test_a_consent_that_was_revoked_says_how_to_connect_again(house, service, left, sent):
    standin = house.begin(service, left)
    standin.oauth.revoke(read_pair(house, service)["refresh_token"])
    tool, params = get_face(standin).create
    error = house.refuse(service, tool, **params)
    assert (error["code"], "tokonoma connect" in error["message"]) == ("TOKEN_EXPIRED", True)
    assert (len(standin.requests), standin.oauth.refreshes, house.find(service).state) == (sent, 1, "broken")
    assert house.refuse(service, tool, **params)["code"] == "TOKEN_INVALID"
    assert (len(standin.requests), standin.oauth.refreshes) == (sent, 1)


# Secrets of others

SECRET = "AKIAQ3EGRT5ZL2PWX7VN"


@EVERY
def test_a_secret_in_an_answer_is_masked_and_is_written_nowhere(house, service, capfd):
    standin = house.begin(service)
    tool, params = get_face(standin).listed
    rule = get_tool(service, tool)
    rows = [{"id": "1", "note": f"the key is {SECRET}"}]
    standin.faults.script(
        [answer(200, {rule.rows: rows} if rule.rows else rows), make_error(standin.state, 404, SECRET)]
    )
    told = house.call(service, tool, **params, fields=["*"])
    assert told["items"][0]["note"] == "the key is [masked:aws_access_key]"
    error = house.refuse(service, tool, **params)
    assert len(standin.requests) == 2
    house.app.journal.flush()
    with house.app.database.reading() as found:
        written = [
            str(row)
            for (table,) in found.rows(house.app.database.dialect.tables)
            for row in found.rows(f'select * from "{table}"')
        ]
    assert tool in str(written)
    assert SECRET not in json.dumps([told, error]) + "".join(written) + capfd.readouterr().err
