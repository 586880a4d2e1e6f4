"""How the program was installed, as each installer leaves its environment; versions; the package index."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tokonoma import __version__
from tokonoma.cli.installation import InstalledPackage, find_installation, is_newer, list_extras, look_up_newest
from tokonoma.core.errors import Unavailable

PIP = InstalledPackage("pip", others=frozenset({"pip", "tokonoma"}))
REQUIRES = (
    "click>=8.1",
    "psycopg[binary]>=3.2; extra == 'postgres'",
    'pgvector>=0.3; extra == "postgres"',
    "keyring>=25; extra == 'oskeyring'",
    "ruff==0.17.4; extra == 'dev'",
)


def test_the_ways_to_install(tmp_path):
    def find(package: InstalledPackage = PIP, prefix: Path = tmp_path, is_venv: bool = True):
        return find_installation(package, prefix, is_venv=is_venv)

    assert find(InstalledPackage("docker")).kind == "Docker image"
    plain = find()
    assert plain.kind == "pip"
    assert list(plain.upgrade)[1:] == ["-m", "pip", "install", "--upgrade", "tokonoma"]
    assert "--user" in find(is_venv=False).upgrade
    assert list(find(InstalledPackage("uv")).upgrade)[:3] == ["uv", "pip", "install"]
    editable = {"url": f"file://{tmp_path}", "dir_info": {"editable": True}}
    checkout = find(InstalledPackage("pip", editable))
    assert (checkout.kind, checkout.upgrade) == ("checkout", ())
    assert str(tmp_path) in checkout.advice
    wheel = find(InstalledPackage("pip", {"url": "file:///x.whl", "archive_info": {}}, others=frozenset({"pip"})))
    assert wheel.upgrade == ()
    assert "file:///x.whl" in wheel.advice
    cached = find(prefix=tmp_path / "archive-v0" / "abc")
    assert (cached.kind, list(cached.runner)) == ("uvx", ["uvx", "tokonoma"])
    once = find(prefix=tmp_path / "pipx" / ".cache" / "abc")
    assert (once.kind, list(once.runner)) == ("pipx run", ["pipx", "run", "tokonoma"])


def test_tools_leave_a_file_in_their_environment(tmp_path):
    tool = tmp_path / "tools" / "tokonoma"
    tool.mkdir(parents=True)
    (tool / "uv-receipt.toml").write_text("[tool]\n")
    assert list(find_installation(PIP, tool, is_venv=True).upgrade) == ["uv", "tool", "upgrade", "tokonoma"]
    pipx = tmp_path / "venvs" / "tokonoma"
    pipx.mkdir(parents=True)
    (pipx / "pipx_metadata.json").write_text("{}")
    assert list(find_installation(PIP, pipx, is_venv=True).remove) == ["pipx", "uninstall", "tokonoma"]
    bundle = tmp_path / "extension"
    (bundle / ".venv").mkdir(parents=True)
    (bundle / "manifest.json").write_text(json.dumps({"manifest_version": "0.4"}))
    assert find_installation(PIP, bundle / ".venv", is_venv=True).kind == "MCPB bundle"


def test_an_upgrade_names_the_extras_that_are_installed():
    package = InstalledPackage("pip", None, REQUIRES, frozenset({"pip", "psycopg", "pgvector", "ruff"}))
    assert list_extras(package) == ["postgres"]
    assert find_installation(package, Path("/v"), is_venv=True).upgrade[-1] == "tokonoma[postgres]"
    assert list_extras(InstalledPackage("pip", None, REQUIRES, frozenset({"psycopg"}))) == []


@pytest.mark.parametrize(
    ("newer", "older"),
    [("0.2.0", "0.1.0"), ("0.10.0", "0.9.9"), ("1.0", "1.0rc1"), ("1.0.1", "1.0"), ("1.0.post1", "1.0"), ("2", "1.9")],
)
def test_versions_are_compared_by_their_numbers(newer, older):
    assert is_newer(newer, older)
    assert not is_newer(older, newer)
    assert not is_newer(newer, newer)


def write_wheel(folder: Path, version: str) -> None:
    info = f"tokonoma-{version}.dist-info"
    with zipfile.ZipFile(folder / f"tokonoma-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tokonoma\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder as the only package index of pip."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_the_newest_version_of_an_index(index):
    with pytest.raises(Unavailable, match="has no version"):
        look_up_newest(PIP)
    for version in ("0.1.0", "0.10.0", "0.9.0"):
        write_wheel(index, version)
    assert look_up_newest(PIP) == "0.10.0"


def test_offline_is_no_error(run, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nothing listens there
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    result = run("version", "--check")
    assert result.exit_code == 0, result.output
    assert f"tokonoma {__version__}" in result.stdout
    assert "may be offline" in result.stderr


def test_version_says_which_tables_there_are(run, value, index):
    told = value("version", "--json")
    assert (told["version"], told["database_schema"]) == (__version__, None)
    assert "newest" not in told  # nothing is asked unless --check says so
    value("call", "system", "status")
    assert 0 < value("version", "--json")["database_schema"] <= told["schema"]
    write_wheel(index, "99.0.0")
    assert "99.0.0; `tokonoma upgrade` installs it" in run("version", "--check").stdout


def test_version_works_while_the_database_is_away(run):
    result = run("version", TOKONOMA_DATABASE_URL="postgresql://127.0.0.1:9/none")
    assert result.exit_code == 0, result.output
    assert "cannot be read" in result.stdout


def test_upgrade_says_what_it_would_do_and_does_nothing(run, home):
    result = run("upgrade", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "1. back up" in result.stdout
    assert not home.exists()


def test_an_upgrade_of_the_data_saves_migrates_and_checks(run, value, home):
    value("call", "memory", "save", '{"namespace": "work", "content": "the kettle"}')
    result = run("upgrade", "--data-only")
    assert result.exit_code == 0, result.output
    assert len(list((home / "backups").glob("*.backup"))) == 1
    told = value("version", "--json")
    assert told["database_schema"] == told["schema"]  # of all modules, not only of those that were used
    assert "none failed" in result.stdout


def test_an_upgrade_with_nothing_stored(run, home):
    result = run("upgrade", "--data-only")
    assert result.exit_code == 0, result.output
    assert "nothing to back up" in result.stderr


def test_a_damaged_store_fails_the_upgrade(run, value, home):
    value("call", "memory", "save", '{"namespace": "work", "content": "the kettle"}')
    content = bytearray((home / "tokonoma.db").read_bytes())
    content[-4096 * 3 : -4096 * 2] = b"x" * 4096
    (home / "tokonoma.db").write_bytes(content)
    result = run("upgrade", "--data-only")
    assert result.exit_code == 1
    assert "damaged" in result.output


def test_the_installed_metadata_are_read():
    """Of the checkout in which the tests run, in a process of its own."""
    code = "from tokonoma.cli.installation import *; print(read_package().installer, bool(read_package().others))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "True"
