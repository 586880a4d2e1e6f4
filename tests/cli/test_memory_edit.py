"""`tokonoma memory edit`: the form, what is sent, and a text that cannot be saved."""

import re
import stat
import sys
from pathlib import Path

import pytest
from cli.terminal import show_at_terminal
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.cli.memory.edit import find_changes, format_form

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT | st.lists(TEXT, max_size=2)


@pytest.fixture
def memo(value) -> str:
    words = ("--title", "茶の湯", "--thread", "days", "--metadata", "source=mail", "--metadata", 'deep={"n": 3}')
    return value("memory", "save", "first line\n\nlast line", *words, "--json")["memo_id"]


@pytest.fixture
def editor(tmp_path):
    """An editor that runs a line of Python over the bytes of the text; with `code` it then fails."""

    def made(line: str, code: int = 0) -> dict[str, str | None]:
        script = tmp_path / "editor.py"
        script.write_text(
            f"#!{sys.executable}\nimport sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_bytes()\n"
            f"{line}\nfile.write_bytes(text)\nsys.exit({code})\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return {"EDITOR": str(script), "VISUAL": None}

    return made


def find_draft(stderr: str) -> Path:
    found = re.search(r"Your text is kept in (\S+\.md)\.", stderr)
    assert found, stderr
    return Path(found[1])


def test_the_editor_gets_fields_and_text_and_only_what_changed_is_saved(run, value, memo, editor, tmp_path):
    copy = tmp_path / "copy"
    line = (
        f"pathlib.Path({str(copy)!r}).write_bytes(text); text = text.replace(b'first', b'1st').replace(b'mail', b'web')"
    )
    told = run("memory", "edit", memo, **editor(line))
    assert told.exit_code == 0, told.output
    assert told.stderr == f"{memo} is at version 2: changed content, metadata.\n"
    assert copy.read_text("utf-8") == (
        "---\ntitle: 茶の湯\nthread: days\nexpires_at: ''\ndate: ''\nvalid_from: ''\nvalid_until: ''\n"
        "metadata:\n  source: mail\n  deep:\n    n: 3\n---\n"
        "first line\n\nlast line\n"
    )
    new = value("memory", "show", memo, "--json")
    assert (new["content"], new["metadata"]) == ("1st line\n\nlast line", {"source": "web", "deep": {"n": 3}})
    assert (new["title"], new["thread"]) == ("茶の湯", "days")
    removed = run(
        "memory",
        "edit",
        memo,
        **editor("text = text.replace(b'title: \\xe8', b'#\\xe8').replace(b'  source: web\\n', b'')"),
    )
    assert "changed title, metadata" in removed.stderr
    new = value("memory", "show", memo, "--json")
    assert ("title" in new, new["metadata"]) == (False, {"deep": {"n": 3}})


def test_an_unchanged_or_empty_file_changes_nothing(run, value, memo, editor):
    for line in ("pass", "text = b''", "text = b' \\n'"):
        told = run("memory", "edit", memo, **editor(line))
        assert (told.exit_code, told.stderr) == (0, "Nothing was changed.\n")
    assert value("memory", "show", memo, "--json")["version"] == 1


BAD = {
    "no text": ("text = text[:text.rindex(b'---\\n') + 4]", "The text is empty. `tokonoma memory delete` moves"),
    "no fields": ("text = b'only text'", "The fields between the two lines of --- are missing."),
    "an unknown field": ("text = text.replace(b'title:', b'titel:')", "There is no field 'titel'; there are: title,"),
    "no YAML": ("text = text.replace(b'title:', b'title: [')", "The fields cannot be read: Line "),
    "a list as title": ("text = text.replace(b'thread: days', b'thread: [a]')", "thread is not a text."),
    "no mapping": ("text = text.replace(b'metadata:\\n  source: mail\\n  deep:\\n    n: 3', b'metadata: 3')",
                   "metadata is not a list of keys and values."),
    "a wrong time": ("text = text.replace(b\"expires_at: ''\", b'expires_at: soon')", "expires_at must be a time like"),
    "no UTF-8": ("text = text + b'\\xff'", "The edited text is not UTF-8."),
}  # fmt: skip


@pytest.mark.parametrize(("line", "told"), BAD.values(), ids=BAD)
def test_a_text_that_cannot_be_saved_is_kept(run, value, memo, editor, line, told):
    result = run("memory", "edit", memo, **editor(line))
    assert result.exit_code == 1
    assert told in result.stderr
    draft = find_draft(result.stderr)
    assert stat.S_IMODE(draft.stat().st_mode) == 0o600
    draft.unlink()
    assert value("memory", "show", memo, "--json")["version"] == 1


def test_a_memo_that_was_changed_meanwhile_is_not_overwritten(run, value, memo, editor, environ):
    change = (
        f"import subprocess; subprocess.run([{sys.executable!r}, '-m', 'tokonoma', 'call', 'memory', 'save',"
        f' \'{{"memo_id": "{memo}", "content": "theirs"}}\'], check=True, capture_output=True)\n'
        "text = text.replace(b'first line', b'mine')"
    )
    result = run("memory", "edit", memo, **editor(change))
    assert result.exit_code == 1
    assert "The memo is at version 2, not 1." in result.stderr
    assert value("memory", "show", memo, "--json")["content"] == "theirs"
    draft = find_draft(result.stderr)
    assert f"`tokonoma memory edit {memo} --from {draft}` goes on with it." in result.stderr
    # The kept text can be saved after all, over what is there now.
    again = run("memory", "edit", memo, "--from", str(draft), **editor("pass"))
    assert again.exit_code == 0, again.output
    assert value("memory", "show", memo, "--json")["content"] == "mine\n\nlast line"
    draft.unlink()


def test_an_editor_that_fails_keeps_what_was_written(run, value, memo, editor):
    result = run("memory", "edit", memo, **editor("text = text + b'more'", code=3))
    assert result.exit_code == 1
    draft = find_draft(result.stderr)
    assert draft.read_bytes().endswith(b"last line\nmore")
    draft.unlink()
    untouched = run("memory", "edit", memo, **editor("pass", code=3))
    assert untouched.exit_code == 1
    assert "kept" not in untouched.stderr
    assert value("memory", "show", memo, "--json")["version"] == 1


def test_an_editor_at_a_real_terminal(run, value, memo, editor, environ):
    variables = editor("assert sys.stdin.isatty() and sys.stdout.isatty(); text = text.replace(b'first', b'1st')")
    shown = show_at_terminal([["memory", "edit", memo]], {**environ, **variables})
    assert f"{memo} is at version 2: changed content." in shown
    assert value("memory", "show", memo, "--json")["content"] == "1st line\n\nlast line"


@given(
    title=TEXT, content=TEXT.filter(str.strip), metadata=st.dictionaries(TEXT, SCALARS | st.dictionaries(TEXT, SCALARS))
)
def test_an_untouched_form_changes_nothing(title, content, metadata):
    memo = {"memo_id": "x", "title": title, "content": content, "metadata": metadata, "version": 1}
    if not title:
        del memo["title"]
    assert find_changes(memo, format_form(memo)) == {}


def test_an_emptied_expiry_is_removed():
    memo = {"memo_id": "x", "content": "c", "metadata": {}, "expires_at": "2027-01-31T00:00:00.000Z", "version": 1}
    form = format_form(memo)
    assert find_changes(memo, form) == {}
    assert find_changes(
        memo, form.replace("'2027-01-31T00:00:00.000Z'", "").replace("2027-01-31T00:00:00.000Z", "")
    ) == {"expires_at": "never"}
