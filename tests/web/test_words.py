"""The table of words, the templates and the code hold the same texts, in both languages."""

import ast
import re
import string
from pathlib import Path
from types import ModuleType

import pytest

from tokonoma.auth.oauth import authorize
from tokonoma.server.web.pages import words
from tokonoma.server.web.pages.handler import PROBLEMS
from tokonoma.server.web.pages.menu import MENU
from tokonoma.server.web.pages.words import JAPANESE, MODULES, NOTICES, items, memory, translate

FOLDER = Path(words.__file__).parents[1]
TEMPLATES = sorted((FOLDER / "templates").rglob("*.html"))
SAID = re.compile(r'_\("([^"]+)"')
# Macros of `parts.html` say these of their arguments.
MACROS = re.compile(r"""parts\.(?:problem|empty|text_field|area|select)\(((?:[^()]|\([^()]*\))*)\)""")
ARGUMENT = re.compile(r'"([A-Z{][^"]*)"')
CALLS = {"Missing", "refuse", "Invalid", "Conflict", "ShownError", "Denied", "say_later"}
NAMED = {"text", "problem", "title", "label"}


def list_texts(*files: Path) -> set[str]:
    """Texts that code hands to a page: constants in certain calls, and under certain names."""
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            parts: list[ast.expr] = []
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CALLS:
                parts = node.args
            elif isinstance(node, ast.Assign | ast.keyword):
                name = node.arg if isinstance(node, ast.keyword) else getattr(node.targets[0], "id", "")
                parts = [node.value] if name in NAMED else []
            found |= {each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return found - {""}


def test_table_templates_and_code_hold_the_same_words():
    used = list_texts(*FOLDER.rglob("*.py"), Path(authorize.__file__)) | set(MODULES.values()) | set(NOTICES.values())
    used |= {each for table in list_tables() for each in getattr(table, "CHOSEN_BY_DATA", ())}
    used |= {each.title for group in MENU for each in (group, *group.pages)} | {title for title, _ in PROBLEMS.values()}
    for file in TEMPLATES:
        text = file.read_text(encoding="utf-8")
        used |= set(SAID.findall(text))
        used |= {said for given in MACROS.findall(text) for said in ARGUMENT.findall(given)}
    assert used - set(JAPANESE) == set()
    assert set(JAPANESE) - used == set()


def list_tables() -> list[ModuleType]:
    return [each for each in vars(words).values() if isinstance(each, ModuleType) and hasattr(each, "WORDS")]


def test_a_word_of_several_tables_has_several_meanings():
    """A word that means the same on all pages stands in `frame`."""
    found: dict[str, list[str]] = {}
    for table in list_tables():
        for english, japanese in table.WORDS.items():
            found.setdefault(english, []).append(japanese)
    assert [english for english, meanings in found.items() if len(meanings) > 1 and len(set(meanings)) == 1] == []


def test_a_page_uses_the_words_of_its_own_group():
    assert translate("ja", "Remove", "items") == items.WORDS["Remove"]
    assert translate("ja", "Remove", "memory") == memory.WORDS["Remove"]
    assert items.WORDS["Remove"] != memory.WORDS["Remove"]


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_holds_no_words_of_its_own(file):
    text = re.sub(
        r"{%.*?%}|{{.*?}}|{#.*?#}|<!--.*?-->|<code.*?</code>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    bare = re.sub("日本語|English|tokonoma|Tokonoma|床の間|\\bms\\b", "", re.sub(r"<[^>]*>", " ", text))
    assert re.findall(r"[^\W\d_]+", bare) == []


@pytest.mark.parametrize("english", JAPANESE)
def test_both_languages_say_the_same(english):
    japanese = JAPANESE[english]
    assert re.search(r"[ぁ-んァ-ヶ一-龠]", japanese)
    fields = [sorted(name for _, name, _, _ in string.Formatter().parse(each) if name) for each in (english, japanese)]
    assert fields[0] == fields[1]


def test_a_name_in_braces_is_no_field():
    assert translate("en", "{client} was refused", client="{client.__class__}") == "{client.__class__} was refused"
    assert translate("ja", "plugin {x}") == "plugin {x}"
