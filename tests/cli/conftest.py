"""The command line in this process and in its own, always in a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tokonoma.cli.program import program

EXAMPLE = Path(__file__).parents[2] / "examples" / "tokonoma-guestbook"

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environ(tmp_path: Path, home: Path) -> dict[str, str | None]:
    """What a command may see of this machine: nothing of its user's."""
    user = tmp_path / "user"
    user.mkdir()
    tools = tmp_path / "bin"
    tools.mkdir()
    foreign = [name for name in os.environ if name.startswith("TOKONOMA_")]
    return {
        **dict.fromkeys([*foreign, "APPDATA", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "NO_COLOR"]),
        "HOME": str(user),
        "USERPROFILE": str(user),
        "PATH": str(tools),
        "TOKONOMA_HOME": str(home),
        "TOKONOMA_DURABLE": "false",
    }


@pytest.fixture
def run(environ: dict[str, str | None]) -> Run:
    """`run("call", "system", "status")` in this process."""

    def invoke(*words: str, stdin: str | None = None, **more: str | None) -> Result:
        return CliRunner().invoke(program, words, input=stdin, env={**environ, **more}, prog_name="tokonoma")

    return invoke


@pytest.fixture
def value(run: Run) -> Callable[..., Any]:
    """What a command prints, as JSON; it must have ended well."""

    def told(*words: str, **more: Any) -> Any:
        result = run(*words, **more)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return told


@pytest.fixture
def spawned(environ: dict[str, str | None]) -> Callable[..., dict[str, Any]]:
    """How a process of its own is started: `subprocess.run(**spawned("modules"))`."""

    def started(*words: str, **more: str) -> dict[str, Any]:
        kept = {name: text for name, text in {**os.environ, **environ, **more}.items() if text is not None}
        return {
            "args": [sys.executable, "-W", "error", "-m", "tokonoma", *words],
            "env": kept,
            "text": True,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }

    return started


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the example plugin."""
    folder = tmp_path_factory.mktemp("site")
    how = ["--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *how, "--target", str(folder), str(EXAMPLE)]
    subprocess.run(command, check=True, capture_output=True)
    return folder
