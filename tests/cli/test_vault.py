"""`tokonoma vault`: files at the terminal."""

import xml.etree.ElementTree as ElementTree

import pytest

from tokonoma.cli.vault import draw_coverage

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def root(home):
    folder = home / "workspace" / "vault"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.md").write_text("# A\none\ntwo\n# B\nthree\n")
    return folder


def test_listing_reading_finding_searching(run, root):
    assert "notes/a.md" in run("vault", "ls").stdout
    assert run("vault", "read", "notes/a.md:2-3").stdout == "one\ntwo\n"
    assert run("vault", "read", "notes/a.md").stdout.startswith("# A\n")
    assert "notes/a.md:4" in run("vault", "find", "three").stdout
    assert run("vault", "search", "TWO").stdout == "notes/a.md:3:two\n"
    wrong = run("vault", "read", "../x")
    assert wrong.exit_code == 1
    assert "without it" in wrong.stderr


def test_history_and_restore(run, root):
    run("call", "vault", "write", '{"path": "notes/a.md", "content": "new", "mode": "overwrite"}')
    version = run("vault", "history", "notes/a.md").stdout.splitlines()[1].split()[-1]
    assert run("vault", "restore", "notes/a.md", version).exit_code == 0
    assert (root / "notes" / "a.md").read_text().startswith("# A")


def test_coverage_in_words_and_as_a_picture(run, root, tmp_path):
    run("vault", "read", "notes/a.md:1-2")
    run("call", "vault", "coverage", '{"path": "notes/a.md", "cited_ranges": [{"start_line": 1, "end_line": 1}]}')
    told = run("vault", "coverage", "notes/a.md", "--picture", str(tmp_path / "out.svg"))
    assert "read          40%" in told.stdout
    assert "cited         20%" in told.stdout
    assert "never seen    3-5" in told.stdout
    assert "cited unread" not in told.stdout
    drawn = ElementTree.fromstring((tmp_path / "out.svg").read_text())
    bars = [each.get("class") for each in drawn.iter(f"{SVG}rect") if each.get("class")]
    assert bars == ["never-seen", "read", "cited"]
    run("call", "vault", "coverage", '{"path": "notes/a.md", "cited_ranges": [{"start_line": 2, "end_line": 4}]}')
    told = run("vault", "coverage", "notes/a.md", "--picture", str(tmp_path / "out.svg"))
    assert "cited         40%" in told.stdout
    assert "cited unread  3-4" in told.stdout
    assert "cited unread: 3-4" in (tmp_path / "out.svg").read_text()


def test_a_picture_of_any_file_is_sound_and_bounded():
    for total in (0, 1, 7, 100, 100_000):
        half = [(1, max(1, total // 2))] if total else []
        drawn = ElementTree.fromstring(draw_coverage('<a> & "b".md', total, {"read": half, "cited": half}))
        assert float(drawn.get("height", "inf")) < 1300


def test_a_picture_says_how_much_and_shows_only_what_was_never_seen_as_such():
    drawn = ElementTree.fromstring(
        draw_coverage("a" * 100, 10, {"cited": [(1, 2)], "read": [(1, 5)], "never seen": [(6, 10)]})
    )
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert texts[1:5] == ["cited 20%", "cited unread 0%", "read 50%", "never seen 50%"]
    assert texts[0] == "…" + "a" * 43
    told = [each.findtext(f"{SVG}title") for each in drawn.iter(f"{SVG}rect") if each.get("class")]
    assert told == ["never seen: 6-10", "read: 1-5", "cited: 1-2"]


def test_nothing_found_is_said_in_words(run, root):
    for command in (("vault", "find", "zzzz"), ("vault", "search", "zzzz")):
        result = run(*command)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.startswith("No")


def test_a_long_list_comes_whole(run, root):
    for number in range(450):
        (root / f"n{number:03}.md").write_text("x\n")
    assert sum(line.startswith("n") for line in run("vault", "ls", "--glob", "n*.md").stdout.splitlines()) == 450


def test_an_audit_ends_with_one_if_something_is_wrong(run, root):
    (root / "bad.md").write_text("# X\n- y\n")
    told = run("vault", "audit", "bad.md", "notes/a.md")
    assert told.exit_code == 1
    assert "unsupported 0% no_citation" in told.stdout
