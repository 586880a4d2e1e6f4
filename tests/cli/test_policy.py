"""`tokonoma policy`, as somebody would type it."""

import json

import pytest
from click.testing import CliRunner

from tokonoma.cli.program import program

POLICY = "version: 1.0\nboundary_classes:\n  pii: { allow: ['answer:task'], redact: [pii] }\n"


@pytest.fixture
def run(tmp_path):
    def typed(*words, text=None):
        home = ("--home", str(tmp_path / "home"))
        return CliRunner().invoke(program, [*words[:1], *words[1:], *home], input=text)

    return typed


def test_a_policy_is_checked_compared_applied_shown_and_rolled_back(run, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(POLICY)
    assert run("policy", "check", str(file)).exit_code == 0
    compared = run("policy", "diff", str(file))
    assert "+version: 1.0" in compared.output
    assert "no record changes its class" in compared.output
    assert "In force: 1.0.0" in run("policy", "apply", str(file), "--expected", "0.1.0").output
    stale = run("policy", "apply", str(file), "--expected", "0.1.0")
    assert stale.exit_code == 1
    assert "1.0.0" in stale.output
    assert run("policy", "show").output.startswith(POLICY)
    assert "In force: 0.1.1" in run("policy", "rollback", "0.1.0").output
    assert [line.split()[0] for line in run("policy", "show", "--history").output.splitlines()[1:]] == [
        "0.1.1", "1.0.0", "0.1.0",
    ]  # fmt: skip


def test_a_wrong_policy_is_told_with_its_lines(run):
    told = run("policy", "check", "-", text="version: 1\nfoo: 2\n")
    assert told.exit_code == 1
    assert "line 2" in told.output
    assert run("policy", "apply", "-", text="version: [").exit_code == 1


def test_a_text_is_tried_and_nothing_is_stored(run):
    told = json.loads(run("policy", "test", "連絡は a@example.com まで", "--json").output)
    assert told["redacted"] == "連絡は [masked:email] まで"
    assert (told["class"], told["verdict"], told["found"]) == ("pii", "allow", {"email": 1})
    masked = json.loads(
        run("policy", "test", "a@example.com", "--as", "key:x", "--policy", "-", "--json", text=POLICY).output
    )
    assert masked["verdict"] == "redact"
