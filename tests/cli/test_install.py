"""`install`: each client's own file, nothing lost in it, twice the same as once."""

import json
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.cli.install.clients import (
    CLIENTS,
    Machine,
    ServerAddress,
    add_server,
    build_claude_command,
    build_entry,
    build_inputs,
    find_config_file,
    format_config,
    parse_config,
)
from tokonoma.core.errors import Invalid

SECTIONS = {"claude-code": "mcpServers", "claude-desktop": "mcpServers", "cursor": "mcpServers", "vscode": "servers"}
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the paths of this test are Linux's")


@pytest.fixture
def user(tmp_path) -> Path:
    return tmp_path / "user"


@pytest.fixture
def claude(tmp_path) -> Path:
    """Stands in for Claude Code's own program: writes down its arguments, and fails if told to."""
    record = tmp_path / "claude.log"
    program = tmp_path / "bin" / "claude"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        f"record = pathlib.Path({str(record)!r})\n"
        "record.open('a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"if pathlib.Path({str(record)!r} + '.fails').exists():\n"
        "    sys.exit('MCP server tokonoma already exists in user config')\n"
    )
    program.chmod(0o755)
    return record


@linux
@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_prints_the_configuration_and_writes_nothing(run, user, home, client):
    result = run("install", client, "--dry-run")
    assert result.exit_code == 0, result.output
    server = json.loads(result.stdout)[SECTIONS[client]]["tokonoma"]
    assert Path(server["command"]).is_absolute()
    assert Path(server["command"]).exists()
    assert server["args"][-1] == "stdio"
    assert server["env"] == {"TOKONOMA_HOME": str(home)}
    assert str(user / FILES[client]) in result.stderr
    assert list(user.iterdir()) == []
    assert not home.exists()


@linux
@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_written_once_and_then_left_alone(run, user, client):
    file = user / FILES[client]
    told = json.loads(run("install", client, "--dry-run").stdout)
    first = run("install", client)
    assert first.exit_code == 0, first.output
    assert json.loads(file.read_text()) == told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.stat().st_mtime_ns
    again = run("install", client)
    assert "already" in again.stderr
    assert file.stat().st_mtime_ns == before
    assert [each.name for each in file.parent.iterdir() if each.is_file()] == [file.name]


@linux
@pytest.mark.parametrize("client", CLIENTS)
def test_everything_else_stays_and_the_old_file_is_kept(run, user, client):
    file = user / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    old: dict[str, Any] = {
        "zeta": [1, 2.5, None, {"ä": "床の間"}],
        SECTIONS[client]: {"other": {"command": "x", "env": {"TOKEN": "geheim"}}, "tokonoma": {"command": "old"}},
        "alpha": True,
    }
    file.write_text(json.dumps(old, indent="\t"))
    file.chmod(0o640)
    assert run("install", client).exit_code == 0
    text = file.read_text()
    now = json.loads(text)
    assert list(now) == list(old)
    assert {**now, SECTIONS[client]: None} == {**old, SECTIONS[client]: None}
    assert now[SECTIONS[client]]["other"] == old[SECTIONS[client]]["other"]
    assert now[SECTIONS[client]]["tokonoma"]["command"] != "old"
    assert "\n\t" in text
    kept = file.with_name(file.name + ".bak")
    assert json.loads(kept.read_text()) == old
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(kept.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n  "mcpServers": {"a" 1}\n}', "line 2, column 22"),
        ("[]", "no JSON object"),
        ('{"mcpServers": []}', "'mcpServers' is not an object"),
        ('{"mcpServers": {}, "mcpServers": {"a": 1}}', "names 'mcpServers' twice"),
        ('{\n  // mine\n  "mcpServers": {}\n}', "comments or trailing commas"),
        ('{"mcpServers": {"a": {"url": "http://x//y"},},}', "comments or trailing commas"),
        ('{"mcpServers": {} /* the last */, // or not\n}', "comments or trailing commas"),
    ],
)
def test_a_file_that_would_lose_something_is_refused_and_stays(run, user, text, says):
    file = user / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(text)
    result = run("install", "cursor")
    assert result.exit_code == 1
    assert says in result.stderr
    assert "add this by hand" in result.stderr
    assert '"tokonoma": {' in result.stderr
    assert file.read_text() == text
    assert [each.name for each in file.parent.iterdir()] == ["mcp.json"]


@linux
def test_vs_code_can_be_asked_to_do_it_where_comments_are(run, user):
    file = user / FILES["vscode"]
    file.parent.mkdir(parents=True)
    file.write_text('{"servers": {}} // mine')
    told = run("install", "vscode").stderr.splitlines()
    words = shlex.split(told[told.index("Or run:") + 1])
    assert words[:2] == ["code", "--add-mcp"]
    assert json.loads(words[2])["name"] == "tokonoma"


def test_a_link_into_somebodys_dotfiles_stays_a_link(run, user, tmp_path):
    (user / ".cursor").mkdir()
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (user / ".cursor" / "mcp.json").symlink_to(real)
    assert run("install", "cursor").exit_code == 0
    assert (user / ".cursor" / "mcp.json").is_symlink()
    assert "tokonoma" in json.loads(real.read_text())["mcpServers"]


def test_flags_are_kept_and_secrets_are_no_arguments(run):
    told = run("install", "cursor", "--dry-run", "--direct", "all", "--database-url", "postgresql://me:pw@h/d").stdout
    server = json.loads(told)["mcpServers"]["tokonoma"]
    assert server["args"] == ["stdio", "--direct", "all"]
    assert server["env"]["TOKONOMA_DATABASE_URL"] == "postgresql://me:pw@h/d"
    told = run("install", "cursor", "--dry-run", "--require-key").stdout
    assert json.loads(told)["mcpServers"]["tokonoma"]["args"] == ["stdio", "--require-key"]


@linux
def test_the_default_home_is_not_written_down(run, user):
    told = run("install", "cursor", "--dry-run", TOKONOMA_HOME=None, XDG_DATA_HOME=None).stdout
    assert "env" not in json.loads(told)["mcpServers"]["tokonoma"]


def test_what_only_this_shell_knows_is_said(run):
    result = run("install", "cursor", "--dry-run", TOKONOMA_DIRECT="all")
    assert "TOKONOMA_DIRECT is set in this shell only" in result.stderr


@pytest.mark.parametrize("client", ["claude-code", "cursor", "vscode"])
def test_over_http_the_key_is_named_and_never_written(run, client):
    told = json.loads(run("install", client, "--http", "--dry-run", "--port", "9000").stdout)
    server = told[SECTIONS[client]]["tokonoma"]
    assert server["url"] == "http://127.0.0.1:9000/mcp"
    assert "headers" not in server
    told = json.loads(run("install", client, "--http", "--key", "--dry-run").stdout)
    header = told[SECTIONS[client]]["tokonoma"]["headers"]["Authorization"]
    assert header.startswith("Bearer ${")
    if client == "vscode":
        assert told["inputs"][0]["password"] is True


def test_claude_desktop_starts_programs_only(run):
    result = run("install", "claude-desktop", "--http", "--dry-run")
    assert result.exit_code == 1
    assert "Omit --http" in result.stderr


@pytest.mark.parametrize(("client", "name"), [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json")])
def test_for_one_project(run, tmp_path, monkeypatch, client, name):
    monkeypatch.chdir(tmp_path)
    assert run("install", client, "--scope", "project").exit_code == 0
    assert "tokonoma" in json.loads((tmp_path / name).read_text())["mcpServers"]
    assert run("install", "claude-desktop", "--scope", "project").exit_code == 1


def test_claude_code_is_asked_to_do_it_itself(run, claude, user, home, environ):
    dry = run("install", "claude-code", "--dry-run")
    words = shlex.split(dry.stdout)
    assert words[:5] == ["claude", "mcp", "add", "--scope", "user"]
    assert words[-2:] == [words[-2], "stdio"]
    assert not claude.exists()
    assert run("install", "claude-code").exit_code == 0
    assert [json.loads(line) for line in claude.read_text().splitlines()] == [words[1:]]
    assert list(user.iterdir()) == []


def test_claude_code_is_asked_once_and_an_old_entry_is_replaced(run, claude, user, home):
    words = shlex.split(run("install", "claude-code", "--dry-run").stdout)
    program = words[words.index("--") + 1 :]
    entry = {"type": "stdio", "command": program[0], "args": program[1:], "env": {"TOKONOMA_HOME": str(home)}}
    (user / ".claude.json").write_text(json.dumps({"mcpServers": {"tokonoma": entry}}))
    assert "already" in run("install", "claude-code").stderr
    assert not claude.exists()
    (user / ".claude.json").write_text(json.dumps({"mcpServers": {"tokonoma": {**entry, "args": []}}}))
    assert run("install", "claude-code").exit_code == 0
    calls = [json.loads(line) for line in claude.read_text().splitlines()]
    assert calls == [["mcp", "remove", "--scope", "user", "tokonoma"], words[1:]]


def test_what_claude_code_refuses_is_told(run, claude):
    claude.with_name(claude.name + ".fails").touch()
    result = run("install", "claude-code")
    assert result.exit_code == 1
    assert "already exists in user config" in result.stderr


def test_where_each_system_keeps_its_files():
    def files(platform: str, **environ: str) -> dict[str, str]:
        place = Machine(Path("/u"), Path("/p"), platform, environ)
        return {name: find_config_file(client, place, "user").as_posix() for name, client in CLIENTS.items()}

    mac = files("darwin")
    assert mac["claude-desktop"] == "/u/Library/Application Support/Claude/claude_desktop_config.json"
    assert mac["vscode"] == "/u/Library/Application Support/Code/User/mcp.json"
    windows = files("win32", APPDATA="/u/AppData/Roaming")
    assert windows["claude-desktop"] == "/u/AppData/Roaming/Claude/claude_desktop_config.json"
    assert windows["vscode"] == "/u/AppData/Roaming/Code/User/mcp.json"
    assert files("linux", XDG_CONFIG_HOME="/c")["vscode"] == "/c/Code/User/mcp.json"
    assert files("linux", CLAUDE_CONFIG_DIR="/c")["claude-code"] == "/c/.claude.json"
    for told in (mac, windows):
        assert told["cursor"] == "/u/.cursor/mcp.json"
        assert told["claude-code"] == "/u/.claude.json"


def test_an_option_ends_the_list_of_variables():
    """`claude mcp add --env A=1 tokonoma` would read the name as a second variable."""
    words = build_claude_command(ServerAddress(["/x/tokonoma", "stdio"], {"A": "1", "B": "2"}), "user")
    assert words[5:] == [
        *("--env", "A=1", "--env", "B=2", "--transport", "stdio", "tokonoma", "--", "/x/tokonoma", "stdio"),
    ]
    words = build_claude_command(ServerAddress([], {}, url="http://127.0.0.1:1/mcp", key=True), "user")
    assert words[-4:] == ["--transport", "http", "tokonoma", "http://127.0.0.1:1/mcp"]
    assert "Authorization: Bearer ${TOKONOMA_KEY}" in words


def test_an_input_of_the_same_name_is_replaced():
    client, server = CLIENTS["vscode"], ServerAddress([], {}, url="http://127.0.0.1:1/mcp", key=True)
    old = {"inputs": [{"id": "mine"}, "odd", {"id": "tokonoma-key", "description": "old"}]}
    told = add_server(old, "servers", "tokonoma", build_entry(client, server), build_inputs(client, server), Path("f"))
    assert [each if isinstance(each, str) else each["id"] for each in told["inputs"]] == ["mine", "odd", "tokonoma-key"]
    assert told["inputs"][-1]["password"] is True
    with pytest.raises(Invalid):
        add_server({"inputs": {}}, "servers", "tokonoma", {}, build_inputs(client, server), Path("f"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=4), st.dictionaries(st.text(), values, max_size=3))
def test_whatever_a_file_holds_is_still_there(rest, servers):
    whole = {**rest, "mcpServers": servers}
    told = add_server(
        parse_config(json.dumps(whole), Path("f")), "mcpServers", "tokonoma", {"command": "x"}, [], Path("f")
    )
    back = parse_config(format_config(told, ""), Path("f"))
    assert back == {**whole, "mcpServers": {**servers, "tokonoma": {"command": "x"}}}
    assert list(back) == list(whole)


def test_half_a_pair_stays_what_it_was():
    told = parse_config('{"a": "\\ud83d"}', Path("f"))
    assert json.loads(format_config(told, "").encode()) == {"a": "\ud83d"}
