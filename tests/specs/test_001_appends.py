"""specs/001 over the wire: appends share one stem of earlier bytes, and every version of the history comes back."""

import hashlib
import random
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.cli.call import call_owner_tool


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


@pytest.fixture
def root(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept(root: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in (root / ".system" / "versions").rglob("*/*")}


def append(talk, text: str, path: str = "log.md") -> str:
    return talk.call("vault", "write", path=path, content=text, mode="append")["previous_version"]


def check_history(talk, root: Path, contents: dict[str, bytes], path: str = "log.md") -> None:
    """Every version can be restored, byte for byte."""
    items = talk.call("vault", "history", path=path, limit=200)["items"]
    past = {item["previous_version"]: None for item in items if "previous_version" in item}
    assert past.keys() <= contents.keys()
    for version in past:
        talk.call("vault", "restore", path=path, version=version)
        assert (root / path).read_bytes() == contents[version]


def version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_an_append_to_a_long_log_stores_what_is_new_and_no_copy(talk, root):
    text = "2026-11-16 a request was answered after a while\n" * 4_200
    (root / "log.md").write_text(text)
    append(talk, "one\n")
    assert list(kept(root).values()) == [len(text)]
    contents, data = {version_of(text.encode()): text.encode()}, b""
    for number in range(5):
        data = (root / "log.md").read_bytes()
        assert append(talk, f"line {number}\n") == version_of(data)
        contents[version_of(data)] = data
        assert list(kept(root).values()) == [len(data)], "one stem, as long as the newest earlier version"
    assert talk.call("vault", "history", path="log.md")["items"][0]["previous_bytes"] == len(data)
    for version, wanted in contents.items():
        talk.call("vault", "restore", path="log.md", version=version)
        assert (root / "log.md").read_bytes() == wanted


def test_any_order_of_changes_leaves_every_version_restorable(talk, root):
    chance = random.Random(16)
    talk.call("vault", "create", path="log.md", content="first")
    contents: dict[str, bytes] = {}
    for number in range(60):
        data = (root / "log.md").read_bytes()
        contents[version_of(data)] = data
        match chance.choice(["append"] * 5 + ["overwrite", "edit", "restore", "delete", "cut"]):
            case "append":
                append(talk, f"{number} 行\n" if number % 3 else f"{number}")
            case "overwrite":
                talk.call("vault", "write", path="log.md", content=f"new {number}\n", mode="overwrite")
            case "delete":
                talk.call("vault", "delete", path="log.md")
                talk.call("vault", "restore", path="log.md", version=version_of(data))
            case "restore":
                past = talk.call("vault", "history", path="log.md")["items"]
                older = [item["previous_version"] for item in past if "previous_version" in item]
                talk.call("vault", "restore", path="log.md", version=chance.choice(older or [append(talk, "more")]))
            case by_another_program:  # the bytes that the stem holds are then in no file of the vault
                edited = b"edited " + data if by_another_program == "edit" else data[: data.rfind(b"\n") + 1]
                (root / "log.md").write_bytes(edited)
                contents[version_of(edited)] = edited
                append(talk, "after that")
    check_history(talk, root, contents)


def test_two_files_that_begin_alike_do_not_mix(talk, root):
    for path in ("a.md", "b.md"):
        talk.call("vault", "create", path=path, content="# Log\n")
    seen: dict[str, dict[str, bytes]] = {"a.md": {}, "b.md": {}}
    for number in range(6):
        for path in ("a.md", "b.md"):
            data = (root / path).read_bytes()
            seen[path][append(talk, f"{path} {number}\n", path)] = data
    for path, contents in seen.items():
        check_history(talk, root, contents | {version_of((root / path).read_bytes()): (root / path).read_bytes()}, path)


@pytest.mark.parametrize("harm", ["garbage", "torn", "gone", "short", "rotten"])
def test_a_stem_that_was_not_written_to_its_end_is_never_taken_for_a_version(talk, root, harm):
    talk.call("vault", "create", path="log.md", content="0\n")
    contents: dict[str, bytes] = {}
    for number in range(1, 4):
        data = (root / "log.md").read_bytes()
        contents[append(talk, f"{number}\n")] = data
    (stem,) = (root / ".system" / "versions").rglob("*.stem")
    now = (root / "log.md").read_bytes()
    match harm:
        case "garbage":  # the size was on the disk before the bytes
            stem.write_bytes(stem.read_bytes() + b"\0\0")
        case "torn":
            stem.write_bytes(now[:-1])
        case "gone":
            stem.unlink()
        case "rotten":
            stem.write_bytes(b"X" + stem.read_bytes()[1:])
        case _:
            stem.write_bytes(stem.read_bytes()[:-1])
    contents[append(talk, "4\n")] = now
    data = (root / "log.md").read_bytes()
    contents[append(talk, "5\n")] = data
    lost = {"garbage": 0, "torn": 0, "gone": 3, "short": 0, "rotten": 3}[harm]
    for version in list(contents)[lost:]:
        talk.call("vault", "restore", path="log.md", version=version)
        assert (root / "log.md").read_bytes() == contents[version]
    for version in list(contents)[:lost]:
        assert talk.refused("vault", "restore", path="log.md", version=version)["code"] == "not_found"


def test_a_version_from_before_stems_is_read_and_the_next_ones_share_a_stem(app, talk, root):
    talk.call("vault", "create", path="log.md", content="one\n")
    talk.call("vault", "write", path="log.md", content="two\n", mode="overwrite")
    one = version_of(b"one\n")
    assert kept(root) == {one: 4}
    two, three = append(talk, "three\n"), append(talk, "four\n")
    assert kept(root) == {one: 4, f"{two}.stem": 10}
    for version, text in ((one, "one\n"), (two, "two\n"), (three, "two\nthree\n")):
        talk.call("vault", "restore", path="log.md", version=version)
        assert (root / "log.md").read_text() == text


def test_a_purge_cuts_the_stem_to_the_versions_that_stay(app, talk, root):
    talk.call("vault", "create", path="log.md", content="one\n")
    old = [append(talk, f"{number}\n") for number in range(4)]
    talk.call("vault", "write", path="log.md", content="all new\n", mode="overwrite")
    assert list(kept(root).values()) == [len("one\n0\n1\n2\n3\n")]
    assert call_owner_tool(app, "vault", "purge", {"days": 0, "dry_run": True}) == {"replaced": 4}
    assert call_owner_tool(app, "vault", "purge", {"days": 0}) == {"replaced": 4}
    assert list(kept(root).values()) == [len("one\n0\n1\n2\n3\n")], "the last version has all of it"
    for version in old:
        assert talk.refused("vault", "restore", path="log.md", version=version)["code"] == "not_found"
    talk.call("vault", "write", path="log.md", content="newer\n", mode="overwrite")
    assert call_owner_tool(app, "vault", "purge", {"days": 0}) == {"replaced": 1}
    assert kept(root) == {version_of(b"all new\n"): 8}, "no version needs the stem any more"
    with app.database.reading() as rows:
        assert rows.row("select count(*) from vault_prefix") == (0,)


def test_a_purge_removes_the_end_of_a_stem_that_only_a_purged_version_has(app, talk, root):
    talk.call("vault", "create", path="log.md", content="one\n")
    short, long = append(talk, "two\n"), append(talk, "three\n")
    talk.call("vault", "create", path="other.md", content="one\n")
    talk.call("vault", "write", path="other.md", content="else\n", mode="overwrite")  # needs the short version
    for text in ("x\n", "y\n"):
        talk.call("vault", "write", path="log.md", content=text, mode="overwrite")
    call_owner_tool(app, "vault", "purge", {"days": 0})
    assert kept(root)[f"{short}.stem"] == 4
    assert talk.refused("vault", "restore", path="log.md", version=long)["code"] == "not_found"
    talk.call("vault", "restore", path="other.md", version=short)
    assert (root / "other.md").read_text() == "one\n"
