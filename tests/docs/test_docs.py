"""Undocumented means failing: what people can use is written about, links lead somewhere, examples parse."""

import json
import re
from urllib.parse import unquote

import pytest
from docs.markdown import ROOT, anchors, blocks, files, headings, links, written

from tokonoma import catalogue
from tokonoma.cli.program import COMMANDS
from tokonoma.config.settings import SETTINGS

FILES = files()
TOLD = "\n".join(page.read_text(encoding="utf-8") for page in written())
TOOLS = [entry for shelf in catalogue.read_catalogue(catalogue.CATALOGUE_FILE) for entry in shelf.entries]


def named(path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("setting", [each.name for each in SETTINGS])
def test_every_setting_is_written_about(setting):
    assert re.search(rf"\b({setting}|TOKONOMA_{setting.upper()}|--{setting.replace('_', '-')})\b", TOLD)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_written_about(name):
    assert re.search(rf"\btokonoma( --\S+( \S+)?)* {name}\b", TOLD)


@pytest.mark.parametrize("entry", TOOLS, ids=lambda entry: entry.path)
def test_every_tool_is_written_about(entry):
    if entry.module == "gateway":
        assert f"`{entry.name}" in TOLD
    else:
        assert f"`{entry.module}`" in TOLD
        assert re.search(rf"{entry.module}[ ._]{entry.name}\b|`{entry.name}`", TOLD)


@pytest.mark.parametrize("path", ["POST /mcp", "/health", "/ready", "/metrics"])
def test_every_path_over_http_is_written_about(path):
    assert path in TOLD


@pytest.mark.parametrize("file", FILES, ids=named)
def test_relative_links_lead_somewhere(file):
    text = file.read_text(encoding="utf-8")
    broken: list[str] = []
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (file.parent / unquote(place)).resolve() if place else file
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("file", FILES, ids=named)
def test_json_in_the_documentation_parses(file):
    for block in blocks(file.read_text(encoding="utf-8")):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "jsonl":
            assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())


def test_every_page_can_be_reached():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in links(index.read_text(encoding="utf-8"))}
    assert {page for page in (ROOT / "docs").rglob("*.md") if page != index} <= linked


def test_the_guide_to_plugins_quotes_its_example():
    source = "\n".join(
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "examples" / "tokonoma-guestbook").rglob("*.py"))
    )
    guide = blocks((ROOT / "docs" / "guides" / "plugins.md").read_text(encoding="utf-8"))
    quoted = [block.text for block in guide if block.text.startswith(("MODULE = ", "def "))]
    assert len(quoted) == 3
    assert all(text in source for text in quoted)


@pytest.mark.parametrize("file", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=named)
def test_a_decision_fits_on_a_page_and_says_why(file):
    text = file.read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", file.name)
    assert text.startswith(f"# {file.name[:4]}. ")
    assert [heading for level, heading in headings(text) if level == 2] == ["Context", "Decision", "Consequences"]
    assert text.count("\n") < 60
