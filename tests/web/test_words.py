"""The table of words, the templates and the code hold the same texts, in both languages."""

import ast
import re
import string
from pathlib import Path

import pytest

from tokonoma.auth.oauth import authorize
from tokonoma.server.web.pages import words
from tokonoma.server.web.pages.words import JAPANESE, MODULES, translate

FOLDER = Path(words.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
SAID = re.compile(r'_\("([^"]+)"')
CALLS = {"refuse", "Invalid", "ShownError"}


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
                parts = [node.value] if name in ("text", "problem") else []
            found |= {each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return found - {""}


def test_table_templates_and_code_hold_the_same_words():
    used = {text for file in TEMPLATES for text in SAID.findall(file.read_text(encoding="utf-8"))}
    used |= list_texts(*FOLDER.glob("*.py"), Path(authorize.__file__)) | set(MODULES.values())
    assert used == set(JAPANESE)


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_holds_no_words_of_its_own(file):
    text = re.sub(r"{%.*?%}|{{.*?}}|<!--.*?-->", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    bare = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    assert re.sub("床の間|tokonoma open|tokonoma|Tokonoma|·", "", bare).strip() == ""


@pytest.mark.parametrize("english", JAPANESE)
def test_both_languages_say_the_same(english):
    japanese = JAPANESE[english]
    assert re.search(r"[ぁ-んァ-ヶ一-龠]", japanese)
    fields = [sorted(name for _, name, _, _ in string.Formatter().parse(each) if name) for each in (english, japanese)]
    assert fields[0] == fields[1]


def test_a_name_in_braces_is_no_field():
    assert translate("en", "{client} was refused", client="{client.__class__}") == "{client.__class__} was refused"
    assert translate("ja", "plugin {x}") == "plugin {x}"
