"""Twenty secrets that are looked for wherever they must not be."""

import base64
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokonoma.cli.program import program
from tokonoma.core.ids import random_hex
from tokonoma.store.database import open_database

pytestmark = pytest.mark.migrated

HERE = Path(__file__).parent
CANARIES = [f"ghp_{random_hex(18)}" for _ in range(20)]


def list_forms(secret: bytes) -> list[bytes]:
    packed = [base64.b64encode(b"." * shift + secret)[4 if shift else 0 : -4].rstrip(b"=") for shift in range(3)]
    return [secret, secret[::-1], secret.hex().encode(), *packed]


def dump_rows(url: str) -> bytes:
    database = open_database(url, durable=False)
    parts: list[bytes] = []
    with database.reading() as rows:
        for (table,) in rows.rows(database.dialect.tables):
            for row in rows.rows(f'select * from "{table}"'):
                parts += [bytes(v) if isinstance(v, bytes | memoryview) else str(v).encode() for v in row]
    database.close()
    return b"\n".join(parts)


def read_backup(file: Path) -> bytes:
    """Its bytes, and those of its compressed members."""
    data = file.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return data + b"".join(packed.read(name) for name in packed.namelist())


def read_processes() -> bytes:
    shown = [subprocess.run(["ps", "-eo", "args"], capture_output=True).stdout] if Path("/bin/ps").exists() else []
    return b"".join([*shown, *(read_process(file) for file in Path("/proc").glob("[0-9]*/cmdline"))])


def read_process(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended
        return b""


def run(*words: str, home: Path, url: str) -> bytes:
    environ = {"TOKONOMA_HOME": str(home), "TOKONOMA_DATABASE_URL": url, "TOKONOMA_DURABLE": "false"}
    return CliRunner().invoke(program, words, env=environ, prog_name="tokonoma").output.encode()


@pytest.fixture
def places(database_url, home, tmp_path):
    """Everything in which a secret could be found, by name, while a process holds them."""
    words = [sys.executable, str(HERE / "holding.py"), str(home), database_url]
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    pipe, log = subprocess.PIPE, (tmp_path / "log").open("wb")
    with log, subprocess.Popen(words, env=environ, stdin=pipe, stdout=pipe, stderr=log) as process:
        process.stdin.write(json.dumps(CANARIES).encode() + b"\n")
        process.stdin.flush()
        said = b""
        while (line := process.stdout.readline()) != b"done\n":
            assert line, (tmp_path / "log").read_text()
            said += line
        found = {"errors": said, "processes": read_processes(), "rows": dump_rows(database_url)}
        for file in (tmp_path / "data").glob("*"):
            found[file.name] = file.read_bytes()
        process.stdin.write(b"\n")
        process.stdin.close()
    assert process.returncode == 0
    found["log"] = (tmp_path / "log").read_bytes()
    made = run("backup", str(tmp_path / "x.backup"), home=home, url=database_url)
    assert b"secrets of accounts, encrypted" in made, made
    found["backup"] = read_backup(tmp_path / "x.backup")
    for command in (
        "accounts list --json",
        "keyring status --json",
        "journal tail -n 200 --json",
        "doctor --json",
    ):
        found[command] = run(*command.split(), home=home, url=database_url)
    return found


def test_no_secret_and_no_key_is_found_anywhere(places, home, database_url):
    assert b"accounts.connect" in places["journal tail -n 200 --json"]
    assert b"cut off" in places["errors"]
    assert b"another master key" in places["errors"]
    if database_url.startswith("sqlite"):
        assert {"tokonoma.db", "tokonoma.db-wal"} <= set(places)
        assert len(places["tokonoma.db-wal"]) > 0
    text = (home / "keyring.key").read_bytes().strip()
    master = base64.b64decode(text)
    wanted = [form for canary in CANARIES for form in list_forms(canary.encode())] + [text, master, *list_forms(master)]
    leaks = [name for name, data in places.items() for form in wanted if form in data]
    assert leaks == []
