"""The detectors on generated texts, and what becomes of their finds."""

import gc
import time
import weakref
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.generated import samples

from tokonoma.policy.detections import (
    Detection,
    Detector,
    count_by_kind,
    find_masks,
    format_for_journal,
    mask_text,
    resolve_overlaps,
)
from tokonoma.policy.scan import (
    BUILTIN_DETECTORS,
    KINDS_BY_NATURE,
    Scanner,
    builtin_scanner,
    compile_pattern,
    normalize_width,
)


def judged(count, seed):
    """Found and missed by kind; right and wrong finds by kind; the texts of what went wrong."""
    found, missed, right, wrong, shown = Counter(), Counter(), Counter(), Counter(), []
    for sample in samples(count, seed):
        finds = builtin_scanner().scan(sample.text)
        for kind, start, end in sample.truth:
            covered = sum(max(0, min(end, find.end) - max(start, find.start)) for find in finds if find.kind == kind)
            fine = covered >= 0.9 * (end - start)
            (found if fine else missed)[kind] += 1
            if not fine:
                shown.append(f"missed {kind}: {sample.text[start:end]!r} in {sample.text!r}")
        for find in finds:
            inside = any(
                find.kind == kind and find.start < end and start < find.end for kind, start, end in sample.truth
            )
            (right if inside else wrong)[find.kind] += 1
            if not inside:
                shown.append(f"wrong {find.kind}: {sample.text[find.start : find.end]!r} in {sample.text!r}")
    return found, missed, right, wrong, shown


@pytest.mark.parametrize("seed", [1, 2026])
def test_of_ten_thousand_generated_texts_nearly_everything_is_found_and_nearly_nothing_else(seed):
    found, missed, right, wrong, shown = judged(5000, seed)
    recall = found.total() / (found.total() + missed.total())
    precision = right.total() / (right.total() + wrong.total())
    assert found.total() > 3000
    assert recall >= 0.98, (recall, missed, shown[:20])
    assert precision >= 0.97, (precision, wrong, shown[:20])
    # No kind is left behind by a good average.
    assert all(found[kind] / (found[kind] + missed[kind]) >= 0.93 for kind in found | missed), (missed, shown[:20])


TELLING = {
    "連絡はx@example.comまで": "連絡は[masked:email]まで",
    "電話０９０－１２３４－５６７８。": "電話[masked:phone]。",
    "〒100-0001東京都千代田区千代田1-1": "[masked:postal_code][masked:address]",
    "マイナンバーは123456789018です": "マイナンバーは[masked:my_number]です",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ": "Bearer [masked:jwt]",
    "postgres://app:Zx9-kq2p@db.internal/app": "postgres://app:[masked:url_password]@db.internal/app",
    "口座番号：1234567（普通）": "口座番号：[masked:bank_account]（普通）",
    "パスワードは Hq7!mzp2Lw です": "パスワードは [masked:password] です",
    'aws_secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzq8Rt0abcd"': 'aws_secret_key = "[masked:api_key]"',
    'aws_secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYzq8Rt0abcd"': 'aws_secret="[masked:aws_secret_key]"',
    "IBAN DE89 3704 0044 0532 0130 00": "IBAN [masked:iban]",
    "SW1A 1AAに移転": "[masked:postal_code]に移転",
}


@pytest.mark.parametrize(("text", "shown"), TELLING.items())
def test_a_find_is_replaced_by_its_kind(text, shown):
    assert mask_text(text, builtin_scanner().scan(text)) == shown


PLAIN = [
    "2026-01-15に v1.2.3 を出した。次は 2026/02/01。",
    "注文番号 4829-1034-7765、伝票 0312345678",
    "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
    "See 192.0.2.1 and 2001:db8::1, RFC 5737.",
    "git@github.com:owner/repo.git と react@18.2.0",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx は例です",
    "",
    "短い",
]


@pytest.mark.parametrize("text", PLAIN)
def test_dates_versions_orders_hashes_and_examples_are_left_alone(text):
    assert builtin_scanner().scan(text) == ()


def test_of_two_finds_over_each_other_the_secret_stays_then_the_longer():
    finds = [
        Detection("phone", "pii", 0, 12),
        Detection("card", "pii", 0, 16),
        Detection("api_key", "secret", 10, 14),
        Detection("email", "pii", 20, 30),
    ]
    assert [find.kind for find in resolve_overlaps(finds)] == ["api_key", "email"]
    assert [find.kind for find in resolve_overlaps(finds[:2])] == ["card"]


@given(st.text())
def test_any_text_is_scanned_masked_and_folded_letter_for_letter(text):
    finds = builtin_scanner().scan(text)
    assert len(normalize_width(text)) == len(text)
    assert all(0 <= find.start < find.end <= len(text) for find in finds)
    assert mask_text(text, []) == text


@given(
    st.lists(
        st.tuples(
            st.integers(0, 50), st.integers(1, 20), st.sampled_from(["a", "b"]), st.sampled_from(["pii", "secret"])
        )
    )
)
def test_resolved_finds_never_overlap_and_lose_no_secret_to_personal_data(spans):
    finds = [Detection(kind, nature, start, start + size) for start, size, kind, nature in spans]
    kept = resolve_overlaps(finds)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    for find in finds:
        assert any(other.start < find.end and find.start < other.end for other in kept)


def test_what_is_masked_holds_no_find_any_more():
    for sample in samples(500, 7):
        shown = mask_text(sample.text, builtin_scanner().scan(sample.text))
        for kind, start, end in sample.truth:
            assert not (kind == "email" and sample.text[start:end] in shown)
        assert not builtin_scanner().scan(shown), shown


def test_a_policy_adds_detectors_and_with_them_another_version():
    scanner = Scanner([Detector("employee", "pii", r"EMP-[0-9]{6}")])
    assert mask_text("担当はEMP-123456です", scanner.scan("担当はEMP-123456です")) == "担当は[masked:employee]です"
    assert scanner.version != builtin_scanner().version


def test_the_journal_is_told_of_kinds_and_of_hashes_that_mean_nothing_elsewhere():
    text = "a@example.com b@example.com a@example.com"
    finds = builtin_scanner().scan(text)
    one, two, three = format_for_journal(text, finds, b"salt")
    assert one == three != two
    assert format_for_journal(text, finds, b"other")[0] != one
    assert "example" not in one
    assert count_by_kind(finds) == {"email": 3}


def test_masks_are_known_again():
    assert find_masks("mail [masked:email] or [masked:phone], see [card] and [masked:x]", KINDS_BY_NATURE["pii"]) == [
        "email",
        "phone",
    ]


def test_every_detector_has_a_group_and_compiles():
    for each in BUILTIN_DETECTORS:
        assert each.kind in KINDS_BY_NATURE[each.nature]
        assert compile_pattern(each.pattern) is not None


_PARTS = [
    "パスワード", "暗証番号は", "三丁目", "一番地", "合言葉", "トークン", "APIキー", "BEGIN", "https://",
    "PassWord: ", "paſſword=", "to\u212aen ", "KEY=", "ｐａｓｓ：", "Bearer ", "secret", "abcdefghijklmnop",
    "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐ", "a@b.example", "０３", "090",
    "plain words", "床の間", "—", "ß", "İ", " ", "\n",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(_PARTS), st.text(max_size=12)), max_size=6).map("".join))
def test_a_text_that_looks_clean_holds_nothing(text: str) -> None:
    scanner = builtin_scanner()
    if scanner.is_clean(text):
        assert scanner.scan_uncached(text) == ()


def test_most_texts_look_clean_and_telling_ones_do_not() -> None:
    scanner = builtin_scanner()
    for text in ("The quick brown fox jumps over the lazy dog; いろはにほへと.", "床の間に花を生ける。", "short"):
        assert scanner.is_clean(text)
    for text in (
        "my PASSword: x",
        "paſſword: x",
        "ｐａｓｓ：ｘｙｚ",
        "合言葉は山と川",
        "x" * 16,
        "see a://b",
    ):
        assert not scanner.is_clean(text)


def test_a_scanner_keeps_finds_but_no_texts_and_is_freed_with_its_policy() -> None:
    scanner, secret = Scanner([Detector("badge", "pii", r"BADGE-[0-9]+")]), "my badge is BADGE-4711"
    found = scanner.scan(secret)
    assert [each.kind for each in found] == ["badge"]
    assert scanner.scan(secret) is found
    crowded = "a@b.example " * 200
    assert len(scanner.scan(crowded)) == 200
    kept = scanner.scan(crowded)
    scanner.scan("my badge is BADGE-4712")
    scanner.scan(crowded + "my badge is BADGE-4712")
    assert scanner.scan(crowded) is kept  # large: two of them are kept
    scanner.scan(crowded + "my badge is BADGE-4713")
    scanner.scan(crowded + "my badge is BADGE-4714")
    assert scanner.scan(crowded) is not kept
    assert not any(isinstance(each, str) for each in gc.get_referents(scanner._cached))
    alive = weakref.ref(scanner)
    gc.disable()  # only a cycle would need it
    try:
        del scanner
        assert alive() is None
    finally:
        gc.enable()


def test_the_number_of_texts_whose_finds_are_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokonoma.policy.scan._CACHED_TEXTS", 20)
    scanner = Scanner()
    for number in range(100):
        assert scanner.scan(f"mail me: name{number}@b.example")
    assert 0 < len(scanner._cached) <= 20


def resolve_slowly(detections):
    """As it is meant, in time that grows with the square."""
    resolved: list[Detection] = []
    order = sorted(detections, key=lambda each: (each.nature != "secret", each.start - each.end, each.start, each.kind))
    for one in order:
        if all(one.end <= other.start or other.end <= one.start for other in resolved):
            resolved.append(one)
    return sorted(resolved, key=lambda each: each.start)


places = st.tuples(st.integers(0, 40), st.integers(1, 8), st.sampled_from(["pii", "secret"]), st.sampled_from("abc"))


@given(st.lists(places, max_size=14))
def test_overlaps_are_resolved_as_they_are_meant(given_places):
    detections = [Detection(kind, nature, start, start + size) for start, size, nature, kind in given_places]
    assert resolve_overlaps(detections) == resolve_slowly(detections)


UNITS = [
    "user@example.com ", "090-1234-5678 ", "-----BEGIN PRIVATE KEY-----", "a.", "eyJaaaaaaaaa.", "http://a:",
    "東京都千代田区1-1 ", "@", "/", "@a.", "password: ", "password=a1b2c3d4 ", "token=", "pass ", "パスワード", "M",
    "4111 1111 1111 1111 ", "1 Main Street ", "-----END PRIVATE KEY-----", "recovery code ", "sk-ant-", "abandon ",
    "recovery code ab12-cd34 ", "abandon zoo ability able about above absent absorb abstract absurd abuse access x ",
    "AAAAAAAAAAAAAAAAAAAAAAAA\n", "curl ", "4 ", "0", "admin / ", "市a", "eyJ", "mysql ", "session=",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_many_finds_take_time_in_proportion(unit):
    text = unit * (200_000 // len(unit))
    before = time.thread_time()
    builtin_scanner().scan_uncached(text)
    assert time.thread_time() - before < 3  # not in proportion, it would be minutes
