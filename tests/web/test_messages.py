"""What tools, checks and settings say, on Japanese pages: by tables that follow the code, and in English otherwise."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokonoma
from tokonoma.catalogue import BUILT_IN_MODULES
from tokonoma.config.settings import SETTINGS
from tokonoma.server.web.pages.render import render_page
from tokonoma.server.web.pages.words import said_settings, said_tools, translate
from tokonoma.server.web.pages.words.messages import MESSAGES, find_message
from tokonoma.server.web.pages.words.names import NAMES

SOURCE = Path(tokonoma.__file__).parent
# Joined by code from a text and a count, such as `pluralize(n, "chain")`.
JOINED = {
    "To also find Japanese words in manuals by their reading: pip install 'tokonoma[sudachi]' (200 MB).",
    "{} MiB free: make room before writes fail",
    "{} entries in {} chain, unbroken",
    "{} answers inside this program with {} numbers per vector",
    "{} answers with {} numbers per vector",
    "{} migrations applied, {} pending until the next start",
    "{} MCP server, none is broken",
    "{} MCP servers, none is broken",
    "{} entries in {} chains, unbroken",
}
NUMBERED = re.compile(r"{\d?}")


def list_texts(tree: ast.AST) -> Iterator[str]:
    """Constants, and f-strings with `{}` for each value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
            yield re.sub(r"(?:{}:?)+(?={})", "", "".join(map(str, parts)))


def test_every_message_is_still_said_by_the_code(registry_texts):
    own = SOURCE / "server" / "web"
    said = set(registry_texts)
    for file in SOURCE.rglob("*.py"):
        if not file.is_relative_to(own):
            said |= set(list_texts(ast.parse(file.read_text(encoding="utf-8"))))
    assert set(MESSAGES) - said - JOINED == set()


@pytest.fixture(scope="module")
def registry_texts() -> set[str]:
    found: set[str] = set()
    for module in json.loads((SOURCE / "catalogue" / "catalogue.json").read_text(encoding="utf-8")):
        if module["name"] in BUILT_IN_MODULES:
            found |= {module["summary"], *(each["title"] for each in module["entries"])}
    return found


def test_all_settings_and_all_tools_have_japanese_words(registry_texts):
    assert {each.description for each in SETTINGS} == set(said_settings.MESSAGES)
    assert registry_texts == set(said_tools.MESSAGES)


@pytest.mark.parametrize("english", MESSAGES)
def test_both_languages_hold_the_same_values(english):
    japanese = MESSAGES[english]
    assert re.search(r"[ぁ-んァ-ヶ一-龠]", japanese)
    assert len(NUMBERED.findall(japanese)) == english.count("{}")
    given = [f"<{number}>" for number in range(english.count("{}"))]
    said = find_message(english.replace("{}", "%s") % tuple(given) if given else english)
    assert said is not None
    assert all(each in said for each in given)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_japanese(name):
    assert re.search(r"[ァ-ヶ一-龠]", NAMES[name])


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("Memo '{0.__class__}' not found.", "メモ '{0.__class__}' はありません。"),
        ("its words match; it is old", "語が一致、古い"),
        ("its words match; something new", "its words match; something new"),
        ("Memo x not found. And more", "Memo x not found. And more"),
        ("a" * 100_000 + " is empty.", "a" * 100_000 + " is empty."),
    ],
)
def test_a_text_that_is_not_known_stays_as_it_is(english, japanese):
    assert translate("ja", english) == japanese
    assert translate("en", english) == english


def test_an_english_text_is_marked_on_a_japanese_page():
    values = {"title": "Not allowed", "kind": "denied", "message": "A plugin said <no>."}
    common = {"session": None, "menu": [], "current": None, "notice": "", "scripts": False, "theme": ""}
    shown = render_page("problem.html", "ja", {**common, **values}).decode()
    assert '<span lang="en">A plugin said &lt;no&gt;.</span>' in shown
    assert 'lang="en"' not in render_page("problem.html", "en", {**common, **values}).decode().partition("<main")[2]
    shown = render_page("problem.html", "ja", {**common, **values, "message": "The query is empty."}).decode()
    assert '<p class="problem">クエリが空です。</p>' in shown
