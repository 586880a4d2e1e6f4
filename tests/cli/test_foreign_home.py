"""A home that cannot be used gives a message: of another user, a file, unreadable settings, or of a newer version."""

import ctypes
import json
import os
import subprocess
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.store.database import format_sqlite_url, open_database

NOBODY = 65534
CAPABILITIES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: what lets root read everything
START = (
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call","arguments":{"module":"memory",'
    '"tool_name":"list","params":{}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientCapabilities":{}}}}\n'
)


def obey_permissions() -> None:
    """In the new process: root obeys permissions like anybody else."""
    library = ctypes.CDLL(None, use_errno=True)
    for capability in CAPABILITIES:
        if os.geteuid() == 0 and library.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            raise OSError(ctypes.get_errno(), "prctl")


def give_away(path: Path, mode: int) -> None:
    """It belongs to somebody else, if we are root; otherwise its mode alone keeps us out."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    path.chmod(mode if os.geteuid() == 0 else mode & 0o077)


@pytest.fixture
def start(spawned):
    def run(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(**spawned(*words, **more), input=START, preexec_fn=obey_permissions, check=False)

    return run


COMMANDS = (("stdio",), ("call", "memory", "list"), ("doctor",), ("backup",), ("export", "-"), ("where",))


def check(result, *words: str) -> None:
    told = result.stdout + result.stderr
    assert "Traceback" not in told
    assert "internal error" not in told
    assert "INTERNAL" not in told
    assert "[Errno" not in told
    assert any(word in told for word in words), told


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_home_of_another_user(start, home, words):
    home.mkdir()
    give_away(home, 0o700)
    try:
        check(start(*words), "may not read the data folder")
    finally:
        home.chmod(0o700)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_file_instead_of_a_folder(run, spawned, home, words):
    home.write_text("mine")
    result = subprocess.run(**spawned(*words), input=START, check=False)
    check(result, "is a file, and the data folder must be a folder")
    assert home.read_text() == "mine"


def test_a_home_that_cannot_be_created(start, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    give_away(closed, 0o755)
    if os.geteuid():
        closed.chmod(0o555)
    check(start("call", "memory", "list", TOKONOMA_HOME=str(closed / "home")), "cannot be created")


def test_settings_and_plugins_of_another_user(start, home):
    home.mkdir()
    home.chmod(0o755)
    for name in ("tokonoma.toml", "plugins.json"):
        (home / name).write_text("[]" if "json" in name else "")
        give_away(home / name, 0o600)
        check(start("modules"), f"may not read {home / name}")
        (home / name).unlink()


def test_a_home_of_a_newer_version(value, run, home):
    value("call", "memory", "list")
    database = open_database(format_sqlite_url(home / "tokonoma.db"))
    with database.writing() as statements:
        statements.run("insert into migration values ('journal', '999_future', 9999999999999)")
    database.close()
    assert "newer version" in run("call", "memory", "list").stderr
    app = App({"home": str(home), "log_level": "error"}, {})
    (content,) = Lines(app).tool("call", module="memory", tool_name="list", params={})["content"]
    app.close()
    refused = json.loads(content["text"])["error"]
    assert refused["code"] == "NOT_READY"
    assert "newer version" in refused["message"]
