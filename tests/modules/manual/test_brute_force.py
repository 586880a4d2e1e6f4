"""No section that holds a term is overlooked in silence: a plain search of the files says which they are."""

import random
import re
import unicodedata
from collections.abc import Generator
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.core.normalize import normalize

ENGLISH = [
    "server",
    "network",
    "volume",
    "token",
    "policy",
    "Kernel",
    "ＡＰＩ",
    "endpoint",
    "cluster",
    "node",
    "schedule",
    "memory",
    "limit",
    "request",
    "quota",
]
JAPANESE = [
    "返品",
    "手数料",
    "サーバー",
    "設定",
    "ﾊﾟｽﾜｰﾄﾞ",
    "窓口",
    "契約",
    "通知",
    "別表",
    "例外",
    "期間",
    "料金",
    "利用者",
    "データ",
    "更新",
]
ENCODINGS = ["utf-8"] * 6 + ["cp932", "euc_jp", "utf-16", "iso2022_jp"]
LEFT_OUT = 4
Place = tuple[str, int]


def write_files(folder: Path, rng: random.Random) -> dict[Place, str]:
    """The normalized text of each section, by its file and first line."""
    texts: dict[Place, str] = {}
    for number in range(60):
        lines: list[str] = []
        for part in range(rng.randint(1, 6)):
            words = rng.choices(ENGLISH if number % 2 else JAPANESE, k=8)
            own = [
                f"# 章{part}",
                " ".join(words[:4]) + "についてです。",
                f"これは{words[5]}と{words[6]}の説明になります。",
            ]
            texts[f"ガ{number}.md", len(lines) + 1] = " ".join(normalize("\n".join(own)).split())
            lines += own
        name = f"ガ{number}.md"
        file = folder / (unicodedata.normalize("NFD", name) if number % 3 == 0 else name)
        text = unicodedata.normalize("NFKC", "\n".join(lines)) + "\n"
        file.write_bytes(text.encode(ENCODINGS[number % len(ENCODINGS)]))
        if number < LEFT_OUT:
            file.write_bytes(file.read_bytes() + b"\xff\xff\xe9 ")
    return texts


@pytest.fixture
def talk(tmp_path) -> Generator[Lines]:
    app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    yield Lines(app)
    app.close()


def test_every_section_with_a_term_is_a_hit_or_listed_with_a_reason(talk, tmp_path):
    folder = tmp_path / "home" / "workspace" / "manuals" / "m"
    folder.mkdir(parents=True)
    rng = random.Random(16)
    texts = write_files(folder, rng)
    terms = {normalize(word) for word in (*ENGLISH, *JAPANESE)}
    hits = listed = 0
    for term in sorted(terms):
        told = talk.call("manual", "find", query=term, budget={"max_candidates": 1000})
        page = talk.call("manual", "hits", trace_id=told["trace_id"], limit=200)
        assert page["total"] == len(page["items"])
        found = {(each["ref"]["path"], each["ref"]["start_line"]) for each in page["items"]}
        unscanned = talk.call("manual", "hits", trace_id=told["trace_id"], kind="unscanned", limit=200)["items"]
        named = {each["title"].removeprefix("m/"): each["reason"] for each in unscanned}
        assert set(named.values()) == {"encoding"}
        edge = r"(?<![a-z0-9])" if term.isascii() else ""
        places = {place for place, text in texts.items() if re.search(edge + re.escape(term), text)}
        assert places
        assert {place for place in places - found if place[0] not in named} == set()
        hits, listed = hits + len(places & found), listed + len(places - found)
    assert hits > 500
    assert listed > 10
