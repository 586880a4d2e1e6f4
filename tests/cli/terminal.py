"""Commands at a pseudo-terminal."""

import json
import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="a pseudo-terminal")

DRIVER = """
import json, sys
from tokonoma.cli.program import program
for words in json.loads(sys.argv[1]):
    try:
        program.main(words, prog_name="tokonoma")
    except SystemExit:
        pass
"""


def show_at_terminal(commands: list[list[str]], environ: dict[str, str | None], **more: str) -> str:
    """What a terminal receives from these commands, one after the other in one process."""
    master, slave = pty.openpty()
    variables = {**os.environ, **environ, "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **more}
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, json.dumps(commands)],
        stdin=slave, stdout=slave, stderr=slave, env={name: text for name, text in variables.items() if text},
    )  # fmt: skip
    os.close(slave)
    received = bytearray()
    while True:
        try:
            part = os.read(master, 65_536)
        except OSError:  # Linux says so when the last process has closed the terminal
            break
        if not part:
            break
        received += part
    os.close(master)
    assert process.wait() == 0, received.decode()[-2000:]
    return received.decode()
