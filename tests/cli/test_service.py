"""`service`: the text of units, and what is done where nothing runs them."""

import plistlib
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tokonoma.cli.install.clients import Machine
from tokonoma.cli.units import control
from tokonoma.cli.units.control import LaunchdUnit, SystemdUnit, find_unit, list_units
from tokonoma.cli.units.text import UnitDescription, build_plist, build_systemd_unit, quote_word
from tokonoma.core.errors import Invalid, Unready

PROGRAM = ["/opt/tokonoma/bin/tokonoma", "serve", "--port", "9000"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd is Linux's")


@linux
def test_a_dry_run_prints_the_unit_and_writes_nothing(run, tmp_path, home):
    result = run("service", "install", "--dry-run", "--port", "9000")
    assert result.exit_code == 0, result.output
    assert "serve --port 9000" in result.stdout
    assert f"Environment=TOKONOMA_HOME={home}" in result.stdout
    assert "NoNewPrivileges=yes" in result.stdout
    assert not (tmp_path / "user" / ".config").exists()


@linux
def test_a_machine_without_systemd_is_told_so(run, monkeypatch, tmp_path):
    monkeypatch.setattr(control, "_BOOTED", tmp_path / "none")
    result = run("service", "install")
    assert result.exit_code == 1
    assert "may be a container" in result.stderr
    assert not (tmp_path / "user" / ".config").exists()


@pytest.fixture
def systemctl(tmp_path, monkeypatch) -> Path:
    """Stands in for systemctl, which needs a running systemd: writes down what it was asked."""
    record, program = tmp_path / "systemctl.log", tmp_path / "bin" / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {record}\ncase "$*" in *show*) echo active;; esac\n')
    program.chmod(0o755)
    monkeypatch.setattr(control, "_BOOTED", tmp_path)
    return record


@linux
def test_install_status_and_remove(run, systemctl, tmp_path):
    assert run("service", "install", "--port", "9000").exit_code == 0
    file = tmp_path / "user" / ".config" / "systemd" / "user" / "tokonoma.service"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "--user --no-pager enable --now tokonoma.service" in systemctl.read_text()
    state = run("service", "status", "--json", "--port", "9")
    assert state.exit_code == 1  # the unit is active, and no server answers there
    assert '"state":"active"' in state.stdout
    assert run("service", "remove").exit_code == 0
    assert not file.exists()
    assert "disable --now tokonoma.service" in systemctl.read_text()
    assert "nothing was changed" in run("service", "remove").stderr


@linux
def test_several_servers_have_units_of_their_own(run, systemctl, tmp_path):
    assert run("service", "install").exit_code == 0
    assert run("service", "install", "--name", "work", "--home", str(tmp_path / "other")).exit_code == 0
    machine = Machine(tmp_path / "user", tmp_path, "linux", {})
    assert [unit.name for unit in list_units(machine) if not unit.file.is_relative_to("/etc")] == [
        "tokonoma-work.service",
        "tokonoma.service",
    ]
    assert run("service", "install", "--name", "../x").exit_code == 1


def test_status_finds_a_server_that_answers(run):
    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        result = run("service", "status", "--port", str(server.server_port))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert result.exit_code == 0, result.output
    assert f"answers at http://127.0.0.1:{server.server_port}" in result.stdout


@linux
@pytest.mark.parametrize("account", ["", "tokonoma"])
def test_systemd_accepts_the_unit(account, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    program = tmp_path / "a folder" / "tokonoma"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    described = UnitDescription(
        [str(program), "serve", "--public-url", "https://x/%h$HOME"], {"A": 'b "c" %d'}, [tmp_path], account
    )
    text = build_systemd_unit(described)
    file = tmp_path / "tokonoma.service"
    file.write_text(text)
    words = ["systemd-analyze", "verify", "--man=no", *([] if account else ["--user"]), str(file)]
    environ = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, capture_output=True, text=True, env=environ)
    mine = [line for line in done.stderr.splitlines() if "tokonoma.service" in line]
    assert mine == [], done.stderr


def test_a_unit_of_the_system_is_shut_in():
    text = build_systemd_unit(UnitDescription(PROGRAM, {}, [Path("/var/lib/tokonoma")], "tokonoma"))
    for line in ("User=tokonoma", "ProtectSystem=strict", "ProtectHome=yes", "ReadWritePaths=-/var/lib/tokonoma"):
        assert line in text.splitlines()
    at_home = build_systemd_unit(UnitDescription(PROGRAM, {}, [Path("/home/me/notes")], "tokonoma"))
    assert "ProtectHome=read-only" in at_home


@linux
def test_a_unit_of_the_system_holds_no_password(run):
    result = run("service", "install", "--system", "--dry-run", "--database-url", "postgresql://me:secret@db/t")
    assert result.exit_code == 1
    assert "secret" not in result.output
    assert run("service", "install", "--system", "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("plain", "plain"),
        ("a b", '"a b"'),
        ("100%", '"100%%"'),
        ("$HOME", '"$$HOME"'),
        ('say "x"', '"say \\"x\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("", '""'),
    ],
)
def test_words_are_quoted_as_systemd_reads_them(word, quoted):
    assert quote_word(word) == quoted


def test_a_property_list_for_launchd(tmp_path):
    machine = Machine(tmp_path, tmp_path, "darwin", {})
    unit = find_unit(machine, "work")
    assert isinstance(unit, LaunchdUnit)
    assert unit.file == tmp_path / "Library" / "LaunchAgents" / "org.tokonoma.work.plist"
    described = UnitDescription(PROGRAM, {"TOKONOMA_HOME": "/x & y"}, [], log=tmp_path / "t.log")
    found = plistlib.loads(build_plist(described, unit.name))
    assert found["ProgramArguments"] == PROGRAM
    assert found["EnvironmentVariables"] == {"TOKONOMA_HOME": "/x & y"}
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["Label"] == "org.tokonoma.work"
    with pytest.raises(Invalid):
        find_unit(machine, of_system=True)


def test_other_systems_have_no_units(tmp_path):
    machine = Machine(tmp_path, tmp_path, "win32", {})
    with pytest.raises(Unready, match="Task Scheduler"):
        find_unit(machine)
    assert list_units(machine) == []
    assert isinstance(find_unit(Machine(tmp_path, tmp_path, "linux", {})), SystemdUnit)
