"""specs/003, policy.apply and policy.rollback: callers cannot loosen the policy; the owner's terminal can."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from talk import Http, Lines, Talk

from tokonoma.app import App
from tokonoma.policy.proposals import MAX_PROPOSALS

TIGHT = "version: 1.0\nboundary_classes:\n  pii: { allow: ['answer:task'], redact: [pii], escalation: human_review }\n"
LOOSE = "version: 2.0\nboundary_classes:\n  secret: { allow: ['*'] }\nwrites: { secret: allow }\n"
KEY = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)


@pytest.fixture
def server(database_url, tmp_path):
    """A server with other settings."""
    opened: list[App] = []

    def start(**settings) -> App:
        flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, **settings}
        opened.append(App({**flags, "embed_provider": "none"}, {}))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def apply(talk: Talk, yaml: str, **more) -> dict[str, Any]:
    return talk.call("claims", "policy.apply", yaml=yaml, **more)["data"]


def in_force(talk: Talk) -> str:
    return talk.call("claims", "policy.get")["data"]["version"]


def test_a_policy_that_only_tightens_is_in_force_at_once(talk):
    assert apply(talk, TIGHT) == {"version": "1.0.0"}
    assert in_force(talk) == "1.0.0"


def test_a_policy_that_loosens_waits_for_the_terminal(talk, terminal):
    told = apply(talk, LOOSE)
    pending = told["pending"]
    assert told["version"] == "2.0.0"
    assert "secret may be read with *" in pending["loosens"]
    assert "writes: secret becomes allow instead of refuse" in pending["loosens"]
    assert f"tokonoma policy approve {pending['id']}" in pending["approve"]
    assert in_force(talk) == "0.1.0"
    assert talk.refused("memory", "save", content="AWS key AKIAIOSFODNN7EXAMPLQ")["details"]["reason"] == "secret"
    assert pending["id"] in terminal("policy", "pending")
    shown = terminal("policy", "show", pending["id"])
    assert shown.startswith(LOOSE)
    assert "It loosens: secret may be read with *" in shown
    assert "In force: 2.0.0" in terminal("policy", "approve", pending["id"])
    newest = talk.call("claims", "policy.history")["data"]["items"][0]
    assert (newest["version"], newest["applied_by"], newest["approver"]) == ("2.0.0", "owner", "owner")
    assert "No policy is waiting" in terminal("policy", "pending")


def test_a_batch_step_is_no_way_around_it(talk):
    step = {"id": "a", "module": "claims", "tool": "policy.apply", "params": {"yaml": LOOSE}, "output": True}
    told = talk.batch(step)
    assert "pending" in json.dumps(told)
    assert in_force(talk) == "0.1.0"


def test_a_rollback_that_loosens_waits_too(talk, terminal):
    apply(talk, TIGHT)
    pending = talk.call("claims", "policy.rollback", version="0.1.0")["data"]["pending"]
    assert any("pii" in each for each in pending["loosens"])
    assert in_force(talk) == "1.0.0"
    terminal("policy", "approve", pending["id"])
    newest = talk.call("claims", "policy.history")["data"]["items"][0]
    assert (newest["version"], newest["rolled_back_to"]) == ("0.1.1", "0.1.0")
    assert talk.call("claims", "policy.rollback", version="1.0.0")["data"] == {"version": "1.0.1"}


def test_a_proposal_is_rejected_and_an_overtaken_one_refused(talk, terminal):
    first, second = apply(talk, LOOSE)["pending"]["id"], apply(talk, LOOSE + "# again")["pending"]["id"]
    assert first != second
    assert apply(talk, LOOSE)["pending"]["id"] == first  # stored once
    assert f"Rejected: {first}" in terminal("policy", "reject", first)
    assert "There is no proposed policy" in terminal("policy", "approve", first, fails=True)
    apply(talk, TIGHT)
    stale = terminal("policy", "approve", second, fails=True)
    assert "made against 0.1.0, but 1.0.0 was applied since" in stale
    assert "tokonoma policy apply FILE" in stale
    assert in_force(talk) == "1.0.0"


def test_proposals_are_bounded(talk, terminal):
    for number in range(MAX_PROPOSALS):
        assert "pending" in apply(talk, f"{LOOSE}# {number}")
    refused = talk.refused("claims", "policy.apply", yaml=f"{LOOSE}# one more")
    assert refused["code"] == "CONFLICT"
    assert "tokonoma policy reject" in refused["message"]
    assert len(json.loads(terminal("policy", "pending", "--json"))["items"]) == MAX_PROPOSALS
    apply(talk, TIGHT)  # they are all overtaken now, and make room
    assert "pending" in apply(talk, LOOSE)
    assert len(json.loads(terminal("policy", "pending", "--json"))["items"]) == 1


def test_the_terminal_acts_at_once(terminal, tmp_path):
    file = tmp_path / "loose.yaml"
    file.write_text(LOOSE)
    assert "It loosens: writes: secret becomes allow" in terminal("policy", "diff", str(file))
    assert "In force: 2.0.0" in terminal("policy", "apply", str(file))
    assert "In force: 0.1.1" in terminal("policy", "rollback", "0.1.0")
    assert "2.0.1" in terminal("call", "claims", "policy.apply", json.dumps({"yaml": LOOSE}))


def test_a_dry_run_tells_what_is_loosened(talk):
    assert "secret may be read with *" in apply(talk, LOOSE, dry_run=True)["preview"]["loosens"]
    assert apply(talk, TIGHT, dry_run=True)["preview"]["loosens"] == []
    assert in_force(talk) == "0.1.0"


@pytest.mark.parametrize("door", [Lines, Http])
def test_the_setting_takes_every_policy_or_none(server, door):
    assert apply(door(server(policy_over_mcp="all")), LOOSE) == {"version": "2.0.0"}
    closed = door(server(policy_over_mcp="none"))
    for tool, params in (("policy.apply", {"yaml": TIGHT}), ("policy.rollback", {"version": "0.1.0"})):
        refused = closed.refused("claims", tool, **params)
        assert refused["code"] == "UNAUTHORIZED"
        assert "at the terminal" in refused["message"]
    assert apply(closed, TIGHT, dry_run=True)["version"] == "1.0.0"
    assert in_force(closed) == "2.0.0"


def test_the_tools_say_that_they_destroy(app):
    listed = Lines(App({"home": str(app.home), "direct": "claims"}, {})).ask("tools/list")["result"]["tools"]
    hints = {each["name"]: each["annotations"]["destructiveHint"] for each in listed if "policy" in each["name"]}
    assert hints["pce_memory_policy_apply"] is hints["pce_memory_policy_rollback"] is True
    assert hints["pce_memory_policy_get"] is False


def sign(terminal, file) -> str:
    """As with any other tool that signs bytes."""
    return base64.b64encode(KEY.sign(terminal("policy", "sign", str(file)).encode())).decode()


def test_a_signature_approves_once_and_for_one_place_in_the_history(server, terminal, tmp_path):
    public = base64.b64encode(KEY.public_key().public_bytes_raw()).decode()
    talk = Lines(server(policy_signers=[f"anna:{public}"]))
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(LOOSE)
    second.write_text("version: 3.0\n")
    by_anna = {"approver": "anna", "signature": sign(terminal, first)}
    assert apply(talk, LOOSE, **by_anna) == {"version": "2.0.0"}  # it loosens, and is signed
    for yaml, more in ((TIGHT, {}), (TIGHT, by_anna), (LOOSE + "\n", by_anna)):
        assert talk.refused("claims", "policy.apply", yaml=yaml, **more)["code"] in ("UNAUTHORIZED", "CONFLICT")
    pem = tmp_path / "anna.pem"
    pem.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    signature = terminal("policy", "sign", str(second), "--key", str(pem)).strip()
    assert apply(talk, "version: 3.0\n", approver="anna", signature=signature) == {"version": "3.0.0"}
    replayed = talk.refused("claims", "policy.apply", yaml=LOOSE, **by_anna)
    assert replayed["code"] == "CONFLICT"
    assert replayed["details"]["next_version"] == "2.0.1"
    other = LOOSE.replace("2.0", "2.5")
    assert talk.refused("claims", "policy.apply", yaml=other, **by_anna)["code"] == "UNAUTHORIZED"
    for version in ("0.1.0", "2.0.0"):
        assert talk.refused("claims", "policy.rollback", version=version)["code"] == "UNAUTHORIZED"
    assert in_force(talk) == "3.0.0"


def test_signers_bind_the_terminal_too(server, terminal, tmp_path):
    id = apply(Lines(server()), LOOSE)["pending"]["id"]
    public = base64.b64encode(KEY.public_key().public_bytes_raw()).decode()
    file = tmp_path / "tight.yaml"
    file.write_text(TIGHT)
    signers = ("--policy-signers", f"anna:{public}")
    assert "must be signed" in terminal("policy", "apply", str(file), *signers, fails=True)
    assert "must be signed" in terminal("policy", "approve", id, *signers, fails=True)
    assert "must be signed" in terminal("policy", "rollback", "0.1.0", *signers, fails=True)
    told = terminal("policy", "diff", str(file), *signers)  # reading needs no signature
    assert "It would be 1.0.0" in told
    signed = ("--approver", "anna", "--signature", sign(terminal, file))
    assert "In force: 1.0.0" in terminal("policy", "apply", str(file), *signed, *signers)
