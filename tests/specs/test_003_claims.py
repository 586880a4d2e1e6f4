"""specs/003: the tools `pce.memory.*` over the wire, on both databases: shapes, examples, errors, idempotency."""

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from policy.houses import enforce, key
from policy.test_rules import SPECIFIED
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.core.clock import format_time, now
from tokonoma.core.module import Migration
from tokonoma.modules.claims.model import compute_hash

AT = "2026-01-15T09:00:00Z"
SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def ask(talk, tool, **params):
    """The whole envelope."""
    result = talk.tool("call", module="claims", tool_name=f"pce.memory.{tool}", params=params)
    told = json.loads(result["content"][0]["text"])
    assert told["policy_version"]
    assert told["request_id"]
    assert told["trace_id"]
    assert result.get("structuredContent") in (told, None)
    return told


def data(talk, tool, **params):
    told = ask(talk, tool, **params)
    assert "error" not in told, told
    return told["data"]


def failed(talk, tool, **params):
    return ask(talk, tool, **params)["error"]


def upsert(talk, text, **more):
    more.setdefault("provenance", {"at": AT})
    return data(talk, "upsert", text=text, **more)["id"]


def test_answers_come_in_the_envelope_and_fit_their_schemas(talk):
    listed = {tool["name"] for tool in talk.ask("tools/list")["result"]["tools"]}
    assert not any(name.startswith("pce_memory") for name in listed)
    shelf = talk.value("get_module_schema", module="claims", format="json")["modules"][0]
    outputs = {tool["name"]: tool["outputSchema"] for tool in shelf["tools"]}
    assert {"activate", "search", "upsert", "feedback", "boundary.validate", "policy.apply"} <= outputs.keys()
    claim = upsert(
        talk, "Stripe webhookは10分ドリフトを許容", entities=[{"id": "s", "type": "Artifact", "name": "Stripe"}]
    )
    context = data(talk, "activate", q="Stripe")["active_context_id"]
    asked = {
        "activate": {"q": "Stripe", "include_meta": True},
        "search": {"query": "Stripe", "include_meta": True},
        "upsert": {"text": "another", "provenance": {}},
        "feedback": {"claim_id": claim, "signal": "helpful"},
        "boundary.validate": {"payload": "x"},
        "policy.apply": {"yaml": "version: 1", "dry_run": True},
        "context.get": {"active_context_id": context},
        "context.list": {},
        "get": {"claim_id": claim},
        "list": {},
        "entities": {"query": "stripe"},
        "related": {"entity": "Stripe"},
        "history": {"claim_id": claim},
        "supersede": {"claim_id": claim, "by": upsert(talk, "newer")},
        "policy.get": {},
        "policy.history": {},
        "policy.rollback": {"version": "0.1.0"},
        "forget": {"scope": "session"},
    }
    assert asked.keys() == outputs.keys()
    for name, params in asked.items():
        told = ask(talk, name, **params)
        assert set(told) == {"data", "policy_version", "request_id", "trace_id"}
        Draft202012Validator(outputs[name]).validate(told)


def test_the_examples_of_the_specification(talk):
    claim = data(
        talk, "upsert", text="POST /subscriptions/{id}/cancel は非同期", kind="fact", scope="project",
        boundary_class="internal", provenance={"at": AT, "git": {"commit": "abc1234"}},
        content_hash=compute_hash("POST /subscriptions/{id}/cancel は非同期"),
    )  # fmt: skip
    assert claim["id"].startswith("clm_")
    told = data(
        talk, "activate", q="解約APIの命名規約 subscriptions cancel", scope=["project"], allow=["answer:task"], top_k=12
    )
    assert told["active_context_id"].startswith("ac_")
    assert told["claims"][0]["claim"]["text"] == "POST /subscriptions/{id}/cancel は非同期"
    assert told["claims_count"] == 1
    assert told["policy_version"] == claim["policy_version"] == "0.1.0"
    assert told["provenance"][0]["git"] == {"commit": "abc1234"}
    assert set(told["scoring_params"]) == {"alpha", "k_txt", "k_vec", "k_final", "rerank"}
    assert data(talk, "feedback", claim_id=claim["id"], signal="helpful", score=0.5) == {
        "ok": True,
        "policy_version": "0.1.0",
    }
    assert data(talk, "policy.apply", yaml=SPECIFIED)["version"] == "0.1.1"
    assert data(talk, "policy.apply", yaml=SPECIFIED)["version"] == "0.1.2"


def test_a_policy_comes_into_force_right_after_an_update(app, tmp_path, database_url, monkeypatch):
    """The tables of a module that has records are not up to date yet, and nobody has asked it for anything."""
    Lines(app).call("memory", "save", memos=[{"title": "茶", "content": "茶は八十八夜に摘む"}])
    loaded = app.registry._load

    def updated(source):
        module = loaded(source)
        step = Migration("999_later", ("create table memory_later (a text)",))
        return replace(module, tables=(*module.tables, step)) if module.name == "memory" else module

    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    monkeypatch.setattr(house.registry, "_load", updated)
    assert data(Lines(house), "policy.apply", yaml=SPECIFIED)["version"] == "0.1.1"
    with house.database.reading() as rows:
        assert rows.rows("select a from memory_later") == []
    house.close()


def test_names_with_dots_and_underscores_lead_to_the_same_tool(app):
    talk = Lines(app)
    for name in ("pce.memory.search", "pce_memory_search", "search"):
        assert talk.value("call", module="claims", tool_name=name, params={"query": "x"})["data"]["items"] == []
    assert talk.value("pce_memory_search", query="x")["data"]["items"] == []


def test_the_same_content_is_the_same_claim_and_another_scope_or_class_another(talk):
    first = upsert(talk, "茶は  八十八夜\r\nに摘む")
    assert upsert(talk, " 茶は 八十八夜 に摘む ") == first
    assert upsert(talk, "茶は 八十八夜 に摘む", scope="project") != first
    assert upsert(talk, "茶は 八十八夜 に摘む", boundary_class="public") != first
    hidden = upsert(talk, "茶は 八十八夜 に摘む", boundary_class="secret")
    assert upsert(talk, "茶は 八十八夜 に摘む", boundary_class="secret") == hidden
    assert len(data(talk, "list")["items"]) == 3


LOOSE = {"id": "r", "src_id": "a", "dst_id": "b", "type": "t", "evidence_claim_id": "clm_0"}
WRONG = {
    "no text": ({"provenance": {}}, "VALIDATION_ERROR", 400),
    "no provenance": ({"text": "x"}, "VALIDATION_ERROR", 400),
    "an empty text": ({"text": "  ", "provenance": {}}, "VALIDATION_ERROR", 400),
    "an unknown field": ({"text": "x", "provenance": {}, "colour": "red"}, "VALIDATION_ERROR", 400),
    "an unknown field of a source": ({"text": "x", "provenance": {"who": "me"}}, "VALIDATION_ERROR", 400),
    "a short commit": ({"text": "x", "provenance": {"git": {"commit": "abc123"}}}, "VALIDATION_ERROR", 400),
    "a wrong hash": ({"text": "x", "provenance": {}, "content_hash": "sha256:" + "0" * 64}, "VALIDATION_ERROR", 400),
    "an unknown scope": ({"text": "x", "provenance": {}, "scope": "global"}, "INVALID_SCOPE", 422),
    "an unknown class": ({"text": "x", "provenance": {}, "boundary_class": "top"}, "INVALID_BOUNDARY", 422),
    "no time for what stays": ({"text": "x", "provenance": {}, "scope": "project"}, "VALIDATION_ERROR", 400),
    "a time that is none": ({"text": "x", "provenance": {"at": "soon"}}, "VALIDATION_ERROR", 400),
    "a secret": ({"text": f"use {SECRET}", "provenance": {}}, "INVALID_BOUNDARY", 422),
    "a secret in a source": ({"text": "x", "provenance": {"note": SECRET}}, "INVALID_BOUNDARY", 422),
    "more than 64 KB": ({"text": "x" * 70_000, "provenance": {}}, "VALIDATION_ERROR", 400),
    "evidence that is not there": (
        {"text": "x", "provenance": {}, "relations": [LOOSE]},
        "UNKNOWN_CLAIM", 404,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_upsert_is_refused_with_the_specifications_word_and_nothing_is_kept(app, name):
    talk = Lines(app)
    params, code, status = WRONG[name]
    error = failed(talk, "upsert", **params)
    assert (error["code"], error["details"]["http_status"]) == (code, status)
    assert SECRET not in str(error)
    assert data(talk, "list")["items"] == []


def test_other_errors_of_the_table(app):
    talk = Lines(app)
    cases = [
        ("feedback", {"claim_id": "clm_0", "signal": "helpful"}, "UNKNOWN_CLAIM", 404),
        ("feedback", {"claim_id": "clm_0", "signal": "great"}, "VALIDATION_ERROR", 400),
        ("search", {"query": "x", "scope": ["all"]}, "INVALID_SCOPE", 422),
        ("search", {"query": "x", "top_k": 51}, "VALIDATION_ERROR", 400),
        ("search", {"query": "x", "cursor": "nonsense"}, "VALIDATION_ERROR", 400),
        ("search", {"query": "x" * 40_000}, "VALIDATION_ERROR", 400),
        ("search", {"query": "x", "allow": ["admin:all"]}, "BOUNDARY_DENIED", 403),
        ("boundary.validate", {"payload": "x", "allow": ["admin:all"]}, "BOUNDARY_DENIED", 403),
        ("policy.apply", {"yaml": "version: ["}, "INVALID_POLICY", 422),
        ("policy.apply", {"yaml": "version: 1", "expected_version": "9.9.9"}, "CONFLICT", 409),
        ("policy.rollback", {"version": "9.9.9"}, "NOT_FOUND", 404),
        ("context.get", {"active_context_id": "ac_0"}, "NOT_FOUND", 404),
        ("get", {"claim_id": "clm_0"}, "UNKNOWN_CLAIM", 404),
        ("forget", {}, "VALIDATION_ERROR", 400),
    ]
    for tool, params, code, status in cases:
        error = failed(talk, tool, **params)
        assert (error["code"], error["details"]["http_status"]) == (code, status), (tool, error)
    assert failed(talk, "policy.apply", yaml="version: 1\nfoo: 2")["details"]["line"] == 2


def test_only_the_owner_applies_policies(app):
    Lines(app).call("system", "status")
    caller = Http(app, key(app, "other"))
    for tool, params in (
        ("policy.apply", {"yaml": "version: 1"}),
        ("policy.apply", {"yaml": "version: 1", "dry_run": True}),
        ("policy.rollback", {"version": "0.1.0"}),
    ):
        error = failed(caller, tool, **params)
        assert (error["code"], error["details"]["http_status"]) == ("UNAUTHORIZED", 401)


def test_a_context_lives_until_it_expires(talk, app):
    claim = upsert(talk, "軸は季節で替える")
    told = data(talk, "activate", q="軸 季節")
    again = data(talk, "context.get", active_context_id=told["active_context_id"])
    assert [item["claim"]["id"] for item in again["claims"]] == [claim]
    with app.database.writing() as statements:
        statements.run("update active_context set expires_at = :at", at=now() - 1)
    error = failed(talk, "context.get", active_context_id=told["active_context_id"])
    assert (error["code"], error["details"]["http_status"]) == ("CONTEXT_EXPIRED", 410)


def test_a_context_expires_with_the_shortest_lived_of_its_scopes(talk, frozen_clock):
    upsert(talk, "軸は季節で替える")
    day = 86_400_000
    for scopes, days in ((["session", "project"], 7), (["project"], 120), (["project", "principle"], 120), (None, 7)):
        told = data(talk, "activate", q="軸 季節", **({"scope": scopes} if scopes else {}))
        assert told["expires_at"] == format_time(frozen_clock.at + days * day), scopes
    assert "expires_at" not in data(talk, "activate", q="軸 季節", scope=["principle"])


def test_an_observation_fades_with_its_session_and_the_rest_stays(talk, app):
    fades, stays = upsert(talk, "今日は雨"), upsert(talk, "雨の日は香を焚く", scope="project")
    with app.database.writing() as statements:
        statements.run("update claim set expires_at = :at where expires_at is not null", at=now() - 1)
        statements.run("update document set expires_at = :at where expires_at is not null", at=now() - 1)
    assert [item["claim"]["id"] for item in data(talk, "search", query="雨")["items"]] == [stays]
    assert failed(talk, "get", claim_id=fades)["code"] == "UNKNOWN_CLAIM"
    assert upsert(talk, "今日は雨") != fades


def test_pages_follow_each_other_and_a_cursor_fits_its_query_alone(talk):
    ids = {upsert(talk, f"床の間の話 その{n} {'花' * n}") for n in range(7)}
    seen, cursor = [], None
    while True:
        page = data(talk, "search", query="床の間の話", top_k=3, **({"cursor": cursor} if cursor else {}))
        seen += [item["claim"]["id"] for item in page["items"]]
        cursor = page.get("next_cursor")
        if not page["has_more"]:
            break
    assert set(seen) <= ids
    assert len(seen) == len(set(seen)) >= 6
    first = data(talk, "search", query="床の間の話", top_k=3)
    assert failed(talk, "search", query="another", cursor=first["next_cursor"])["code"] == "VALIDATION_ERROR"


def test_meta_explains_every_part_of_a_score(talk):
    upsert(talk, "釜は風炉に掛ける", provenance={"at": AT, "url": "https://example.org/tea", "note": "見た"})
    (item,) = data(talk, "search", query="風炉", include_meta=True)["items"]
    scores = item["scores"]
    assert set(scores) == {"text", "vector", "combined", "utility", "confidence", "quality", "recency", "g"}
    assert item["score"] == pytest.approx(scores["combined"] * scores["g"], abs=1e-5)
    assert 0 < item["score"] <= 1
    assert item["evidences"][0]["source_id"] == "https://example.org/tea"
    assert item["reason"]
    assert "scores" not in data(talk, "search", query="風炉")["items"][0]


def test_feedback_moves_a_claim_once_in_ten_minutes_for_each_caller(talk):
    claim = upsert(talk, "炭は朝に切る")
    for _ in range(3):
        data(talk, "feedback", claim_id=claim, signal="helpful")
    told = data(talk, "get", claim_id=claim)
    assert (told["utility"], told["confidence"], told["version"]) == (0.1, 0.55, 2)
    data(talk, "feedback", claim_id=claim, signal="outdated", score=0.5)
    assert data(talk, "get", claim_id=claim)["confidence"] == 0.45
    assert [event["what"] for event in data(talk, "history", claim_id=claim)["items"]] == [
        "made",
        "feedback",
        "feedback",
    ]


def test_what_came_with_a_claim_is_kept(talk):
    base = upsert(talk, "利休は侘びを説いた")
    claim = upsert(
        talk,
        "利休の弟子に織部がいる",
        entities=[
            {"id": "e1", "type": "Actor", "name": "利休"},
            {"id": "e2", "type": "Actor", "name": "織部", "attrs": {"born": 1543}},
        ],
        relations=[{"id": "r1", "src_id": "e2", "dst_id": "e1", "type": "pupil_of", "evidence_claim_id": base}],
        provenance={"at": AT, "git": {"commit": "0123abc", "repo": "tea"}, "actor": "me"},
    )
    upsert(talk, "利休の弟子に織部がいる", provenance={"at": AT, "url": "https://example.org"})
    told = data(talk, "get", claim_id=claim)
    assert [entity["name"] for entity in told["entities"]] == ["利休", "織部"]
    assert told["relations"][0]["evidence_claim_id"] == base
    assert [each["source_type"] for each in told["evidences"]] == ["git", "url"]


def test_a_newer_claim_shadows_an_older_one_and_both_are_kept(talk):
    old, new = upsert(talk, "集合は九時", scope="project"), upsert(talk, "集合は十時", scope="project")
    told = data(talk, "supersede", claim_id=old, by=new, expected_version=1)
    assert told == {"id": new, "supersedes": old, "version": 2}
    assert [item["claim"]["id"] for item in data(talk, "search", query="集合")["items"]] == [new]
    assert data(talk, "get", claim_id=old)["superseded_by"] == new
    assert [each["id"] for each in data(talk, "history", claim_id=new)["superseded"]] == [old]
    assert failed(talk, "supersede", claim_id=new, by=old)["code"] == "CONFLICT"
    assert failed(talk, "supersede", claim_id=old, by=new, expected_version=1)["details"]["current_version"] == 2


def test_claims_are_forgotten_by_id_by_source_and_by_scope(talk):
    one = upsert(talk, "一つ目")
    upsert(talk, "二つ目", provenance={"at": AT, "actor": "ci"})
    upsert(talk, "三つ目", scope="project", provenance={"at": AT, "git": {"commit": "abcdef0"}})
    assert data(talk, "forget", claim_id=one)["ids"] == [one]
    assert failed(talk, "get", claim_id=one)["code"] == "UNKNOWN_CLAIM"
    assert data(talk, "forget", provenance={"actor": "ci"})["forgotten"] == 1
    assert data(talk, "forget", provenance={"commit": "abcdef0"}, scope="session")["forgotten"] == 0
    assert data(talk, "forget", scope="project")["forgotten"] == 1
    assert data(talk, "list")["items"] == []
    assert upsert(talk, "一つ目") != one


def test_validate_asks_before_sending(talk):
    clean = data(talk, "boundary.validate", payload="床の間に花を活ける")
    assert clean["allowed"] is True
    assert clean["redacted"] == "床の間に花を活ける"
    secret = data(talk, "boundary.validate", payload=f"key {SECRET} と a@example.com")
    assert secret["allowed"] is False
    assert secret["redacted"] == "key [masked:github_token] と [masked:email]"
    assert SECRET not in secret["reason"]
    data(talk, "policy.apply", yaml=SPECIFIED)
    told = data(talk, "boundary.validate", payload="a@example.com", allow=["answer:task"])
    assert told["allowed"] is False
    assert "pii" in told["reason"]


def test_allow_and_scope_filter_before_anything_is_ranked(talk, app):
    enforce(
        app, SPECIFIED + "callers: { owner: ['*'] }\ninvariants: [{ class: public, scope: principle, deny: [read] }]\n"
    )
    ids = {
        label: upsert(talk, f"茶の湯の決まり {label}", boundary_class=label, scope="project")
        for label in ("public", "internal", "pii", "secret")
    }
    principle = upsert(talk, "茶の湯の決まり 根本", boundary_class="public", scope="principle")

    def seen(**more):
        return {item["claim"]["id"] for item in data(talk, "search", query="茶の湯の決まり", **more)["items"]}

    assert seen() == {ids["public"], ids["internal"], ids["pii"]}
    assert seen(allow=["answer:task"]) == {ids["public"], ids["internal"]}
    assert seen(allow=["tool:contact-lookup"]) == {ids["public"], ids["internal"], ids["pii"]}
    assert seen(scope=["session"]) == set()
    assert principle not in seen(scope=["principle"])


def test_a_dry_run_tells_what_would_change_and_changes_nothing(talk):
    claim = upsert(talk, "連絡先は a@example.com")
    yaml = "version: 3\nkinds: { email: secret }"
    told = data(talk, "policy.apply", yaml=yaml, dry_run=True)
    assert told["version"] == "3.0.0"
    assert told["preview"]["relabelled"] == {"pii → secret": 1}
    assert (told["preview"]["records"], told["preview"]["vanish"], told["preview"]["appear"]) == (1, 1, 0)
    assert "+version: 3" in told["preview"]["diff"]
    assert data(talk, "policy.apply", yaml=yaml, validate_only=True) == {"version": "3.0.0"}
    assert data(talk, "policy.get")["version"] == "0.1.0"
    assert data(talk, "get", claim_id=claim)["boundary_class"] == "pii"


def test_every_policy_is_kept_and_can_be_brought_back(talk, app):
    claim = upsert(talk, "連絡先は a@example.com")
    data(talk, "policy.apply", yaml="version: 2\nkinds: { email: secret }", expected_version="0.1.0", approver="me")
    assert failed(talk, "get", claim_id=claim)["code"] == "UNKNOWN_CLAIM"
    terminal = Lines(app, "cli")  # it loosens
    assert data(terminal, "policy.rollback", version="0.1.0", expected_version="2.0.0")["version"] == "0.1.1"
    assert data(talk, "get", claim_id=claim)["text"] == "連絡先は a@example.com"
    page = data(talk, "policy.history", limit=2)
    assert [each["version"] for each in page["items"]] == ["0.1.1", "2.0.0"]
    assert page["items"][0]["rolled_back_to"] == "0.1.0"
    rest = data(talk, "policy.history", cursor=page["next_cursor"])
    assert [each["version"] for each in rest["items"]] == ["0.1.0"]
    assert "email: secret" in data(talk, "policy.get", version="2.0.0")["yaml"]


def test_a_batch_reads_data_and_every_step_is_policed(talk):
    told = talk.batch(
        {"id": "a", "module": "claims", "tool": "upsert", "params": {"text": "香は沈香", "provenance": {}}},
        {"id": "b", "module": "claims", "tool": "get", "params": {"claim_id": "${a.id}"}, "output": True},
        {"id": "c", "module": "claims", "tool": "upsert", "params": {"text": SECRET, "provenance": {}}},
    )
    assert told["results"]["b"]["text"] == "香は沈香"
    (refused,) = [step for step in told["steps"] if step["status"] == "error"]
    assert refused["error"]["code"] == "INVALID_BOUNDARY"
    assert SECRET not in str(told)


def test_a_key_keeps_its_claims_inside_its_root(app):
    owner = Lines(app)
    upsert(owner, "家元の秘伝")
    caller = Http(app, key(app, "pupil", root="/pupil"))
    mine = upsert(caller, "弟子の覚え")
    assert [each["id"] for each in data(caller, "list")["items"]] == [mine]
    assert len(data(owner, "list")["items"]) == 2
    assert format_time(now()) > AT
