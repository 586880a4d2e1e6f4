"""The program as a whole: help, flags, exit codes, refusals."""

import importlib

import click
import pytest

from tokonoma import __version__
from tokonoma.cli import program as programs
from tokonoma.cli.program import COMMANDS


def load(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    return getattr(importlib.import_module(module), attribute)


def commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        command = load(name)
        found.append((name,))
        if isinstance(command, click.Group):
            found += [(name, each) for each in command.commands]
    return found


def test_help_names_every_command_in_a_line(run):
    told = run("--help").stdout
    for name, (_, says) in COMMANDS.items():
        assert f"  {name} " in told
        assert says in told


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_lies_where_the_table_says(name):
    assert load(name).name == name


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_explains_itself(run, words):
    result = run(*words, "--help")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"Usage: tokonoma {' '.join(words)}")
    assert "--home" in result.stdout


def test_no_command_at_a_terminal_is_help(run):
    assert run().stdout == run("--help").stdout


def test_version(run):
    assert run("--version").stdout == f"tokonoma {__version__}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["modles"], "Did you mean 'modules'?"),
        (["--hom", "/x", "modules"], "No such option"),
        (["modules", "--jsn"], "No such option"),
        (["call"], "Missing argument"),
        (["--port", "many", "config", "show"], "port must be a whole number"),
        (["config", "show", "--port", "many"], "port must be a whole number"),
    ],
)
def test_a_mistake_in_the_command_ends_with_2(run, words, says):
    result = run(*words)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_a_flag_may_stand_before_or_after_the_command(value, tmp_path):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    assert value("--home", first, "where", "--json")["home"] == first
    assert value("where", "--json", "--home", first)["home"] == first
    assert value("--home", first, "where", "--json", "--home", second)["home"] == second
    assert value("config", "--home", first, "show", "--json", "--port", "9000")["port"] == 9000
    assert value("--no-require-key", "config", "show", "--json", "--require-key")["require_key"] is True


def test_a_refusal_is_a_sentence_without_a_traceback(run):
    result = run("schema", "sytem")
    assert result.exit_code == 1
    assert result.stderr == "tokonoma: There is no module called 'sytem'. Did you mean 'system'?\n"
    assert result.stdout == ""


def test_a_wrong_setting_names_its_place(run, home):
    home.mkdir()
    (home / "tokonoma.toml").write_text("prot = 1\n")
    result = run("modules")
    assert result.exit_code == 1
    assert "there is no setting called 'prot'. Did you mean 'port'?" in result.stderr


def test_a_file_that_cannot_be_read_is_told_plainly(run, tmp_path):
    result = run("batch", str(tmp_path / "missing.jsonl"))
    assert result.exit_code == 1
    assert result.stderr.startswith("tokonoma: ")
    assert "missing.jsonl" in result.stderr


def test_our_own_mistake_keeps_its_text_to_itself(run, monkeypatch):
    @click.command("modules")
    def broken() -> None:
        raise KeyError("what somebody stored")

    monkeypatch.setattr(programs.Program, "get_command", lambda *_: broken)
    result = run("modules")
    assert result.exit_code == 1
    assert "KeyError in broken" in result.stderr
    assert "what somebody stored" not in result.stderr
    assert "what somebody stored" in run("--log-level", "debug", "modules").stderr


@pytest.mark.parametrize(
    ("words", "more", "code"),
    [
        (["--direct", "memroy", "call", "system", "status"], {}, 2),
        (["call", "system", "status"], {"TOKONOMA_DIRECT": "memroy"}, 1),
        (["call", "system", "status"], {"TOKONOMA_MODULES_OFF": "memroy"}, 1),
        (["install", "cursor", "--dry-run", "--direct", "memroy"], {}, 2),
        (["serve", "--direct", "memroy"], {}, 2),
        (["stdio", "--direct", "memroy"], {}, 1),
    ],
)
def test_a_module_that_does_not_exist_is_an_error_with_the_nearest_name(run, words, more, code):
    result = run(*words, **more)
    assert result.exit_code == code, result.output
    assert "there is no module called 'memroy'. Did you mean 'memory'?" in result.stderr


def test_commands_that_help_to_correct_a_name_run_with_a_wrong_one(run, value, home):
    home.mkdir()
    (home / "tokonoma.toml").write_text('direct = ["guestbok"]')
    assert run("plugins", "list").exit_code == 0
    assert run("config", "show").exit_code == 0
    assert run("where").exit_code == 0
    assert "there is no module called 'guestbok'" in run("doctor", "--port", "0").stdout
    assert run("modules").exit_code == 1


def test_an_unknown_variable_is_an_error_with_the_nearest_name(run):
    result = run("where", TOKONOMA_WORKSPAC="/x")
    assert result.exit_code == 1
    assert "there is no setting called 'TOKONOMA_WORKSPAC'. Did you mean 'TOKONOMA_WORKSPACE'?" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["batch", "MISSING"], "There is no file or folder"),
        (["batch", "FOLDER"], "is a folder, but a file is needed"),
        (["call", "system", "status", "@MISSING"], "There is no file or folder"),
        (["policy", "check", "FOLDER"], "is a folder, but a file is needed"),
        (["import", "MISSING"], "There is no file or folder"),
        (["items", "import", "MISSING"], "There is no file or folder"),
        (["vault", "coverage", "a.md", "--picture", "MISSING/x.svg"], "There is no file or folder"),
        (["backup", "verify", "MISSING"], "MISSING"),
        (["restore", "FOLDER", "--yes"], "FOLDER"),
        (["export", "FILE/x"], "FILE"),
        (["export", "FILE/x", "--format", "markdown"], "FILE"),
        (["backup", "FILE/x"], "FILE"),
        (["--home", "FILE", "call", "system", "status"], "FILE"),
        (["--home", "FILE/x", "call", "system", "status"], "FILE"),
        (["--home", "FILE", "stdio", "--as", "x"], "FILE"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_in_words(run, home, tmp_path, words, says):
    (home / "workspace" / "vault").mkdir(parents=True)
    (home / "workspace" / "vault" / "a.md").write_text("# a\n")
    run("call", "memory", "save", '{"content": "x"}')
    places = {"MISSING": tmp_path / "none", "FOLDER": tmp_path / "folder", "FILE": tmp_path / "file"}
    places["FOLDER"].mkdir()
    places["FILE"].write_text("x")
    for word, place in places.items():
        words = [each.replace(word, str(place)) for each in words]
        says = says.replace(word, str(place))
    result = run(*words)
    assert result.exit_code == 1, result.output
    assert says in result.stderr
    assert "Errno" not in result.output
    assert "Traceback" not in result.output
    assert "internal error" not in result.output


def test_settings_that_cannot_be_read_are_named_and_the_doctor_says_so(run, home):
    (home / "tokonoma.toml").mkdir(parents=True)
    result = run("where")
    assert (result.exit_code, "is a folder, but a file is needed" in result.stderr) == (1, True)
    told = run("doctor", "--port", "0")
    assert (told.exit_code, "is a folder, but a file is needed" in told.stdout) == (1, True)
    assert "Errno" not in told.output
