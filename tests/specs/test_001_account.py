"""specs/001: every file below a root is searched or listed with a reason, and the counts are those of a plain walk."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from files.nasty import NOT_READ, PROSE, READ, READ_WHERE_NOBODY_WRITES, TERM, count_walked, write_nasty
from policy.houses import MASKING, enforce
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach, create_key
from tokonoma.files.text import MAX_SEARCHED

NFC: Callable[[str], str] = lambda text: unicodedata.normalize("NFC", text)  # noqa: E731
NFD: Callable[[str], str] = lambda text: unicodedata.normalize("NFD", text)  # noqa: E731


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


@pytest.fixture
def manuals(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"])
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def vault(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    folder.mkdir(parents=True)
    return folder


def key(app: App, name: str, root: str) -> Http:
    with app.write_as_owner("keys.create") as tx:
        return Http(app, create_key(tx, name, build_reach(root=root, default=root)))


def find_all(talk: Lines | Http, module: str, **params):
    """The summary, the candidates, and what was not searched: path → reason."""
    told = talk.call(module, "find", **params)
    listed = {}
    for kind in ("candidates", "unscanned"):
        page = talk.call(module, "hits", trace_id=told["trace_id"], kind=kind, limit=200)
        assert page["total"] == len(page["items"])
        listed[kind] = page["items"]
    return told, listed["candidates"], {each["title"]: each["reason"] for each in listed["unscanned"]}


def shown(path: str) -> str:
    """As a path is written in an answer."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text.replace("\n", "\\n").replace("\u200d", "\\u200d")


def added_up(summary) -> int:
    return summary["scanned_files"] + summary.get("unscanned_files", 0) + sum(summary["left_out_files"].values())


def test_the_account_of_the_manuals_is_what_a_walk_finds(talk, manuals, tmp_path):
    reasons = {
        f"book/{shown(path)}": reason for path, reason in write_nasty(manuals / "book", tmp_path / "out").items()
    }
    (manuals / "root.md").write_text(PROSE, encoding="utf-8")
    (manuals / "book" / "picture.png").write_bytes(b"\x89PNG")
    (manuals / "book" / "glossary.yml").write_text("terms: []\n")
    others = {"root.md": "outside_manual", "book/picture.png": "not_a_manual_file"}
    others |= {"book/glossary.yml": "not_a_manual_file", "/".join(["book", *["d"] * 31]): "too_deep"}
    told, candidates, unscanned = find_all(talk, "manual", query=TERM)
    assert unscanned == reasons | others
    assert added_up(told["summary"]) == count_walked(manuals)
    assert told["summary"]["left_out_files"]["hidden"] == 4  # a file, and a folder with three
    found = {each["ref"]["path"] for each in candidates}
    assert found == {NFC(path) for path in (*READ, *READ_WHERE_NOBODY_WRITES, "二つのガ.md")}
    listed = {each["path"]: each.get("encoding") for each in talk.call("manual", "ls", manual_id="book")["items"]}
    assert (listed["sjis.md"], listed["euc.md"], listed["utf16.md"]) == ("Shift_JIS", "EUC-JP", "UTF-16")
    for path in found - {"data.json"}:
        text = talk.call("manual", "read", ref={"manual_id": "book", "path": path}, scope="section")["text"]
        assert text == PROSE
    narrow = talk.call("manual", "find", query=TERM, manual_id="book")["summary"]
    assert added_up(narrow) == count_walked(manuals / "book")


def test_the_account_of_the_vault_is_what_a_walk_finds(talk, vault, tmp_path):
    reasons = {shown(path): reason for path, reason in write_nasty(vault / "notes", tmp_path / "out").items()}
    reasons |= {shown(path): "odd_name" for path in READ_WHERE_NOBODY_WRITES if path != "Note: it.md"}
    reasons = {f"notes/{path}": reason for path, reason in reasons.items()}
    talk.call("vault", "create", path="top.md", content="x")  # the server's own folder is no part of it
    told, candidates, unscanned = find_all(talk, "vault", query=TERM)
    assert unscanned == reasons | {"/".join(["notes", *["d"] * 31]): "too_deep"}
    assert added_up(told["summary"]) == count_walked(vault)
    found = {each["ref"]["path"].removeprefix("notes/") for each in candidates}
    assert found == {*READ, "Note: it.md", "二つのガ.md"}
    read = talk.call("vault", "read", path="notes/sjis.md", full=True)
    assert (read["text"], read["encoding"]) == (PROSE, "Shift_JIS")
    lines = {each["path"] for each in talk.call("vault", "search", query=TERM, limit=200)["items"]}
    assert {"notes/sjis.md", "notes/euc.md", "notes/utf16.md"} <= lines
    listed = talk.call("vault", "ls")
    assert listed["total"] + sum(listed["left_out_files"].values()) == count_walked(vault)
    assert {each["path"]: each["reason"] for each in listed["items"] if "reason" in each} == {
        "notes/latin.md": "encoding", "notes/binary.md": "not_text", "notes/huge.md": "too_large",
    }  # fmt: skip


def test_a_search_is_not_ready_while_a_file_is_left_out_that_could_hold_the_topic(talk, manuals, vault):
    for folder in (manuals / "m", vault):
        folder.mkdir(exist_ok=True)
        for number in range(4):
            (folder / f"{number}.md").write_text(f"# Part {number}\n{TERM}の話\n", encoding="utf-8")
    for name, (data, reason) in NOT_READ.items():
        for module in ("manual", "vault"):
            assert talk.call(module, "find", query=TERM)["summary"]["integration_status"] == "ready"
        twin = [NFC(name)] if reason == "same_name" else []
        for path in (name, *twin):
            (manuals / "m" / path).write_bytes(data)
            (vault / path).write_bytes(data)
        told = talk.call("manual", "find", query=TERM)
        in_vault = talk.call("vault", "find", query=TERM)["summary"]["integration_status"]
        if reason != "hidden":
            assert told["summary"]["integration_status"] == "needs_followup"
            action = told["next_actions"][0]
            assert (action["type"], action["params"]["kind"]) == ("manual_hits", "unscanned")
        assert (in_vault == "ready") is (reason in ("hidden", "not_text"))  # a picture in the vault is nothing unusual
        for path in (name, *twin):
            (manuals / "m" / path).unlink()
            (vault / path).unlink()


def test_a_picture_does_not_make_a_search_unready(talk, manuals):
    (manuals / "m" / ".git").mkdir(parents=True)
    for number in range(4):
        (manuals / "m" / f"{number}.md").write_text(f"# Part {number}\n{TERM}の話\n", encoding="utf-8")
    (manuals / "m" / ".git" / "config").write_text("x")
    (manuals / "m" / "p.png").write_bytes(b"\x89PNG\x00")
    summary = talk.call("manual", "find", query=TERM)["summary"]
    assert summary["integration_status"] == "ready"
    assert summary["left_out_files"] == {"hidden": 1, "not_a_manual_file": 1}


def test_only_who_may_see_a_manual_learns_what_is_left_out_of_it(app, talk, manuals, vault):
    for team in ("ours", "theirs"):
        (manuals / team).mkdir()
        (manuals / team / "manual.yml").write_text(f"space: /{team}\n")
        (vault / team).mkdir()
        for folder in (manuals / team, vault / team):
            (folder / "a.md").write_text(PROSE, encoding="utf-8")
            (folder / "latin.md").write_bytes(NOT_READ["latin.md"][0])
            (folder / " odd.md").write_text("x")
    http = key(app, "ours", "/ours")
    for module in ("manual", "vault"):
        _, _, unscanned = find_all(http, module, query=TERM)
        expected = {"ours/latin.md": "encoding", "ours/ odd.md": "odd_name"}
        assert unscanned == expected | ({"ours/manual.yml": "not_a_manual_file"} if module == "manual" else {})
        told = talk.call(module, "find", query=TERM)
        assert http.refused(module, "hits", trace_id=told["trace_id"], kind="unscanned")["code"] == "not_found"
    assert http.call("vault", "ls")["left_out_files"] == {"odd_name": 1}


def test_what_the_policy_hides_is_told_to_the_owner_alone(app, talk, manuals, vault):
    for folder in (manuals / "m", vault):
        folder.mkdir(exist_ok=True)
        (folder / "open.md").write_text(PROSE, encoding="utf-8")
        (folder / "who.md").write_text(f"# {TERM}\ntaro.yamada@example.jp\n", encoding="utf-8")
        (folder / " taro.yamada@example.jp.md").write_text("x")
    enforce(app, "version: 2\nboundary_classes: { pii: { allow: ['nobody'] }, internal: { allow: ['*'] } }\n")
    bot = key(app, "bot", "/")
    for module, start in (("manual", "m/"), ("vault", "")):
        _, _, unscanned = find_all(talk, module, query=TERM)
        assert unscanned == {f"{start}who.md": "policy"}
        told, candidates, unscanned = find_all(bot, module, query=TERM)
        assert [each["ref"]["path"] for each in candidates] == ["open.md"]
        assert unscanned == {}
        assert "left_out_files" not in told["summary"]


def test_what_could_not_be_read_is_searched_as_soon_as_it_can_be(talk, manuals):
    (manuals / "m").mkdir()
    (manuals / "m" / "a.md").write_text(PROSE, encoding="utf-8")
    (manuals / "m" / "late.md").write_bytes(NOT_READ["latin.md"][0])
    told, _, unscanned = find_all(talk, "manual", query=TERM)
    assert unscanned == {"m/late.md": "encoding"}
    (manuals / "m" / "late.md").write_text(PROSE, encoding="utf-8")
    again = talk.call("manual", "hits", trace_id=told["trace_id"], kind="unscanned")["items"]
    assert again == [{"title": "m/late.md", "reason": "changed"}]
    _, candidates, unscanned = find_all(talk, "manual", query=TERM, only_unscanned_from_trace_id=told["trace_id"])
    assert [each["ref"]["path"] for each in candidates] == ["late.md"]
    assert unscanned == {}


@pytest.mark.parametrize("spell", [NFC, NFD], ids=["NFC", "NFD"])
@pytest.mark.parametrize("write", [NFC, NFD], ids=["NFC", "NFD"])
def test_a_name_in_either_composition_works_everywhere(talk, manuals, vault, write, spell):
    manual, path = "ガイド", "パーツ/プリンター.md"
    for root in (manuals, vault):
        file = root / write(manual) / write(path)
        file.parent.mkdir(parents=True)
        file.write_text(PROSE, encoding="utf-8")
    named = {"manual_id": spell(manual), "path": spell(path), "start_line": 1}
    found = talk.call("manual", "find", query=TERM, manual_id=spell(manual))
    (hit,) = talk.call("manual", "hits", trace_id=found["trace_id"])["items"]
    assert hit["ref"]["path"] == NFC(path)
    assert talk.call("manual", "read", ref=named, scope="section", trace_id=found["trace_id"])["text"] == PROSE
    assert talk.call("manual", "toc", manual_id=spell(manual), path=spell(path))["total"] == 1
    assert talk.call("manual", "ls", manual_id=spell(manual))["total"] == 1
    assert talk.call("manual", "excepts", ref=named)["total"] == 1
    whole = spell(f"{manual}/{path}")
    address = {"address": f"tokonoma://manual/{whole}#L1"}
    for number, ref in enumerate((named, address, {"target": "vault", "path": whole})):
        talk.call("bridge", "copy_section", from_ref=ref, to_path=f"copies/{number}.md")
        assert (vault / "copies" / f"{number}.md").read_text(encoding="utf-8") == PROSE
    talk.call("bridge", "copy_file", manual_id=spell(manual), from_path=spell(path), to_path="copies/whole.md")
    assert talk.call("vault", "read", path=whole, full=True)["text"] == PROSE
    for scope in ({"relative_dir": spell(manual)}, {"glob": spell("**/プリン*.md")}):
        assert talk.call("vault", "ls", **scope)["total"] == 1
        assert talk.call("vault", "find", query=TERM, scope=scope)["summary"]["candidates"] == 1
    talk.call("vault", "write", path=whole, content="more", mode="append")
    assert talk.call("vault", "history", path=whole)["items"][0]["action"] == "append"
    assert [each.name for each in (vault / write(manual) / write("パーツ")).iterdir()] == [write("プリンター.md")]


def resume_to_the_end(talk, query: str, **budget):
    """Every round, until nothing is proposed any more: the candidates, the last answer, the number of rounds."""
    seen: set[tuple[str, int]] = set()
    told = talk.call("manual", "find", query=query, budget=budget)
    for number in range(1, 200):
        page = talk.call("manual", "hits", trace_id=told["trace_id"], limit=200)["items"]
        seen |= {(each["ref"]["path"], each["ref"]["start_line"]) for each in page}
        proposed = [each["params"] for each in told["next_actions"] if each["type"] == "manual_find"]
        if not proposed or told["summary"]["unscanned_sections_count"] == 0:
            return seen, told, number
        more = proposed[0].get("budget", {})
        told = talk.call("manual", "find", **{**proposed[0], "budget": {**budget, **more}})
    raise AssertionError("it never ends")


def test_resuming_ends_for_a_file_that_is_too_large_and_a_section_that_is_too_long(talk, manuals):
    (manuals / "m").mkdir()
    (manuals / "m" / "a.md").write_text(PROSE, encoding="utf-8")
    (manuals / "m" / "long.md").write_text(f"# one\nx\n# {TERM}\n" + "y" * MAX_SEARCHED, encoding="utf-8")
    with (manuals / "m" / "huge.md").open("wb") as file:
        file.truncate(17 * 2**20)
    seen, told, rounds = resume_to_the_end(talk, TERM)
    assert seen == {("a.md", 1), ("long.md", 3)}
    assert rounds <= 2  # one more if the long file was not indexed yet
    again = talk.call("manual", "find", query=TERM, only_unscanned_from_trace_id=told["trace_id"])
    assert "nothing is left that can be searched" in again["summary"]["warnings"][0]
    items = talk.call("manual", "hits", trace_id=again["trace_id"], kind="unscanned")["items"]
    assert [(each.get("ref", {}).get("start_line"), each["reason"]) for each in items] == [
        (3, "hard_limit"), (None, "too_large"),
    ]  # fmt: skip


@pytest.mark.parametrize("budget", [{"time_ms": 1}, {"max_candidates": 1}, {"time_ms": 1, "max_candidates": 1}])
def test_resuming_with_a_small_budget_finds_the_same_in_the_end(talk, manuals, budget):
    (manuals / "m").mkdir()
    for number in range(30):
        topic = {0: TERM, 1: "返 品"}.get(number % 5, "別の話")
        (manuals / "m" / f"{number}.md").write_text(f"# 章{number}\n{topic}\n" * 2, encoding="utf-8")
    whole = talk.call("manual", "find", query=TERM)
    named = [
        (each["ref"]["path"], each["ref"]["start_line"])
        for each in talk.call("manual", "hits", trace_id=whole["trace_id"], limit=200)["items"]
        if each["score"] >= 0.6
    ]
    seen, told, rounds = resume_to_the_end(talk, TERM, **budget)
    assert len(named) == 24
    assert set(named) <= seen
    assert rounds > 1
    assert told["summary"]["unscanned_sections_count"] == 0


def test_vectors_that_are_still_being_made_are_told_of(app, talk, manuals, monkeypatch):
    (manuals / "m").mkdir()
    for number in range(8):
        (manuals / "m" / f"{number}.md").write_text(f"# 章{number}\nかばんを運ぶ話 {number}\n", encoding="utf-8")
    worker = app.search.worker
    with monkeypatch.context() as patched:
        patched.setattr(worker, "wake", lambda: None)
        assert talk.call("manual", "find", query="鞄")["summary"]["pending_vectors"] == 8
        bot = key(app, "elsewhere", "/elsewhere")
        assert "pending_vectors" not in bot.call("manual", "find", query="鞄")["summary"]
    worker.catch_up()
    answers = []
    for _ in range(2):
        told, candidates, unscanned = find_all(talk, "manual", query="鞄")
        assert "pending_vectors" not in told["summary"]
        answers.append((told["summary"], candidates, unscanned))
    assert answers[0] == answers[1]
    assert len(answers[0][1]) == 8


def test_a_file_in_another_encoding_is_not_written_to_in_part(talk, vault):
    before = PROSE.encode("cp932")
    (vault / "a.md").write_bytes(before)
    version = talk.call("vault", "read", path="a.md", full=True)["version"]
    for tool, params in {
        "write": {"mode": "append", "content": "追記"},
        "replace": {"find": TERM, "replace": "返却"},
    }.items():
        refused = talk.refused("vault", tool, path="a.md", **params)
        assert refused["code"] == "forbidden"
        assert "Shift_JIS" in refused["message"]
    copied = talk.refused(
        "bridge", "copy_section", from_ref={"target": "vault", "path": "a.md"}, to_path="a.md", mode="append"
    )
    assert "Shift_JIS" in copied["message"]
    assert (vault / "a.md").read_bytes() == before
    talk.call("vault", "write", path="a.md", mode="overwrite", content="新しい本文です。\n")
    assert (vault / "a.md").read_text(encoding="utf-8") == "新しい本文です。\n"
    talk.call("vault", "restore", path="a.md", version=version)
    assert (vault / "a.md").read_bytes() == before
    talk.call("bridge", "copy_section", from_ref={"target": "vault", "path": "a.md"}, to_path="b.md")
    assert (vault / "b.md").read_text(encoding="utf-8") == PROSE


def test_personal_data_in_another_encoding_are_masked_too(app, talk, manuals, vault):
    enforce(app, MASKING)
    text = f"# 窓口\n{TERM}の問い合わせは taro.yamada@example.jp までお願いします。\n"
    (manuals / "m").mkdir()
    for folder in (manuals / "m", vault):
        (folder / "a.md").write_bytes(text.encode("cp932"))
    read = talk.call("manual", "read", ref={"manual_id": "m", "path": "a.md"}, scope="section")
    assert "[masked:email]" in read["text"]
    assert "[masked:email]" in talk.call("vault", "read", path="a.md", full=True)["text"]
    found = [talk.call("manual", "find", query=each) for each in ("taro.yamada@example.jp", "hana@example.com")]
    hits = [talk.call("manual", "hits", trace_id=each["trace_id"])["items"] for each in found]
    assert hits[0] == hits[1]  # every address is masked alike
    assert talk.call("vault", "search", query="taro")["items"] == []
