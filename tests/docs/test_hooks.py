"""The hooks of the guide, run as Claude Code runs them: the command in a shell, the event as JSON on standard input."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.markdown import ROOT, blocks

PAGE = ROOT / "docs" / "guides" / "claude-code.md"
FACT = "v1.2 is the first release with the new cancel API"
MADE_UP = "sk-ant-api03-" + "Zx9Qw7Lm2Kp4Rt8Vb3Nc6Hd1Js5Gf0Ya" * 2 + "-AA"

pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="the guide's hooks are written with jq")


def hook(event: str) -> str:
    [settings] = [json.loads(block.text) for block in blocks(PAGE.read_text("utf-8")) if block.language == "json"]
    return settings["hooks"][event][0]["hooks"][0]["command"]


def run(command: str, folder: Path, event: object = None) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("TOKONOMA_")} | {
        "TOKONOMA_HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return subprocess.run(["bash", "-c", command], env=environ, input=json.dumps(event), text=True, capture_output=True)


def test_a_prompt_is_given_what_is_known(tmp_path):
    told = json.dumps({"text": FACT, "scope": "project", "provenance": {"at": "2026-01-15T09:00:00Z"}})
    assert run(f"tokonoma call claims upsert '{told}'", tmp_path).returncode == 0
    done = run(hook("UserPromptSubmit"), tmp_path, {"prompt": "Write the notes for the release with the cancel API"})
    assert (done.returncode, done.stdout.startswith(f"- {FACT} (clm_")) == (0, True), done.stderr


def test_a_secret_is_stopped_before_it_leaves_and_other_texts_are_not(tmp_path):
    fine = run(hook("PreToolUse"), tmp_path, {"tool_input": {"url": "https://example.com/?q=weather"}})
    assert (fine.returncode, fine.stderr) == (0, "")
    stopped = run(hook("PreToolUse"), tmp_path, {"tool_input": {"prompt": f"use {MADE_UP}"}})
    assert (stopped.returncode, "does not let this leave" in stopped.stderr) == (2, True)
    assert MADE_UP not in stopped.stderr + stopped.stdout
