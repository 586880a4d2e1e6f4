"""A server whose accounts are not used pays nothing for the keyring, and does not need its key."""

import json
import subprocess
import sys
from typing import Any

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.keyring.accounts import NewAccount, add_account

CODE = """
import sys
from tokonoma.cli import main
code = main(["stdio", "--home", sys.argv[1], "--no-durable", "--keyring-source", "os"])
loaded = [name for name in sys.modules if name.startswith(("cryptography", "tokonoma.keyring", "keyring"))]
print(loaded, file=sys.stderr)
sys.exit(code)
"""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
SAVE = {"name": "call", "arguments": {"module": "memory", "tool_name": "save", "params": {"content": "local"}}}


def run_server(home, *messages) -> tuple[list[Any], str]:
    """The answers to these requests, one after another, and what was loaded at the end."""
    words = [sys.executable, "-c", CODE, str(home)]
    pipe = subprocess.PIPE
    answers: list[Any] = []
    with subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        _, said = process.communicate()
    assert process.returncode == 0, said
    return answers, said.splitlines()[-1]


def test_local_modules_work_while_the_keyring_is_sealed_and_nothing_of_it_is_loaded(home):
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    with app.write_as_owner("accounts.connect") as statements:
        add_account(statements, open_keyring(app), NewAccount("github", "work"), {"access_token": "x"})
    app.close()
    (home / "keyring.key").write_text("not a key")
    hello = {"id": 1, "method": "initialize", "params": HELLO}
    started = {"method": "notifications/initialized"}
    answers, loaded = run_server(home, hello, started, {"id": 2, "method": "tools/call", "params": SAVE})
    assert answers[-1]["result"].get("isError") in (None, False), answers[-1]
    # The tables are known to whatever opens the store, and which services have an account to every call.
    assert loaded == "['tokonoma.keyring', 'tokonoma.keyring.tables', 'tokonoma.keyring.connected']"


def test_a_start_without_a_call_loads_nothing_of_it(home):
    answers, loaded = run_server(home, {"id": 1, "method": "initialize", "params": HELLO})
    assert answers[0]["id"] == 1
    assert loaded == "[]"
