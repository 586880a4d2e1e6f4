"""`doctor`: what it finds, what it advises, and that it changes nothing."""

import json
import socket
from pathlib import Path

import pytest

from tokonoma.app.doctor.machine import (
    NETWORK_TYPES,
    Finding,
    find_filesystem_type,
    parse_mount_output,
    parse_mountinfo,
    run_check,
)
from tokonoma.store.database import format_sqlite_url, open_database


@pytest.fixture
def findings(run):
    """name → its worst finding, and the exit code."""

    def look(*words: str, **more):
        result = run("doctor", "--json", "--port", "0", *words, **more)
        told = json.loads(result.stdout)
        assert told["ok"] is (result.exit_code == 0)
        order = ["ok", "warn", "fail"]
        worst: dict[str, dict[str, str]] = {}
        for each in told["findings"]:
            if each["name"] not in worst or order.index(each["state"]) > order.index(worst[each["name"]]["state"]):
                worst[each["name"]] = each
        return worst, result.exit_code

    return look


def changed(home: Path, sql: str, **params) -> None:
    database = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
    with database.writing() as statements:
        statements.run(sql, **params)
    database.close()


def test_a_fresh_machine_is_well_and_stays_as_it_is(findings, home, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    told, code = findings()
    assert code == 0
    assert {name: each["state"] for name, each in told.items()} == dict.fromkeys(told, "ok")
    assert "does not exist yet" in told["home"]["says"]
    assert "does not exist yet" in told["database"]["says"]
    looked_at = {
        "python",
        "sqlite",
        "settings",
        "home",
        "file system",
        "room",
        "plugins",
        "port",
        "embedding",
        "readings",
        "database",
    }
    assert looked_at == set(told)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_house_in_use_is_well(run, value, findings):
    value("call", "system", "status")
    told, code = findings()
    assert code == 0
    assert {"locks", "integrity", "tables", "journal", "keys", "records"} <= set(told)
    assert "FTS5" in told["sqlite"]["says"]
    assert "unbroken" in told["journal"]["says"]
    plain = run("doctor", "--port", "0").stdout
    assert "0 failed" in plain
    assert "\x1b[" not in plain


def test_a_damaged_page_fails_and_says_what_to_do(value, findings, home):
    for _ in range(3):
        value("call", "system", "status")
    file = home / "tokonoma.db"
    content = bytearray(file.read_bytes())
    content[8192:12288] = b"\x55" * 4096
    file.write_bytes(content)
    told, code = findings()
    assert code == 1
    broken = [each for each in told.values() if each["state"] == "fail"]
    assert any("tokonoma restore" in each["do"] for each in broken)


def test_a_file_that_is_no_database_fails(findings, home):
    home.mkdir(mode=0o700)
    (home / "tokonoma.db").write_text("this is no database, and it is long enough to be looked at" * 99)
    (home / "tokonoma.db").chmod(0o600)
    told, code = findings()
    assert code == 1
    assert told["database"]["state"] == "fail"


def test_a_broken_chain_fails(value, findings, home):
    value("call", "system", "status")
    changed(home, "update journal set principal = 'somebody'")
    told, code = findings()
    assert code == 1
    assert "was changed" in told["journal"]["says"]


def test_tables_of_a_newer_program_fail(value, findings, home):
    value("call", "system", "status")
    changed(home, "insert into migration (module, name, applied_at) values ('journal', '999_later', 99999999999999)")
    told, code = findings()
    assert code == 1
    assert told["tables"]["state"] == "fail"


def test_files_that_others_may_read_are_named(value, findings, home):
    value("call", "system", "status")
    (home / "tokonoma.db").chmod(0o644)
    told, code = findings()
    assert code == 0
    assert told["home"]["state"] == "warn"
    assert told["home"]["do"] == f"chmod go= {home / 'tokonoma.db'}"
    home.chmod(0o755)
    assert f"{home} " in findings()[0]["home"]["do"]


def test_an_expired_key_is_named(run, findings, home):
    run("keys", "create", "old", "--expires", "1h")
    changed(home, "update api_key set expires_at = 1")
    told, _ = findings()
    assert told["keys"]["state"] == "warn"
    assert "old" in told["keys"]["says"]


def test_records_that_an_earlier_version_indexed_are_told_until_they_are_indexed_anew(run, value, findings, home):
    for text in ("one", "two"):
        value("call", "memory", "save", json.dumps({"content": text}))
    assert findings()[0]["records"]["state"] == "ok"
    changed(home, "update document set form = 1")
    told = findings()[0]["records"]
    assert told["state"] == "warn"
    assert "2 were indexed by an earlier version" in told["says"]
    assert "tokonoma reindex" in told["do"]
    assert run("reindex").exit_code == 0
    assert findings()[0]["records"]["state"] == "ok"


def test_a_wrong_setting_fails_and_is_told(run, home):
    home.mkdir()
    (home / "tokonoma.toml").write_text("port = -1")
    result = run("doctor")
    assert result.exit_code == 1
    assert "port must be a whole number" in result.stdout
    assert str(home / "tokonoma.toml") in result.stdout


def test_a_port_of_another_program_is_a_warning(findings):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken.listen()
        told, code = findings("--port", str(taken.getsockname()[1]))
        # Nobody answers: the doctor stops waiting by itself.
    assert code == 0
    assert told["port"]["state"] == "warn"
    assert "another program" in told["port"]["says"]


def test_a_server_that_does_not_answer_is_told(findings):
    told, code = findings("--database-url", "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2")
    assert code == 1
    assert told["database"]["state"] == "fail"
    assert "127.0.0.1:1" in told["database"]["says"]


def test_a_look_that_breaks_is_a_finding():
    def broken():
        yield Finding("a", "ok", "fine")
        raise KeyError("what somebody stored")

    (finding,) = run_check("a", broken)
    assert finding.state == "fail"
    assert "what somebody stored" not in finding.says


def test_mounts_of_linux():
    table = parse_mountinfo(
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "40 22 0:40 / /home rw - nfs4 server:/home rw\n"
        "41 40 8:2 / /home/my\\040disk rw master:2 shared:3 - xfs /dev/sdb rw\n"
    )
    assert find_filesystem_type(Path("/home/me/data"), table) == "nfs4"
    assert find_filesystem_type(Path("/home/my disk/data"), table) == "xfs"
    assert find_filesystem_type(Path("/homes"), table) == "ext4"
    assert "nfs4" in NETWORK_TYPES
    assert "xfs" not in NETWORK_TYPES


def test_mounts_of_macos():
    table = parse_mount_output("/dev/disk3s1 on / (apfs, local)\n//me@nas/x on /Volumes/My Share (smbfs, nodev)\n")
    assert find_filesystem_type(Path("/Volumes/My Share/home"), table) == "smbfs"
    assert find_filesystem_type(Path("/Users/me"), table) == "apfs"
