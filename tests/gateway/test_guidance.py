"""Instructions and prompts: they name what the caller sees, on every surface, in both languages."""

import itertools
import re

import pytest

from tokonoma import catalogue
from tokonoma.catalogue.registry import Registry
from tokonoma.config.settings import choose_language, resolve_settings
from tokonoma.core.call import Principal
from tokonoma.core.module import ModuleInfo
from tokonoma.core.reach import Reach
from tokonoma.gateway import META_TOOLS, list_meta_tools
from tokonoma.gateway.guidance import build_instructions, build_prompts, describe_surface
from tokonoma.gateway.texts import en, ja

INFOS = catalogue.read_catalogue(catalogue.CATALOGUE_FILE)
WORDS = {
    "memory": "memory", "claims": "claims|主張", "items": "items", "manual": "manual|マニュアル", "vault": "vault",
    "system": "system",
}  # fmt: skip
REACHES = {
    "all": Reach(),
    "memory": Reach(modules=frozenset({"memory"})),
    "items": Reach(modules=frozenset({"items", "system"})),
    "claims": Reach(modules=frozenset({"claims"})),
    "vault": Reach(modules=frozenset({"vault", "manual"})),
    "readers": Reach(mask=frozenset({"*:write"})),
    "nothing": Reach(modules=frozenset()),
}


def list_visible(reach: Reach) -> list[ModuleInfo]:
    registry = Registry(INFOS, lambda source: pytest.fail(source), lambda module: None)
    return registry.visible_modules(Principal("p", "key", reach))


def read_everything(language, surface) -> str:
    prompts = build_prompts(language, surface)
    return "\n".join([build_instructions(language, surface), *(each.text for each in prompts)])


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", REACHES)
def test_nothing_is_named_that_the_caller_does_not_see(language, name):
    modules = list_visible(REACHES[name])
    for meta, direct in itertools.product((list_meta_tools(modules), META_TOOLS[:3]), ((), ("memory",), ("all",))):
        surface = describe_surface(meta, modules, direct)
        told = read_everything(language, surface)
        seen = {module.name for module in modules}
        for module, words in WORDS.items():
            assert module in seen or not re.search(rf"(?i)\b({words})\b", told), module
        for path in re.findall(r'call\("(\w+)", "([\w.]+)"', told):
            assert ".".join(path) in surface.tools
        assert ("remember(" in told) is ("remember" in meta)
        assert "{search}" not in told and "{remember}" not in told and "{?" not in re.sub(r"\{\?\w+\}", "", told)


def test_they_follow_how_tools_are_listed():
    modules = list_visible(Reach())
    three = build_instructions("en", describe_surface(META_TOOLS[:3], modules, ()))
    assert 'call("memory", "search", {"query": …})' in three
    assert 'call("memory", "save", {"content": …})' in three
    assert "remember(" not in three
    direct = build_instructions("en", describe_surface(META_TOOLS[:3], modules, ("memory",)))
    assert "memory_search(query)" in direct
    assert "memory_save(content)" in direct
    assert "The tools of memory are listed" in direct
    every = build_instructions("en", describe_surface(META_TOOLS, modules, ("all",)))
    assert "get_module_schema" not in every
    searched = build_instructions("en", describe_surface((*META_TOOLS, "search"), modules, ()))
    assert "search(query)" in searched
    assert 'call("memory"' not in searched


@pytest.mark.parametrize("language", ["en", "ja"])
def test_they_are_short_and_say_when(language):
    modules = list_visible(Reach())
    told = build_instructions(language, describe_surface(META_TOOLS, modules, ("memory",)))
    assert len(told) <= 1600
    said = {
        "en": (
            "start of a task",
            "do not know",
            "decisions, preferences, corrections, results",
            "Ask before",
            "secrets",
        ),
        "ja": ("作業を始めるとき", "知らない名前", "決定、好み、訂正、結果", "確認してください", "秘密情報"),
    }
    assert all(words in told for words in said[language])


def test_a_caller_that_may_only_read_is_not_told_to_store():
    modules = list_visible(REACHES["readers"])
    surface = describe_surface(list_meta_tools(modules), modules, ())
    assert [prompt.name for prompt in build_prompts("en", surface)] == ["recall", "review_week", "prepare_meeting"]
    assert "Remember what" not in build_instructions("en", surface)
    assert [prompt.name for prompt in build_prompts("en", describe_surface(META_TOOLS[:3], [], ()))] == []


def test_both_languages_have_the_same_texts():
    names = [{name for name in vars(each) if name.isupper() and not name.startswith("_")} for each in (en, ja)]
    assert names[0] == names[1]
    signs = re.compile(r"\{[?\w.]+\}")
    for one, other in zip(en.PROMPTS, ja.PROMPTS, strict=True):
        assert one.name == other.name
        assert [each.name for each in one.arguments] == [each.name for each in other.arguments]
        assert [each.required for each in one.arguments] == [each.required for each in other.arguments]
        assert sorted(signs.findall(one.text)) == sorted(signs.findall(other.text))


@pytest.mark.parametrize(
    ("setting", "environ", "language"),
    [
        ("auto", {}, "en"),
        ("auto", {"LANG": "ja_JP.UTF-8"}, "ja"),
        ("auto", {"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ("auto", {"LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP"}, "ja"),
        ("auto", {"LANG": "", "LC_ALL": ""}, "en"),
        ("en", {"LANG": "ja_JP.UTF-8"}, "en"),
        ("ja", {"LANG": "en_US.UTF-8"}, "ja"),
    ],
    ids=range(7),
)
def test_the_language_of_the_house(setting, environ, language):
    assert choose_language(resolve_settings({}, {}, {"language": setting}), environ) == language
