"""specs/001 over the wire: files of the vault, written, read, listed, searched, replaced, moved and restored."""

import json
from pathlib import Path

import pytest

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.core.masks import NO_MASKS
from tokonoma.core.query import Query, SearchFilter


@pytest.fixture
def root(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def code(talk, tool, **params) -> str:
    return talk.refused("vault", tool, **params)["code"]


def test_a_file_is_made_read_appended_and_overwritten_without_showing_its_text(talk, root):
    made = talk.call("vault", "create", path="notes/a.md", content="# Title\nCANARY one\n")
    assert "CANARY" not in json.dumps(made)
    assert (made["path"], made["lines"], made["bytes"], made["action"]) == ("notes/a.md", 2, 19, "create")
    assert made["address"] == "tokonoma://vault/notes/a.md"
    read = talk.call("vault", "read", path="notes/a.md", full=True)
    assert (read["text"], read["version"], read["total_lines"]) == ("# Title\nCANARY one\n", made["version"], 2)
    more = talk.call("vault", "write", path="notes/a.md", content="two", mode="append")
    assert more["previous_version"] == made["version"]
    assert (root / "notes" / "a.md").read_text() == "# Title\nCANARY one\ntwo"
    talk.call("vault", "write", path="notes/a.md", content="three", mode="append")
    assert (root / "notes" / "a.md").read_text().endswith("two\nthree")  # on a line of its own
    over = talk.call("vault", "write", path="notes/a.md", content="CANARY", mode="overwrite")
    assert (root / "notes" / "a.md").read_text() == "CANARY"
    assert over["added_bytes"] < 0
    assert "CANARY" not in json.dumps([more, over])


def test_creating_is_for_new_files_and_writing_for_those_that_are_there(talk):
    talk.call("vault", "create", path="a.md", content="x")
    assert code(talk, "create", path="a.md", content="y") == "conflict"
    assert code(talk, "create", path="A.MD", content="y") == "conflict"
    assert code(talk, "write", path="b.md", content="y", mode="append") == "not_found"
    assert code(talk, "write", path="b.md", content="y", mode="overwrite") == "not_found"
    assert code(talk, "replace", path="b.md", find="y", replace="z") == "not_found"
    assert code(talk, "write", path="a.md", content="y", mode="prepend") == "invalid_parameter"
    assert talk.call("vault", "read", path="a.md", full=True)["text"] == "x"


def test_a_stale_version_changes_nothing(talk):
    old = talk.call("vault", "create", path="a.md", content="one")["version"]
    talk.call("vault", "write", path="a.md", content="two", mode="overwrite", expected_version=old)
    for tool, more in [
        ("write", {"content": "three", "mode": "overwrite"}),
        ("replace", {"find": "two", "replace": "three"}),
    ]:
        refused = talk.refused("vault", tool, path="a.md", expected_version=old, **more)
        assert refused["code"] == "conflict"
        assert refused["details"]["current_version"] == talk.call("vault", "read", path="a.md", full=True)["version"]
    assert code(talk, "move", from_path="a.md", to_path="b.md", expected_version=old) == "conflict"
    assert talk.call("vault", "read", path="a.md", full=True)["text"] == "two"


def test_reading_wants_a_range_unless_full_and_says_what_it_applied(talk):
    talk.call("vault", "create", path="a.md", content="".join(f"line {number}\n" for number in range(1, 101)))
    read = talk.call("vault", "read", path="a.md", range={"start_line": 10, "end_line": 12})
    assert read["text"] == "line 10\nline 11\nline 12\n"
    assert read["applied_range"] == {"start_line": 10, "end_line": 12}
    assert read["address"] == "tokonoma://vault/a.md#L10-L12"
    assert talk.call("vault", "read", path="a.md", range={"start_line": 99, "end_line": 500})["applied_range"] == {
        "start_line": 99,
        "end_line": 100,
    }
    cut = talk.call("vault", "read", path="a.md", full=True, limits={"max_chars": 50})
    assert (cut["truncated"], cut["truncated_reason"]) == (True, "max_chars")
    assert len(cut["text"]) <= 50
    assert cut["next_range"]["start_line"] == cut["applied_range"]["end_line"] + 1
    for wrong in [
        {},
        {"full": True, "range": {"start_line": 1, "end_line": 2}},
        {"range": {"start_line": 5, "end_line": 4}},
        {"range": {"start_line": 101, "end_line": 102}},
        {"range": {"start_line": 0, "end_line": 1}},
        {"range": {"start_line": 1, "end_line": True}},
        {"full": True, "limits": {"max_chars": 20_001}},
        {"full": True, "lines": 3},
    ]:
        assert code(talk, "read", path="a.md", **wrong) == "invalid_parameter"


def test_an_empty_file_and_a_long_line_can_be_read(talk):
    talk.call("vault", "create", path="empty.md", content="")
    empty = talk.call("vault", "read", path="empty.md", full=True)
    assert (empty["text"], empty["total_lines"], empty["applied_range"]) == ("", 0, None)
    talk.call("vault", "create", path="long.txt", content="x" * 30_000)
    assert len(talk.call("vault", "read", path="long.txt", full=True)["text"]) == 8_000


def test_files_are_listed_by_folder_and_glob_a_page_at_a_time(talk, root):
    for number in range(203):
        (root / f"n{number:03}.md").write_text("x\n")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "x.json").write_text("{}")
    (root / "deep" / ".hidden.md").write_text("no")
    (root / "deep" / "data.bin").write_bytes(b"\xff\xfe\0")
    while "indexing" in (first := talk.call("vault", "ls")):  # on a busy machine the first list is not complete
        pass
    assert (first["total"], len(first["items"]), first["has_more"]) == (205, 200, True)
    rest = talk.call("vault", "ls", cursor=first["next_cursor"])
    listed = [each["path"] for each in first["items"] + rest["items"]]
    assert listed == sorted(listed)
    assert len(set(listed)) == 205
    assert [each["path"] for each in talk.call("vault", "ls", relative_dir="deep")["items"]] == [
        "deep/data.bin",
        "deep/er/x.json",
    ]
    globs = {"*.json": 1, "**/*.json": 1, "n00?.md": 10, "n0{01,02}.md": 2, "!*.md": 2, "[n]20[0-2].md": 3}
    for glob, count in globs.items():
        assert talk.call("vault", "ls", glob=glob)["total"] == count, glob
    assert code(talk, "ls", glob="{a") == "invalid_parameter"
    assert code(talk, "ls", glob="{a,b}" * 200) == "invalid_parameter"
    assert code(talk, "ls", relative_dir="nowhere") == "not_found"
    assert code(talk, "ls", cursor="x") == "invalid_parameter"


def test_what_people_do_with_other_programs_is_noticed(talk, root):
    talk.call("vault", "create", path="a.md", content="alpha\n")
    (root / "a.md").write_text("omega\n")  # the same size, and perhaps the same moment
    assert talk.call("vault", "search", query="omega")["items"][0]["path"] == "a.md"
    assert talk.call("vault", "search", query="alpha")["items"] == []
    assert talk.call("vault", "read", path="a.md", full=True)["text"] == "omega\n"
    (root / "b.md").write_text("omega too\n")
    assert len(talk.call("vault", "search", query="omega")["items"]) == 2
    (root / "a.md").unlink()
    assert [each["path"] for each in talk.call("vault", "search", query="omega")["items"]] == ["b.md"]
    assert code(talk, "read", path="a.md", full=True) == "not_found"


def test_searching_plain_loose_and_by_pattern(talk, root):
    (root / "a.md").write_text("データ・ベースの設定\nＰａｓｓｗｏｒｄ policy\ne-mail address\nerror 404 here\n")
    find = lambda **more: [each["line"] for each in talk.call("vault", "search", **more)["items"]]  # noqa: E731
    assert find(query="password") == [2]
    assert find(query="email") == []
    assert find(query="email", mode="loose") == [3]
    assert find(query="データベース", mode="loose") == [1]
    assert find(query=r"error \d{3}", mode="regex") == [4]
    assert find(query=r"(a+)+$", mode="regex") == []
    assert code(talk, "search", query="(", mode="regex") == "invalid_parameter"
    assert code(talk, "search", query=r"(a)\1", mode="regex") == "invalid_parameter"
    assert code(talk, "search", query="", mode="plain") == "invalid_parameter"
    assert code(talk, "search", query="x", limit=201) == "invalid_parameter"
    (root / "bomb.txt").write_text("a" * 50_000 + "!\n")
    assert find(query=r"^(a|a)*b$", mode="regex") == []


def test_search_pages_through_every_line_once(talk, root):
    for name in "abc":
        (root / f"{name}.txt").write_text("hit\nmiss\n" * 20)
    seen, cursor = [], None
    while True:
        page = talk.call("vault", "search", query="hit", limit=7, **({"cursor": cursor} if cursor else {}))
        seen += [(each["path"], each["line"]) for each in page["items"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen == [(f"{name}.txt", line) for name in "abc" for line in range(1, 41, 2)]


def test_replacing_text_counts_what_it_did_and_what_remains(talk, root):
    (root / "a.md").write_text("one two one two one\n")
    done = talk.call("vault", "replace", path="a.md", find="one", replace="1")
    assert (done["replaced"], done["remaining"]) == (1, 2)
    done = talk.call("vault", "replace", path="a.md", find="one", replace="1", max_replacements=10)
    assert (done["replaced"], done["remaining"]) == (2, 0)
    assert (root / "a.md").read_text() == "1 two 1 two 1\n"
    assert code(talk, "replace", path="a.md", find="nine", replace="9") == "not_found"
    assert code(talk, "replace", path="a.md", replace="9") == "invalid_parameter"
    assert code(talk, "replace", path="a.md", find="1", heading="x", replace="9") == "invalid_parameter"


def test_replacing_a_section_by_its_heading(talk, root):
    text = "# A\nintro\n\n## Setup\nold\n### Deep\nolder\n\n```\n## Setup\n```\n## Next\nstays\n\nUnder\n=====\nlined\n"
    (root / "a.md").write_text(text)
    talk.call("vault", "replace", path="a.md", heading="## setup", replace="new\n")
    assert (root / "a.md").read_text() == "# A\nintro\n\n## Setup\nnew\n## Next\nstays\n\nUnder\n=====\nlined\n"
    talk.call("vault", "replace", path="a.md", heading="Under", replace="new")
    assert (root / "a.md").read_text().endswith("Under\n=====\nnew\n")
    talk.call("vault", "replace", path="a.md", heading="A/Next", replace="## Then\nnow\n")
    assert "## Then\nnow\nUnder" in (root / "a.md").read_text()
    refused = talk.refused("vault", "replace", path="a.md", heading="Nothing", replace="x")
    assert refused["code"] == "not_found"
    assert "Then" in refused["details"]["headings"]
    (root / "b.md").write_text("# One\n## Same\n# Two\n## Same\n")
    assert code(talk, "replace", path="b.md", heading="Same", replace="x") == "conflict"
    talk.call("vault", "replace", path="b.md", heading="Two/Same", replace="x")
    assert (root / "b.md").read_text() == "# One\n## Same\n# Two\n## Same\nx\n"


def test_every_version_is_kept_and_can_be_restored_also_after_a_move(talk, root):
    versions = [talk.call("vault", "create", path="a.md", content="0")["version"]]
    for number in range(1, 4):
        done = talk.call("vault", "write", path="a.md", content=str(number), mode="overwrite")
        versions.append(done["version"])
    moved = talk.call("vault", "move", from_path="a.md", to_path="deep/b.md")
    assert (moved["origin"], moved["path"]) == ("a.md", "deep/b.md")
    assert not (root / "a.md").exists()
    past = talk.call("vault", "history", path="deep/b.md")["items"]
    assert [each["action"] for each in past] == ["move", "overwrite", "overwrite", "overwrite", "create"]
    assert [each.get("previous_version") for each in past] == [None, versions[2], versions[1], versions[0], None]
    pages, cursor = [], None
    while True:
        page = talk.call("vault", "history", path="deep/b.md", limit=2, **({"cursor": cursor} if cursor else {}))
        pages += page["items"]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert pages == past
    talk.call("vault", "restore", path="deep/b.md", version=versions[0][:12])
    assert (root / "deep" / "b.md").read_text() == "0"
    (root / "deep" / "b.md").unlink()
    talk.call("vault", "restore", path="deep/b.md", version=versions[3])
    assert (root / "deep" / "b.md").read_text() == "3"
    assert code(talk, "restore", path="deep/b.md", version="f" * 64) == "not_found"
    assert code(talk, "history", path="nothing.md") == "not_found"


def test_a_file_that_a_person_changed_is_kept_too_before_it_is_overwritten(talk, root):
    talk.call("vault", "create", path="a.md", content="ours")
    (root / "a.md").write_text("theirs")
    done = talk.call("vault", "write", path="a.md", content="ours again", mode="overwrite")
    talk.call("vault", "restore", path="a.md", version=done["previous_version"])
    assert (root / "a.md").read_text() == "theirs"


def test_moving_goes_where_nothing_is(talk, root):
    talk.call("vault", "create", path="a.md", content="a")
    talk.call("vault", "create", path="b.md", content="b")
    assert code(talk, "move", from_path="a.md", to_path="b.md") == "conflict"
    assert code(talk, "move", from_path="c.md", to_path="d.md") == "not_found"
    assert ((root / "a.md").read_text(), (root / "b.md").read_text()) == ("a", "b")


def test_artifacts_take_markdown_and_json_alone(talk, root):
    for path in ["artifacts/x.md", "artifacts/deep/x.JSON", "Artifacts/y.md"]:
        talk.call("vault", "create", path=path, content="{}")
    assert (root / "artifacts" / "y.md").exists()  # one folder, however it is spelt
    for path in ["artifacts/x.txt", "artifacts/x", "artifacts/.md", "artifacts", "ARTIFACTS/x.exe", "ａrtifacts/x.sh"]:
        assert code(talk, "create", path=path, content="x") == "forbidden", path
    talk.call("vault", "create", path="drafts/x.exe", content="x")
    assert code(talk, "move", from_path="drafts/x.exe", to_path="artifacts/x.exe") == "forbidden"
    assert sorted(each.name for each in (root / "artifacts").iterdir()) == ["deep", "x.md", "y.md"]


def test_a_daily_file_is_made_and_only_added_to(talk, root):
    day = "artifacts/daily/2026-03-01.md"
    talk.call("vault", "create", path=day, content="morning\n")
    talk.call("vault", "write", path=day, content="evening\n", mode="append")
    text = (root / day).read_text()
    assert text == "morning\nevening\n"
    version = talk.call("vault", "history", path=day)["items"][0]["previous_version"]
    talk.call("vault", "create", path="other.md", content="x")
    spellings = [day, "Artifacts/DAILY/2026-03-01.md", "artifacts\\daily\\2026-03-01.md", f"./{day.replace('/', '//')}"]
    for spelt in spellings:
        assert code(talk, "write", path=spelt, content="x", mode="overwrite") == "forbidden"
        assert code(talk, "replace", path=spelt, find="morning", replace="x") == "forbidden"
        assert code(talk, "replace", path=spelt, heading="x", replace="x") == "forbidden"
        assert code(talk, "restore", path=spelt, version=version) == "forbidden"
        assert code(talk, "move", from_path=spelt, to_path="x.md") == "forbidden"
    assert code(talk, "move", from_path="other.md", to_path="artifacts/daily/2026-03-02.md") == "forbidden"
    for name in ["notes.md", "2026-3-1.md", "2026-02-30.md", "2026-03-01.json", "20260301.md", "x/2026-03-01.md"]:
        assert code(talk, "create", path=f"artifacts/daily/{name}", content="x") == "forbidden", name
    assert (root / day).read_text() == text
    assert "append" in talk.refused("vault", "write", path=day, content="x", mode="overwrite")["message"]


def test_what_is_no_text_or_too_large_is_told_so(talk, root):
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    (root / "zero.txt").write_bytes(b"a\0b")
    with (root / "big.txt").open("wb") as file:
        file.truncate(50 * 2**20)
    for path in ("latin.txt", "zero.txt", "big.txt"):
        assert code(talk, "read", path=path, full=True) == "forbidden"
        assert code(talk, "scan", path=path) == "forbidden"
        assert code(talk, "write", path=path, content="x", mode="append") == "forbidden"
    assert [each.get("text", True) for each in talk.call("vault", "ls")["items"]] == [False, False, False]
    assert talk.call("vault", "search", query="a")["items"] == []
    assert (root / "latin.txt").read_bytes() == b"caf\xe9\n"
    assert code(talk, "create", path="x.md", content="a\0b") == "invalid_parameter"


def test_a_file_is_a_record_of_the_house(talk, app, root):
    talk.call("vault", "create", path="notes/a.md", content="# Rice\nboil it\n# Tea\nsteep it\n")
    with app.database.reading() as rows:
        whole = app.registry.read_record(rows, "tokonoma://vault/notes/a.md")
        part = app.registry.read_record(rows, "tokonoma://vault/notes/a.md#L3-L4")
        assert app.registry.read_record(rows, "tokonoma://vault/notes/none.md") is None
        assert app.registry.read_record(rows, "tokonoma://vault/../x") is None
    assert whole.text.startswith("# Rice")
    assert (part.text, part.namespace, part.classification) == ("# Tea\nsteep it\n", "/notes", "internal")
    call = Call("vault", "find", {}, Caller("cli"), identified=OWNER, masks=NO_MASKS)
    hits = app.search.find(call, Query("steep"), SearchFilter(("vault",)), ("public", "internal"))
    assert hits.items[0].address == "tokonoma://vault/notes/a.md#L3-L4"
