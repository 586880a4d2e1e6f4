"""`tokonoma manual`: the same tools at the terminal."""

import pytest


@pytest.fixture
def rules(home):
    folder = home / "workspace" / "manuals" / "rules"
    folder.mkdir(parents=True)
    (folder / "terms.md").write_text("# 返品\n返品は30日以内に通知する。\n## 例外\n生鮮食品\n", encoding="utf-8")
    return folder


def test_find_lists_places_and_says_what_was_looked_through(run, rules):
    result = run("manual", "find", "返品")
    assert result.exit_code == 0
    assert "rules/terms.md:1" in result.stdout
    assert "2 sections in 1 file;" in result.stderr


def test_find_names_contradictions_and_gaps(run, rules):
    (rules / "fees.md").write_text("# 返品の料金\n返品は14日以内に通知する。[表](none.md)\n", encoding="utf-8")
    told = run("manual", "find", "返品").stderr
    assert "1 contradiction, 1 gap." in told
    assert "contradiction: rules/fees.md:1  返品: 30 日 there, 14 日 here (terms.md:1)" in told
    assert "gap: none.md: fees.md:1 refers to it, but it is not here" in told


def test_nothing_found_is_said_in_words(run, rules):
    result = run("manual", "find", "zzzz")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("None of 2 sections")


def test_without_a_manual_it_says_where_to_put_one(run, home):
    for command in (("manual", "find", "x"), ("manual", "list"), ("manual", "toc")):
        assert str(home / "workspace" / "manuals") in run(*command).stderr


def test_toc_lists_manuals_and_headings(run, rules):
    assert "rules" in run("manual", "toc").stdout
    assert run("manual", "list").stdout == run("manual", "toc").stdout
    assert run("manual", "toc", "rules").stdout == "返品  terms.md:1\n  例外  terms.md:3\n"


def test_read_prints_a_section(run, rules):
    assert run("manual", "read", "rules/terms.md:3").stdout == "## 例外\n生鮮食品\n"


@pytest.mark.parametrize(
    ("place", "says"), [("rules/none.md", "no file"), ("none/terms.md", "no manual"), ("rules/../x", "`..`")]
)
def test_a_wrong_place_is_named(run, rules, place, says):
    result = run("manual", "read", place)
    assert result.exit_code != 0
    assert says in result.stderr
