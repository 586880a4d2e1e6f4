"""The examples are run: every ```console block, in a home of its own, against what the page says it prints.

`…` in a line of output stands for anything. A JSON value is compared by its shape: keys and types, not values.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from docs.markdown import ROOT, blocks, written
from talk import Http

from tokonoma.app import App

_HEREDOC = re.compile(r"<<'(\w+)'")


@dataclass(frozen=True, slots=True)
class Example:
    command: str
    output: str


def examples(text: str) -> list[Example]:
    """`$ command` and what it prints, up to the next `$`; a heredoc belongs to its command."""
    found: list[Example] = []
    for block in blocks(text):
        lines = block.text.splitlines() if block.language == "console" else []
        while lines:
            command = [lines.pop(0).removeprefix("$ ")]
            heredoc = _HEREDOC.search(command[0])
            while command[-1].endswith("\\") or (heredoc and command[-1] != heredoc[1]):
                command.append(lines.pop(0))
            output: list[str] = []
            while lines and not lines[0].startswith("$ "):
                output.append(lines.pop(0))
            found.append(Example("\n".join(command), "\n".join(output)))
    return found


PAGES = [page for page in written() if examples(page.read_text(encoding="utf-8"))]


@pytest.fixture(autouse=True)
def guestbook(tmp_path):
    """The plugin of the guides, beside the folder in which commands are run: installing it would change everybody's."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "examples" / "tokonoma-guestbook" / "src", site)
    info = site / "tokonoma_guestbook-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tokonoma-guestbook\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tokonoma.modules]\nguestbook = tokonoma_guestbook:MODULE\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path):
    for example in examples(page.read_text(encoding="utf-8")):
        printed = run(example.command, tmp_path)
        told = value_of(example.output)
        if told is None:
            assert re.fullmatch(pattern(example.output), printed.rstrip("\n")), f"{example.command}\n{printed}"
        else:
            assert shape(value_of(printed), told) == shape(told, told), f"{example.command}\n{printed}"


@pytest.mark.parametrize("name", ["README.md", "docs/guides/keys.md"])
def test_the_keys_of_a_page_leave_its_reader_access_over_http(name, tmp_path):
    """As soon as a key was created, HTTP refuses every caller without one: a page must not revoke the only key."""
    commands = [each.command for each in examples((ROOT / name).read_text(encoding="utf-8"))]
    printed = "\n".join(run(each, tmp_path) for each in commands if each.startswith("tokonoma keys"))
    app = App({"home": str(tmp_path / "home")}, {})
    try:
        refused = Http(app).post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        accepted = [
            Http(app, key).answered({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).status_code
            for key in re.findall(r"^tkn_\S+", printed, re.MULTILINE)
        ]
    finally:
        app.close()
    assert refused.status_code == 401
    assert 200 in accepted


def run(command: str, folder: Path) -> str:
    """In a shell, as a reader would. What goes to stderr is on the screen too."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("TOKONOMA_")}
    environ |= {
        "TOKONOMA_HOME": str(folder / "home"),
        "TOKONOMA_LOG_LEVEL": "warning",
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "site"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", f"cd {shlex.quote(str(folder))}\n{command}"],
        env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return done.stdout


def value_of(text: str):
    """The JSON value that a text is; None if it is none."""
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except json.JSONDecodeError:
        return None


def pattern(output: str) -> str:
    return "\n".join(".*".join(map(re.escape, line.split("…"))) for line in output.splitlines())


def shape(value, like):
    """Keys and types. A list is like its first member, as far as the page shows one."""
    if isinstance(value, dict):
        return {
            key: shape(each, like.get(key, each) if isinstance(like, dict) else each) for key, each in value.items()
        }
    if isinstance(value, list):
        shown = like[0] if isinstance(like, list) and like else None
        return [shape(value[0], shown)] if value and shown is not None else []
    return type(value).__name__
