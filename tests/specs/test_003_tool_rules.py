"""specs/003, `tools` of a policy: what it denies or asks about, on every way in, over stdio and HTTP."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from policy.houses import enforce, key
from specs.tiny_service import use_tiny_services
from talk import MODERN, Http, Json, Lines, Talk

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.app.approvals import decide_approval, list_approvals, read_approval
from tokonoma.core.module import ModuleInfo
from tokonoma.keyring.accounts import NewAccount

DENY = "version: 1\ntools:\n  - { tool: memory.save, verdict: deny }\n  - { tool: memory.get, verdict: deny }\n"
ASK = "version: 1\ntools:\n  - { tool: memory.save, verdict: ask }\n"
SAVE = {"id": "a", "module": "memory", "tool": "save", "params": {"content": "one"}, "output": True}


@pytest.fixture
def direct(database_url, tmp_path):
    """A server that lists the tools of all modules."""
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "direct": "all"}
    app = App({**flags, "embed_provider": "none"}, {})
    yield app
    app.close()


def approval_of(error: Json) -> str:
    assert (error["code"], error["details"]["reason"]) == ("APPROVAL_REQUIRED", "approval")
    return error["details"]["approval_id"]


def count_memos(talk: Talk) -> int:
    return len(talk.call("memory", "list", limit=100)["items"])


def journal_of(app: App) -> list[dict[str, Any]]:
    app.journal.flush()
    with app.database.reading() as rows:
        found = rows.rows("select principal, module, tool, outcome, code, policy from journal where kind = 'call'")
    return [dict(zip(("principal", "module", "tool", "outcome", "code", "policy"), row, strict=True)) for row in found]


# deny


def test_a_denied_tool_is_refused_the_same_way_whatever_its_parameters(app, talk):
    enforce(app, DENY)
    errors = [
        talk.refused("memory", "save", **params)
        for params in ({"content": "x"}, {}, {"nonsense": [1]}, {"content": "AKIAIOSFODNN7EXAMPLQ"})
    ]
    assert all(each == errors[0] for each in errors)
    assert (errors[0]["code"], errors[0]["details"]["reason"]) == ("PERMISSION_DENIED", "tool_rule")
    assert errors[0]["message"] == "The policy does not allow owner to use memory.save."
    entry = next(each for each in journal_of(app) if each["tool"] == "save")
    assert (entry["outcome"], entry["code"], entry["principal"]) == ("refused", "denied.tool_rule", "owner")
    assert count_memos(talk) == 0


def test_no_way_in_leads_around_a_denial(direct):
    talk = Lines(direct)
    saved = talk.call("memory", "save", content="the only memo")["memo_id"]
    address = f"tokonoma://memory/{saved}"
    assert talk.value("fetch", id=address)["text"]
    enforce(direct, DENY)
    assert talk.error("memory_save", content="x")["details"]["reason"] == "tool_rule"
    assert talk.error("memory.save", content="x")["details"]["reason"] == "tool_rule"
    assert talk.error("remember", text="x")["details"]["reason"] == "tool_rule"
    assert talk.error("fetch", id=address)["details"]["reason"] == "tool_rule"
    refused = talk.error(
        "batch", jsonl="\n".join(map(json.dumps, [{**SAVE, "tool": "list", "id": "b", "params": {}}, SAVE]))
    )
    assert refused["details"]["errors"][0]["line"] == 2
    assert "Nothing was run" in refused["message"]
    assert "error" in talk.ask("resources/read", uri=address)
    assert address not in json.dumps(talk.ask("resources/list"))
    assert count_memos(talk) == 1


def test_a_module_whose_search_is_denied_is_not_searched_with_the_others(app, talk):
    talk.call("memory", "save", content="a frog jumps into the pond")
    assert talk.value("search", query="frog pond")["results"]
    enforce(app, "version: 1\ntools:\n  - { tool: memory.search, verdict: ask }\n")
    assert talk.value("search", query="frog pond")["results"] == []


def test_rules_are_for_the_callers_that_they_name(app):
    guest = Http(app, key(app, "guest"))
    enforce(app, "version: 1\ntools:\n  - { caller: 'key:g*', effect: write, verdict: deny }\n")
    assert guest.refused("memory", "save", content="x")["details"]["reason"] == "tool_rule"
    assert guest.call("memory", "list")["items"] == []
    assert Lines(app).call("memory", "save", content="x")["memo_id"]


def test_the_terminal_is_the_owners_place(app, terminal):
    enforce(app, "version: 1\ntools:\n  - { tool: '*', verdict: deny }\n")
    assert Lines(app).refused("system", "status")["details"]["reason"] == "tool_rule"
    assert Lines(app, "cli").call("memory", "save", content="x")["memo_id"]
    assert "memo_id" in terminal("call", "memory", "save", '{"content": "y"}')
    assert "In force" in terminal("policy", "rollback", "0.1.0")


# ask


def test_a_call_runs_once_when_it_was_approved(app, talk, terminal):
    enforce(app, ASK)
    error = talk.refused("memory", "save", content="one", metadata={"a": 1, "b": 2})
    id = approval_of(error)
    assert error["details"]["approve"] == f"tokonoma approvals approve {id}"
    assert error["details"]["expires_at"] in error["message"]
    assert approval_of(talk.refused("memory", "save", content="one", metadata={"b": 2, "a": 1})) == id
    assert id in terminal("approvals", "list")
    shown = terminal("approvals", "show", id)
    assert "owner calls memory.save" in shown
    assert '"content":"one"' in shown
    assert f"Approved: memory.save for owner, once, until {error['details']['expires_at']}." in terminal(
        "approvals", "approve", id
    )
    other = approval_of(talk.refused("memory", "save", content="two"))
    assert count_memos(talk) == 0
    assert talk.call("memory", "save", content="one", metadata={"a": 1, "b": 2})["memo_id"]
    assert approval_of(talk.refused("memory", "save", content="one", metadata={"a": 1, "b": 2})) not in (id, other)
    assert count_memos(talk) == 1
    entries = [each for each in journal_of(app) if f"approval:{id}" in each["policy"]]
    found = {(each["principal"], each["module"], each["tool"], each["outcome"]) for each in entries}
    assert found == {
        ("owner", "memory", "save", "refused"),
        ("owner", "admin", "approvals.approve", "committed"),
        ("owner", "memory", "save", "committed"),
    }


def test_a_denied_approval_is_final_until_it_expires(app, talk, terminal):
    enforce(app, ASK)
    id = approval_of(talk.refused("memory", "save", content="one"))
    assert terminal("approvals", "deny", id) == "Denied: memory.save for owner.\n"
    refused = talk.refused("memory", "save", content="one")
    assert (refused["code"], refused["details"]["reason"]) == ("PERMISSION_DENIED", "approval_denied")
    assert "denied already" in terminal("approvals", "approve", id, fails=True)
    assert "No call is waiting" in terminal("approvals", "list")
    listed = json.loads(terminal("approvals", "list", "--all", "--json"))["items"]
    assert [(each["id"], each["state"], each["decided_by"]) for each in listed] == [(id, "denied", "owner")]


def test_an_approval_is_for_one_caller(app):
    one, other = Http(app, key(app, "one")), Http(app, key(app, "two"))
    enforce(app, ASK)
    decide_approval(app, approval_of(one.refused("memory", "save", content="x")), "approved")
    mine = approval_of(other.refused("memory", "save", content="x"))
    assert [each.principal for each in list_approvals(app)] == ["key:two"]
    assert one.call("memory", "save", content="x")["memo_id"]
    decide_approval(app, mine, "approved")
    assert other.call("memory", "save", content="x")["memo_id"]


def test_it_expires_on_the_servers_clock(app, talk, terminal, frozen_clock):
    enforce(app, ASK)
    id = approval_of(talk.refused("memory", "save", content="one"))
    decide_approval(app, id, "approved")
    frozen_clock.advance(10 * 60 * 1000)
    assert approval_of(talk.refused("memory", "save", content="one")) != id
    assert "expired" in terminal("approvals", "approve", id, fails=True)


def test_wrong_parameters_and_secrets_are_refused_before_anybody_is_asked(app, talk):
    enforce(app, ASK)
    assert talk.refused("memory", "save", contents="one")["code"] == "INVALID_ARGUMENT"
    secret = {"content": "AWS key AKIAIOSFODNN7EXAMPLQ"}
    assert talk.refused("memory", "save", **secret)["details"]["reason"] == "secret"
    assert talk.error("batch", jsonl=json.dumps({**SAVE, "params": secret}))["details"]["reason"] == "secret"
    assert list_approvals(app) == []


def test_what_the_policy_hides_is_masked_for_the_person_too(app):
    yaml = (
        f"{ASK}writes: {{ secret: allow }}\nboundary_classes:\n  pii: {{ allow: ['answer:task'], redact: [email] }}\n"
    )
    enforce(app, yaml)
    text = "mail hanako@example.com, key AKIAIOSFODNN7EXAMPLQ"
    id = approval_of(Lines(app).refused("memory", "save", content=text))
    assert read_approval(app, id).params == {"content": "mail [masked:email], key [masked:aws_access_key]"}
    decide_approval(app, id, "approved")
    assert Lines(app).call("memory", "save", content=text)["memo_id"]  # what was asked for is what runs


def test_the_direct_surface_and_call_share_an_approval(direct):
    enforce(direct, ASK)
    talk = Lines(direct)
    decide_approval(direct, approval_of(talk.error("memory_save", content="x")), "approved")
    assert talk.call("memory", "save", content="x")["memo_id"]
    assert approval_of(talk.error("memory.save", content="x"))


def test_remember_waits_too(app, talk):
    enforce(app, ASK)
    decide_approval(app, approval_of(talk.error("remember", text="once")), "approved")
    assert talk.value("remember", text="once")["already"] is False
    assert count_memos(talk) == 1


def test_no_tool_leads_to_an_approval(direct):
    """Approving is for the owner's own places: an agent that can approve would approve its own calls."""
    modules: list[ModuleInfo] = list(direct.registry._known.infos.values())
    assert [tool.path for info in modules for tool in info.entries if "approv" in tool.path] == []
    listed = json.dumps([each["name"] for each in Lines(direct).ask("tools/list")["result"]["tools"]])
    assert "approv" not in listed


@pytest.mark.parametrize("ways", ["stdio", "http"])
def test_sixteen_calls_at_once_run_one_time(app, ways):
    enforce(app, ASK)
    first = Lines(app)
    decide_approval(app, approval_of(first.refused("memory", "save", content="race")), "approved")
    ready = threading.Barrier(16)

    def run(_: int) -> bool:
        talk = Lines(app) if ways == "stdio" else Http(app)
        ready.wait(60)
        result = talk.tool("call", module="memory", tool_name="save", params={"content": "race"})
        return not result["isError"]

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(run, range(16))) == 1
    assert count_memos(first) == 1


# Batches


def test_a_batch_asks_for_all_its_steps_before_any_runs(app, talk):
    enforce(app, ASK)
    lines = [
        {"id": "free", "module": "memory", "tool": "list"},
        SAVE,
        {**SAVE, "id": "b", "params": {"content": "two"}},
    ]
    jsonl = "\n".join(map(json.dumps, lines))
    error = talk.error("batch", jsonl=jsonl)
    assert error["code"] == "APPROVAL_REQUIRED"
    asked = error["details"]["approvals"]
    assert [(each["line"], each["id"], each["tool"], each["state"]) for each in asked] == [
        (2, "a", "memory.save", "pending"),
        (3, "b", "memory.save", "pending"),
    ]
    decide_approval(app, asked[0]["approval_id"], "approved")
    states = [each["state"] for each in talk.error("batch", jsonl=jsonl)["details"]["approvals"]]
    assert states == ["approved", "pending"]
    assert count_memos(talk) == 0
    decide_approval(app, asked[1]["approval_id"], "approved")
    assert talk.value("batch", jsonl=jsonl)["ok"]
    assert count_memos(talk) == 2
    assert talk.error("batch", jsonl=jsonl)["code"] == "APPROVAL_REQUIRED"


def test_a_step_that_a_person_could_not_see_is_not_asked_about(app, talk):
    enforce(app, ASK)
    lines = [{"id": "l", "module": "memory", "tool": "list"}, {**SAVE, "params": {"content": "${l.has_more} memos"}}]
    error = talk.error("batch", jsonl="\n".join(map(json.dumps, lines)))
    assert error["details"]["errors"][0]["line"] == 2
    twice = talk.error("batch", jsonl="\n".join(map(json.dumps, [SAVE, {**SAVE, "id": "b"}])))
    assert "an approval holds once" in twice["message"]
    assert list_approvals(app) == []


def test_a_dry_run_says_which_steps_need_an_approval_and_asks_nothing(app, talk):
    enforce(app, ASK)
    planned = talk.batch({"id": "l", "module": "memory", "tool": "list"}, SAVE, dry_run=True)["steps"]
    assert [each.get("needs_approval", False) for each in planned] == [False, True]
    assert list_approvals(app) == []


def test_an_idempotency_key_is_used_by_the_run_and_not_by_the_question(app, talk):
    enforce(app, ASK)
    more = {"jsonl": json.dumps(SAVE), "idempotency_key": "k1"}
    asked = talk.error("batch", **more)["details"]["approvals"]
    decide_approval(app, asked[0]["approval_id"], "approved")
    first = talk.value("batch", **more)
    assert first["ok"]
    assert talk.value("batch", **more) == {**first, "repeated": True}  # nothing is asked again
    assert list_approvals(app) == []


def test_a_rule_can_name_batch_itself(app, talk):
    enforce(app, "version: 1\ntools:\n  - { tool: gateway.batch, verdict: ask }\n")
    line = json.dumps({"id": "l", "module": "memory", "tool": "list"})
    decide_approval(app, approval_of(talk.error("batch", jsonl=line)), "approved")
    assert talk.value("batch", jsonl=line)["ok"]
    assert approval_of(talk.error("batch", jsonl=line))


# Accounts


@pytest.fixture
def accounts(monkeypatch, tmp_path, app):
    use_tiny_services(monkeypatch, tmp_path)
    for name in ("work", "home"):
        store_account(app, NewAccount("github", name, "/"), {"token": "canary"})
    return app


def test_a_rule_about_an_account_follows_the_account_that_is_used(accounts):
    enforce(accounts, "version: 1\ntools:\n  - { tool: github.greet, account: work, verdict: deny }\n")
    talk = Lines(accounts)
    assert talk.refused("github", "greet", account="work")["details"]["reason"] == "tool_rule"
    assert talk.call("github", "greet", account="home") == {"hello": "home"}
    assert talk.refused("github", "greet")["details"]["reason"] == "ambiguous"


def test_the_account_that_was_approved_is_the_one_that_is_used(accounts, terminal):
    enforce(accounts, "version: 1\ntools:\n  - { tool: github.greet, verdict: ask }\n")
    talk = Lines(accounts)
    terminal("accounts", "default", "github", "work")
    id = approval_of(talk.refused("github", "greet"))
    assert read_approval(accounts, id).account == "work"
    decide_approval(accounts, id, "approved")
    terminal("accounts", "default", "github", "home")
    assert approval_of(talk.refused("github", "greet")) != id
    terminal("accounts", "default", "github", "work")
    assert talk.call("github", "greet") == {"hello": "work"}


# Questions of MCP 2026-07-28


def send(talk: Talk, capabilities: Json, **params: Any) -> Json:
    meta = {**MODERN, "io.modelcontextprotocol/clientCapabilities": capabilities}
    arguments = {"module": "memory", "tool_name": "save", "params": {"content": "asked"}}
    message = {"name": "call", "arguments": arguments, "_meta": meta, **params}
    return talk.ask("tools/call", **message)["result"]


@pytest.mark.parametrize("capability", [{}, {"form": {}}, {"form": {}, "url": {}}])
def test_a_client_that_can_ask_gets_a_question_and_sends_the_call_again(app, capability):
    enforce(app, ASK)
    talk, can = Lines(app), {"elicitation": capability}
    asked = send(talk, can)
    assert asked["resultType"] == "input_required"
    assert "content" not in asked
    question = asked["inputRequests"]["approval"]
    assert question["method"] == "elicitation/create"
    (waiting,) = list_approvals(app)
    assert f"tokonoma approvals approve {waiting.id}" in question["params"]["message"]
    answer = {
        "inputResponses": {"approval": {"action": "accept", "content": {}}},
        "requestState": asked["requestState"],
    }
    again = send(talk, can, **answer)  # an answer approves nothing
    assert again["resultType"] == "input_required"
    assert [each.id for each in list_approvals(app)] == [waiting.id]
    decide_approval(app, waiting.id, "approved")
    answer["requestState"] = again["requestState"]
    done = send(talk, can, **answer)
    assert (done["resultType"], done["isError"]) == ("complete", False)
    assert count_memos(talk) == 1


def test_a_declined_question_ends_it(app):
    enforce(app, ASK)
    talk, can = Lines(app), {"elicitation": {}}
    asked = send(talk, can)
    decide_approval(app, list_approvals(app)[0].id, "approved")
    for action in ("decline", "cancel"):
        declined = send(talk, can, inputResponses={"approval": {"action": action}}, requestState=asked["requestState"])
        assert declined["isError"]
        assert "approval_declined" in declined["content"][0]["text"]
    assert count_memos(talk) == 0


def test_a_client_that_answers_by_itself_is_not_asked_for_ever(app):
    enforce(app, ASK)
    talk, can = Lines(app), {"elicitation": {}}
    result, rounds = send(talk, can), 0
    while result["resultType"] == "input_required":
        rounds += 1
        answers = {"approval": {"action": "accept"}}
        result = send(talk, can, inputResponses=answers, requestState=result["requestState"])
    assert rounds == 5
    assert "APPROVAL_REQUIRED" in result["content"][0]["text"]
    for state in ("approval -1", "approval x", "approval 999999999", "other 1", "\x00"):
        assert send(talk, can, requestState=state)["isError"], state


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}])
def test_a_client_that_cannot_ask_gets_the_error(app, capabilities):
    enforce(app, ASK)
    told = send(Lines(app), capabilities)
    assert told["isError"]
    assert "APPROVAL_REQUIRED" in told["content"][0]["text"]


def test_the_official_client_asks_and_calls_again(app):
    """With the SDK: its elicitation callback approves in the terminal's place, and the call completes by itself."""
    import anyio
    import httpx
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import ElicitResult

    from tokonoma.server.http.app import HttpApp

    enforce(app, ASK)
    seen: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        seen.append(params.message)
        await anyio.to_thread.run_sync(lambda: decide_approval(app, list_approvals(app)[0].id, "approved"))
        return ElicitResult(action="accept", content={})

    async def run() -> Any:
        transport = httpx.ASGITransport(app=HttpApp(app.dispatcher), client=("127.0.0.1", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as http:
            link = streamable_http_client("http://127.0.0.1:8722/mcp", http_client=cast("Any", http))
            async with Client(link, elicitation_callback=answer) as client:
                return await client.call_tool(
                    "call", {"module": "memory", "tool_name": "save", "params": {"content": "sdk"}}
                )

    result = anyio.run(run)
    assert not result.is_error
    assert result.structured_content["memo_id"]
    assert len(seen) == 1
