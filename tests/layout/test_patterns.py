"""Every regular expression of the package, on texts that are made to keep it busy.

RE2 needs time linear in the text for any pattern, and str methods do too. The standard `re` does not: what it runs on
a caller's text is walked here. A pattern that runs on other texts, or on texts of a known length, is listed with the
reason.
"""

import ast
import importlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from layout.hostile_texts import build_texts

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
SIZE = 1_000_000 if SOAK else 20_000
SECONDS = 0.1  # of CPU, for a text of 1 MB; a pattern that takes longer for 20 kB is far from linear
SECONDS_PER_MATCH = 5e-7  # of the loop that takes each match
SOURCE = Path(__file__).parents[2] / "src" / "tokonoma"
METHODS = ("search", "match", "fullmatch", "finditer")
LOOPS = ("findall", "sub", "subn", "split", "finditer")

OWN_TEXT = {
    "app.doctor.machine": "the operating system's own words: its list of mounts",
    "cli.install.clients": "the owner's settings of a client, read by a command of the owner",
    "pipeline.row_filter": "SQL of modules",
    "store.dialect": "SQL of the package and its modules",
    "store.sqlite.backup": "the last bytes of a backup file",
}
BOUNDED = {
    "modules.items.rows._READING": (4000, "a title and the start of a description, cut to 4,000 characters"),
    "modules.manual.judge._NUMBER": (60, "the 60 characters after a term"),
    "modules.manual.judge": (20_000, "a section's text that is read only up to 20,000 characters"),
    "modules.manual.terms._QUOTED": (2000, "a query, which has at most 2,000 characters"),
    "modules.manual.questions": (2000, "a query"),
    "modules.manual.terms._PARTICLES": (2000, "a query"),
    "modules.manual.terms._INTENTS": (2000, "a query"),
    "modules.manual.variants._PAIR": (2000, "a term of a query"),
    "modules.manual.definitions._LAST_LATIN": (90, "the 90 characters before a bracket"),
    "modules.manual.definitions._LAST_JAPANESE": (90, "the 90 characters before a bracket"),
    "modules.manual.definitions._LAST_ANY": (90, "the 90 characters before a bracket"),
    "modules.manual.definitions._HEREAFTER": (70, "the text in a bracket, at most 70 characters"),
    "modules.manual.definitions._HEREAFTER_EN": (70, "the text in a bracket"),
    "modules.vault.diagrams": (1000, "a line of a chart; a longer one is not matched"),
    "files.line_search._GLOB_TOKEN": (500, "a glob, which has at most 500 characters"),
    "policy.detect_addresses": (200, "an address, which its RE2 pattern bounds"),
    "policy.detect_numbers": (40, "the 40 characters before or after a number"),
    "policy.detect_personal._PHONE_WORDS": (24, "the 24 characters before or after a number"),
    "policy.detect_secrets": (50, "a code of at most 50 characters"),
    "policy.named_secrets": (160, "a value of at most 160 characters, or the 80 before a name"),
    "policy.seed_phrases._NAMES": (40, "the 40 characters before a phrase"),
    "transfer.notes._ATTACHMENT": (500, "the target of a link, which has at most 500 characters"),
    **dict.fromkeys(
        (f"search.times.{name}" for name in ("reader", "digits", "english", "japanese")),
        (9000, "the first 500 characters of a query, each of which may be normalized to eighteen"),
    ),
    "search.times": (500, "the first 500 characters of a query"),
}
BUILT_AT_RUN_TIME = {
    "core.query:_find_window": "one literal term",
    "core.query:find_terms": "one literal term",
    "modules.items.errors:find_indexes": "the name of a field",
    "modules.manual.corpus:find_following": "literal names, joined",
    "modules.manual.matches:compile_spaced": "the letters of a term, with at most two signs between them",
    "server.web.pages.memory.shown:mark_words": "literal words, joined",
    "transfer.notes:_split_texts": "a separator of a list",
}


class FoundPattern(NamedTuple):
    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


class TooSlow(Exception):
    pass


def list_sources() -> Iterator[tuple[str, str, ast.Module]]:
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "import re\n" in text:
            name = ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
            yield name, text, ast.parse(text)


def list_patterns() -> tuple[list[FoundPattern], list[str]]:
    """The compiled patterns of all modules and the literal ones in their code; and the places of all others."""
    found: list[FoundPattern] = []
    built: list[str] = []
    for module, text, tree in list_sources():
        names = vars(importlib.import_module(f"tokonoma.{module}"))
        for name, value in list(names.items()):
            found += [FoundPattern(f"{module}.{name}", each, find_methods(text, name)) for each in collect(value)]
        for function, call, method in list_uses(tree):
            try:
                value, *flags = (evaluate(each, names) for each in (call.args[0], *(k.value for k in call.keywords)))
            except NameError:
                built.append(f"{module}:{function}")
                continue
            if method != "compile" and isinstance(value, str | bytes):
                flag = sum(each for each in flags if isinstance(each, re.RegexFlag))
                found.append(FoundPattern(f"{module}:{function}", re.compile(value, flag), frozenset({method})))
    return found, built


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))


def collect(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from collect(each)
    elif isinstance(value, dict):
        yield from collect(list(value.values()))


def list_uses(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call, str]]:
    """The calls of `re`: the function that they are in, the call, and the method."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            owner, name = child.func.value, child.func.attr
            if isinstance(owner, ast.Name) and owner.id == "re" and name in (*METHODS, *LOOPS, "compile"):
                yield inside, child, "finditer" if name in LOOPS else name
        yield from list_uses(child, inside)


def find_methods(text: str, name: str) -> frozenset[str]:
    """How the module uses the pattern; every way, if it is passed on."""
    uses = re.findall(rf"(?<![\w.]){re.escape(name)}\b(?:\.(\w+))?", text)
    named = {"finditer" if each in LOOPS else each for each in uses if each} & set(METHODS)
    passed_on = sum(not each for each in uses) > 1  # once it is defined
    return frozenset(METHODS if passed_on or not named else named)


def measure(pattern: re.Pattern[Any], method: str, text: str) -> float:
    """CPU seconds beyond those of the loop over the matches. TooSlow after three times the limit."""
    subject: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    count, before = 0, time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 3 * SECONDS)
    try:
        found = getattr(pattern, method)(subject)
        if method == "finditer":
            count = sum(1 for _ in found)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - before - count * SECONDS_PER_MATCH


def find_slow_text(each: FoundPattern, size: int) -> str | None:
    """A text for which the pattern needs too long, the quickest of three times; None if there is none."""
    for method in sorted(each.methods):
        for text in build_texts(each.pattern, size, tails=3 if SOAK else 1):
            try:
                # Twice more: another process may have disturbed the first time.
                slow = measure(each.pattern, method, text) > SECONDS
                if slow and min(measure(each.pattern, method, text) for _ in range(2)) > SECONDS:
                    return f"{method} {text[:60]!r}"
            except TooSlow:
                return f"{method} {text[:60]!r}"
    return None


def find_entry(name: str, entries: dict[str, Any]) -> Any:
    module = name.rpartition(".")[0] if ":" not in name else name.partition(":")[0]
    return entries.get(name) or entries.get(module)


@pytest.fixture
def _timer() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.signal(signal.SIGVTALRM, before)


FOUND, BUILT = list_patterns()
MODULES = sorted({re.split(r"[:.]_|:", each.name)[0] for each in FOUND})


def test_there_are_patterns():
    assert len(FOUND) > 150


def test_every_pattern_that_is_built_at_run_time_is_known():
    assert sorted(BUILT) == sorted(BUILT_AT_RUN_TIME)


@pytest.mark.soak
@pytest.mark.usefixtures("_timer")
@pytest.mark.parametrize("module", MODULES)
def test_no_text_keeps_a_pattern_busy(module):
    slow: list[str] = []
    for each in FOUND:
        if re.split(r"[:.]_|:", each.name)[0] != module or find_entry(each.name, OWN_TEXT):
            continue
        bound = find_entry(each.name, BOUNDED)
        text = find_slow_text(each, min(SIZE, bound[0]) if bound else SIZE)
        if text is not None:
            slow.append(f"{each.name}: {text}")
    assert slow == []


EVIL = [
    r"\A---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z)",
    r"[ \t]*\{#([^\s}]+)[^}]*\}[ \t]*$",
    r"(?s)<!--.*?-->",
    r"!?\[([^\]]*)\]\([^)]*\)",
    r"\[[^\]\n]{0,300}\]\(\s*<?([^)\s>]+)[^)\n]*\)",
    r"(a+)+$",
    r"(?:a|a)*b",
    r"\s+$",
    r"x*y*x*z",
]


@pytest.mark.usefixtures("_timer")
@pytest.mark.parametrize("pattern", EVIL)
def test_the_texts_find_a_slow_pattern(pattern):
    found = FoundPattern("evil", re.compile(pattern), frozenset({"finditer", "match", "search"}))
    assert find_slow_text(found, 20_000) is not None
