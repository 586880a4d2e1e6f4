"""Additions to a long text: what is found is what a scan of the whole text finds, wherever the addition begins."""

import os
import random

import pytest

from tokonoma.core.errors import Denied
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.detections import Detector
from tokonoma.policy.scan import LONG_TEXT, Scanner
from tokonoma.policy.screen_writes import screen_edit

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]
KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
FAR = (
    f"-----BEGIN PRIVATE KEY-----\n{KEY}",
    f"{KEY}\n-----END PRIVATE KEY-----",
    f"{KEY}\n",
    PHRASE,
)
PIECES = (
    "mail to taro.yamada@corp.example.org today",
    "taro.yamada@",
    "corp.example.org",
    "TEL 03-1234-",
    "5678 です",
    "password: ",
    "password:\n    Xk39fjw02mQ1z",
    "Xk39fjw02mQ1z",
    "仮パスワード Tq8rLw22x",
    "Ab3dEf6h9K2 がパスワードです",
    "sk-ant-api03-a8Fj2kLm93Qx7Zr0b1TdW5yC",
    "sk-ant-api03-a8Fj2kLm93Qx7Zr0b1TdW5yC\n9dK2jF8sLq03mXw7\n8sLq03mXw79dK2jF",
    "recovery codes:\n4829-1173\n5521-8830\n",
    "1173-9921, 8843-1120",
    PHRASE[:40],
    PHRASE[40:],
    "1. 2. 3. " * 30,
    "〒100-0001\n東京都千代田区千代田1-1",
    "東京都千代田区",
    "1丁目2番3号",
    "ＴＥＬ：０３－１２３４－５６７８",
    "4111 1111 1111 1111",
    "https://user:hunter22x@host.example/",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "17 Baker Street, London",
    "x" * 300,
    "あ" * 120,
)


def plain(chance: random.Random, size: int) -> str:
    """Lines as in a log, now and then with something in them, or very long."""
    parts: list[str] = []
    while size > 0:
        roll = chance.random()
        line = f"2026-11-{chance.randrange(10, 30)} request {chance.randrange(10**6)} took {chance.randrange(999)} ms\n"
        if roll < 0.02:
            line = chance.choice(PIECES) + "\n"
        elif roll < 0.021:
            line = "word " * chance.randrange(2000) + "\n"
        parts.append(line)
        size -= len(line)
    return "".join(parts)


def addition(chance: random.Random) -> str:
    pieces = [chance.choice(FAR if chance.random() < 0.04 else PIECES) for _ in range(chance.randrange(1, 4))]
    return chance.choice(["", " ", "\n"]).join(pieces) + chance.choice(["", "\n"])


@pytest.mark.parametrize("cases", [150, pytest.param(5000, marks=full)], ids=["quick", "full"])
def test_an_addition_is_scanned_as_a_part_of_the_whole(cases):
    chance, resumed, scanner, whole = random.Random(cases), 0, Scanner(), Scanner()
    scanned: list[int] = []
    scan_uncached = scanner.scan_uncached

    def count(text):
        scanned.append(len(text))
        return scan_uncached(text)

    scanner.scan_uncached = count  # pyright: ignore[reportAttributeAccessIssue]
    base = ""
    for number in range(cases):
        if number % 10 == 0:
            base = plain(chance, LONG_TEXT + chance.randrange(3000))
            scanner.scan(base)
        if chance.random() < 0.4:  # something is already begun at the end
            base += chance.choice(PIECES)
            scanner.scan(base)
        after = base + (addition(chance) if chance.random() < 0.7 else plain(chance, 200))
        scanned.clear()
        found = scanner.scan_appended(base, after)
        assert found == whole.scan_uncached(after), f"case {number}"
        resumed += max(scanned, default=0) < len(after) - 1000
        assert scanner.scan(after) == found
        base = after
    assert resumed > cases / 5, "the short way is taken"


def test_only_the_end_is_scanned_and_secrets_far_before_are_still_known():
    scanner = Scanner()
    before = "password: Xk39fjw02mQ1z\n" + "a line of 2026\n" * 10_000
    assert [one.kind for one in scanner.scan(before)] == ["password"]
    scanned: list[str] = []
    scan_uncached = scanner.scan_uncached
    scanner.scan_uncached = lambda text: scanned.append(text) or scan_uncached(text)
    after = before + "token: 9fK2mQx81ZrT0bWd5yCa7L\n"
    assert [one.kind for one in scanner.scan_appended(before, after)] == ["password", "api_key"]
    assert [len(text) < 20_000 for text in scanned] == [True]


@pytest.mark.parametrize("far", [f"-----BEGIN PRIVATE KEY-----\n{KEY}\n", f"{PHRASE}\n"], ids=["key", "seed"])
def test_what_reaches_far_is_scanned_as_a_whole(far):
    scanner, filler = Scanner(), "abc def 2026\n" * 4000
    before = far + filler
    scanner.scan(before)
    after = before + f"{KEY}\n-----END PRIVATE KEY-----\n"
    assert scanner.scan_appended(before, after) == Scanner().scan(after)


def test_an_end_that_belongs_to_lines_far_above_is_scanned_with_them():
    scanner, before = Scanner(), "abc def 2026\n" * 4000 + f"{KEY}\n" * 400
    scanner.scan(before)
    after = before + "-----END PRIVATE KEY-----\n"
    found = scanner.scan_appended(before, after)
    assert found == Scanner().scan(after)
    assert found[-1].end - found[-1].start > 400 * len(KEY)


def test_the_detectors_of_a_policy_see_the_whole_text():
    own = Detector("frame", "secret", r"<<(?s:.)*>>")
    scanner, before = Scanner([own]), "<<" + "2026 line\n" * 5000
    scanner.scan(before)
    assert scanner.scan_appended(before, before + ">>")[-1].kind == "frame"


def test_a_secret_that_an_addition_completes_is_refused():
    policy, before = ActivePolicy(), "2026-11-16 a line\n" * 5000 + "password: "
    policy.scanner.scan(before)
    with pytest.raises(Denied):
        screen_edit(policy, "log.md", before, before + "Xk39fjw02mQ1z\n")
    assert screen_edit(policy, "log.md", before, before + "see the safe\n").endswith("safe\n")
