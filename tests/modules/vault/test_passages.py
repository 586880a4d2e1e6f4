"""What vault_find compares: the same candidates as from each text alone, from a cache that is bounded."""

import random

import pytest

from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.files.text import split_passages, version_of
from tokonoma.modules.vault import passages as passages_module
from tokonoma.modules.vault.matching import SIGNALS, VaultCandidate, VaultSignal, extract_terms, match_passage
from tokonoma.modules.vault.passages import ComparedPassage, PassageCache

WORDS = (  # noqa: SIM905 - easier to read
    "server Server SERVER server-side ser.ver データ・ベース データベース ﾃﾞｰﾀﾍﾞｰｽ 申し込み 申込み 申込 "
    "サーバー サーバ ヴァイオリン バイオリン café cafe ﬁle file ＡＢＣ abc (株) 株式会社 straße strasse "
    "\x00 \x1f \x7f \x01server \u0301e りんご リンゴ 國 国 — – - "
    "`code` *bold* [link](http://a.b) <!-- note --> _x_ --- | ς Σ İ"
).split(" ")
QUERIES = (
    "server", "データベース", "申込", "cafe file", '"株式会社 abc"', "バイオリン strasse", "りんご 国", "-",
    "\x01server", "code bold link",
)  # fmt: skip


def write_text(chance: random.Random) -> str:
    lines: list[str] = ["---\ntitle: サーバー notes\n---\n"] if chance.random() < 0.2 else []
    for _ in range(chance.randint(0, 30)):
        mark = chance.choice(["", "", "", "# ", "## ", "- ", "> ", "```", "\t"])
        line = mark + " ".join(chance.choice(WORDS) for _ in range(chance.randint(0, 6)))
        lines.append(line + chance.choice(["\n", "\n", "\n\n", "\r\n", "\n===\n"]))
    return "".join(lines)


def compare_apart(path: str, text: str, query: str) -> list[VaultCandidate]:
    """Every passage by itself, from its text, without any memory."""
    terms, phrase, found = extract_terms(query), normalize(query).strip(), list[VaultCandidate]()
    for each in split_passages(text, tuple(path.split("/"))):
        title, body = normalize(each.title), normalize(each.text)
        loose_text = normalize_loose(f"{each.title}\n{each.text}")
        in_title = {term for term in terms if term in title}
        exact = {term for term in terms if term in body} | in_title
        loose = {term for term in terms if term not in exact and (key := normalize_loose(term)) and key in loose_text}
        if not exact and not loose:
            continue
        score = 0.7 * (len(exact) + 0.8 * len(loose)) / len(terms) + 0.15 * bool(in_title) + 0.15 * (phrase in body)
        sets = (in_title, exact - in_title or exact, loose)
        signals: list[VaultSignal] = [name for name, terms_found in zip(SIGNALS, sets, strict=True) if terms_found]
        matched = tuple(term for term in terms if term in exact | loose)
        found.append(VaultCandidate(path, each.start, each.end, each.title, tuple(signals), round(score, 4), matched))
    return found


def compare_kept(cache: PassageCache, path: str, text: str, query: str) -> list[VaultCandidate]:
    forms = {term: normalize_loose(term) for term in extract_terms(query)}
    split = cache.split("/vault", tuple(path.split("/")), text, version_of(text.encode()))
    found = (match_passage(path, each, forms, normalize(query).strip()) for each in split)
    return [each for each in found if each is not None]


@pytest.mark.parametrize("seed", range(8))
def test_the_candidates_are_those_of_each_text_alone(seed):
    chance, cache, count = random.Random(seed), PassageCache(200_000), 0
    texts = {f"a/{number}.{chance.choice(['md', 'txt'])}": write_text(chance) for number in range(40)}
    for _ in range(3):
        for path in texts:
            if chance.random() < 0.3:  # edited between two searches
                texts[path] = write_text(chance)
            for query in QUERIES:
                found = compare_kept(cache, path, texts[path], query)
                assert found == compare_apart(path, texts[path], query), (path, query)
                count += len(found)
    assert count > 500


def test_a_text_is_split_once_and_another_text_of_the_same_file_anew():
    cache, parts = PassageCache(), ("a.md",)
    first = cache.split("/vault", parts, "call 090-1234-5678", "digest 1")
    assert cache.split("/vault", parts, "not even looked at", "digest 1") is first
    masked = cache.split("/vault", parts, "call [masked:phone]", "digest 2")
    assert [each.text for each in masked] == ["call [masked:phone]"]
    assert cache.split("/other", parts, "x", "digest 2") is not masked


def test_the_memory_has_an_end_and_a_search_over_more_files_than_fit_keeps_those_that_do(monkeypatch):
    text = "word " * 500
    size = sum(ComparedPassage(each).size for each in split_passages(text, ("a.txt",)))
    cache, clock = PassageCache(10 * size), [0.0]
    monkeypatch.setattr(passages_module.time, "monotonic", lambda: clock[0])

    def search(count: int, folder: str) -> list[object]:
        return [cache.split("/vault", (folder, f"{number}.txt"), text, "d") for number in range(count)]

    first = search(30, "a")
    kept = [one is other for one, other in zip(first, search(30, "a"), strict=True)]
    assert sum(kept) == 10
    clock[0] += 3600  # nobody has asked for those since
    others = search(10, "b")
    assert search(10, "b") == others
    assert cache._size <= 10 * size
