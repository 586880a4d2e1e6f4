"""Evidence: which lines of a section a search shows, and how much of each."""

import pytest

from tokonoma.modules.manual.evidence import MAX_TEXT, SearchedTerms, find_evidence
from tokonoma.modules.manual.terms import make_term


def forms(*written: str) -> list[tuple[str, str]]:
    return [(term.folded, term.loose) for term in map(make_term, written)]


def found(text: str, *names: str, words: tuple[str, ...] = (), context: int = 0):
    return find_evidence(text.splitlines(keepends=True), 10, SearchedTerms(forms(*names), forms(*words)), context)


@pytest.mark.parametrize(
    ("text", "term", "lines"),
    [
        ("# A\nThe SERVER stops.\n", "server", [11]),
        ("# A\nfirst\nデータ・ベースを作る\n", "データベース", [12]),
        ("# A\nデータ\nベースを作る\n", "データベース", [11]),  # over the end of a line: where it starts
        ("# A\nx\na service\naccount is here\n", "service account", [12]),
        ("# A\nx\nuse service-account here\n", "ServiceAccount", [12]),
        ("# A\nscript\ncri\nCRIs\n", "cri", [12, 13]),
        ("# A\n第３条による\n", "第3条", [11]),
        ("# A\n申込み\n\n申し込みは\n", "申し込み", [11, 13]),
    ],
)
def test_lines_are_found_in_any_spelling(text, term, lines):
    assert [line for line, _ in found(text, term).lines] == lines


def test_a_matching_heading_is_named_without_repeating_the_title():
    assert found("# Return\nA return costs.\n", "return").lines == [(10, ""), (11, "A return costs.")]


def test_many_lines_are_counted():
    shown = found("# A\n" + "return\n" * 12, "return")
    assert [line for line, _ in shown.lines] == [11, 12, 13, 14, 15]
    assert shown.more == 7


def test_a_long_line_is_cut_around_the_match():
    for before in (0, 50, 399, 1000, 70_000):
        line = "ｘ " * (before // 2) + "データベース" + " z" * 2000
        ((number, text),) = found(f"# A\n{line}\n", "データベース").lines
        assert number == 11
        assert "データベース" in text
        assert len(text) <= MAX_TEXT + 2


def test_a_match_over_the_end_of_a_long_line_shows_its_end():
    ((_, text),) = found("# A\n" + "x " * 500 + "service\naccount\n", "service account").lines
    assert text.endswith("service")


def test_context_shows_the_lines_around_and_none_twice():
    text = "# A\none\nreturn\ntwo\nreturn\nthree\nfour\n"
    assert found(text, "return", context=1).lines == [(12, "one\nreturn\ntwo"), (14, "return\nthree")]
    assert found(text, "four", context=2).lines == [(16, "return\nthree\nfour")]


def test_without_the_name_the_lines_with_most_of_its_words_are_shown():
    text = "# A\nprinter\nthe ink of a printer\nink\n"
    assert found(text, "printer ink", words=("printer", "ink")).lines == [(12, "the ink of a printer")]


def test_what_is_found_by_its_meaning_shows_its_first_words():
    assert found("# A\n\nText of it.\nmore\n", "elephant").lines == [(12, "Text of it.")]
    assert found("# A\n", "elephant").lines == [(10, "")]
    assert found("", "elephant").lines == ()
