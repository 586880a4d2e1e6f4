"""The flags of a `stdio` start, read by hand."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tokonoma.cli import parse_stdio_flags
from tokonoma.config.settings import SETTINGS, resolve_settings


@pytest.mark.parametrize(
    ("words", "piped", "flags"),
    [
        (["stdio"], False, {}),
        ([], True, {}),
        (["--home", "/x"], True, {"home": "/x"}),
        (["stdio", "--home", "/x", "--direct", "all"], False, {"home": "/x", "direct": "all"}),
        (["--home=/a=b", "stdio"], False, {"home": "/a=b"}),
        (["stdio", "--database-url", "sqlite:///x"], False, {"database_url": "sqlite:///x"}),
        (["stdio", "--direct="], False, {"direct": ""}),
        (["stdio", "--require-key", "--no-telemetry"], False, {"require_key": True, "telemetry": False}),
    ],
)
def test_a_plain_start_is_read(words, piped, flags):
    assert parse_stdio_flags(words, piped=piped) == flags


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["stdio", "--help"],
        ["stdio", "--hom", "/x"],
        ["stdio", "--home"],
        ["stdio", "--require-key=yes"],
        ["stdio", "again"],
        ["serve"],
        ["serve", "--home", "/x"],
        ["-h"],
        ["--"],
    ],
)
def test_everything_else_is_left_to_click(words):
    assert parse_stdio_flags(words, piped=True) is None


def test_no_words_at_a_terminal_are_no_start():
    assert parse_stdio_flags([], piped=False) is None
    assert parse_stdio_flags(["--home", "/x"], piped=False) is None


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_every_setting_is_a_flag(setting):
    flag = "--" + setting.name.replace("_", "-")
    words = [flag] if isinstance(setting.default, bool) else [flag, "1"]
    flags = parse_stdio_flags(["stdio", *words], piped=False)
    assert flags is not None
    assert list(flags) == [setting.name]
    if isinstance(setting.default, bool):
        assert resolve_settings(flags, {}, {}).values[setting.name] is True


def test_a_stdio_client_takes_on_the_reach_of_a_key(tmp_path):
    environment = {**os.environ, "TOKONOMA_HOME": str(tmp_path), "TOKONOMA_DURABLE": "false"}

    def start(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tokonoma", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **more)

    assert start("keys", "create", "reader", "--mask", "*:write,*:destroy").returncode == 0
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "get_module_schema", "arguments": {"module": "memory"}}}  # fmt: skip
    answer = json.loads(start("stdio", "--as", "reader", input=json.dumps(listed) + "\n").stdout.splitlines()[0])
    text = answer["result"]["content"][0]["text"]
    assert "search(" in text
    assert "save(" not in text
    refused = start("stdio", "--as", "nobody", input="")
    assert refused.returncode == 1
    assert "Nothing is called 'nobody'" in refused.stderr
