"""Files in backups: taken with their hashes, checked, put back below their roots and nowhere else."""

import hashlib
import io
import json
import os
import stat
import tracemalloc
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from store.words import HARD, SETS, STEPS, change, fill, state

from tokonoma.core.errors import Conflict, Invalid
from tokonoma.store import file_archive
from tokonoma.store.backup import create_backup, restore_backup, verify_backup
from tokonoma.store.database import Database
from tokonoma.store.file_restore import RestoredFiles
from tokonoma.store.migrate import migrate

OLD = hashlib.sha256(b"old").hexdigest()
CONTENTS = {
    "notes/a.md": b"one\n",
    "図面/見積.md": "見積もり\n".encode(),
    "picture.png": bytes(range(256)) * 40,
    "empty": b"",
    "two\nlines": b"odd",
    " spaces ": b"odd",
    "not utf-8 \udcff": b"odd",
    "not utf-8 \\udcff": b"its twin in the zip",
    f".system/versions/{OLD[:2]}/{OLD}": b"old",
}


@pytest.fixture
def words(database: Database) -> Database:
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, HARD)
    return database


@pytest.fixture
def roots(tmp_path) -> dict[str, str]:
    """A vault and manuals apart from each other."""
    found = {"manuals": tmp_path / "books", "vault": tmp_path / "elsewhere" / "vault"}
    for path, content in CONTENTS.items():
        put(found["vault"] / path, content)
    put(found["manuals"] / "guide" / "a.md", b"# Guide\n")
    return {name: str(folder) for name, folder in found.items()}


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def files_below(folder: str) -> dict[str, bytes]:
    root = Path(folder)
    found = (each for each in root.rglob("*") if each.is_file() and not each.is_symlink())
    kept = {str(each.relative_to(root)): each.read_bytes() for each in found}
    return {path: content for path, content in kept.items() if path != ".system/lock"}


def fresh(tmp_path: Path) -> dict[str, str]:
    return {"manuals": str(tmp_path / "new" / "manuals"), "vault": str(tmp_path / "new" / "vault")}


def test_files_and_versions_come_back_into_an_empty_place(words, roots, tmp_path):
    file = Path(roots["vault"]) / "notes" / "a.md"
    file.chmod(0o640)
    os.utime(file, ns=(1, 1_700_000_000_000_000_000))
    made = create_backup(words, tmp_path / "x.backup", roots)
    assert (made.files.included, made.files.count) == (True, len(CONTENTS) + 1)
    assert made.files.size == sum(map(len, CONTENTS.values())) + 8
    assert verify_backup(tmp_path / "x.backup").files == made.files
    before, target = state(words), fresh(tmp_path)
    change(words)
    restored = restore_backup(words, tmp_path / "x.backup", SETS, safety=tmp_path, roots=target)
    assert restored.files == RestoredFiles(written=len(CONTENTS) + 1, replaced=0, unchanged=0, others=0)
    assert files_below(target["vault"]) == CONTENTS
    assert files_below(target["manuals"]) == {"guide/a.md": b"# Guide\n"}
    status = (Path(target["vault"]) / "notes" / "a.md").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o640, 1_700_000_000_000_000_000)
    assert state(words) == before
    assert [each.name for each in Path(target["manuals"]).iterdir()] == ["guide"]


def test_what_is_not_a_file_is_left_out_and_named(words, roots, tmp_path):
    vault = Path(roots["vault"])
    (tmp_path / "secret").write_text("outside")
    (vault / "link.md").symlink_to(tmp_path / "secret")
    (vault / "folder").symlink_to(tmp_path)
    os.link(tmp_path / "secret", vault / "hard.md")
    os.mkfifo(vault / "pipe")
    put(vault / ".git" / "hooks" / "post-commit", b"code")
    put(vault / ".system" / "drafts" / "1", b"half")
    made = create_backup(words, tmp_path / "x.backup", roots)
    assert sorted(made.files.left_out) == [
        "vault/.git (hidden)", "vault/folder (a link)", "vault/hard.md (a hard link)", "vault/link.md (a link)",
        "vault/pipe (not a file)",
    ]  # fmt: skip
    assert made.files.count == len(CONTENTS) + 1


def test_a_file_that_is_there_is_saved_before_it_is_replaced_and_others_stay(words, roots, tmp_path):
    create_backup(words, tmp_path / "x.backup", roots)
    vault = Path(roots["vault"])
    put(vault / "notes" / "a.md", b"later\n")
    put(vault / "new.md", b"new\n")
    inode = (vault / "empty").stat().st_ino
    (tmp_path / "safe").mkdir()
    restored = restore_backup(words, tmp_path / "x.backup", SETS, safety=tmp_path / "safe", roots=roots)
    assert restored.files == RestoredFiles(written=1, replaced=1, unchanged=len(CONTENTS), others=1)
    assert restored.safety is not None
    assert files_below(roots["vault"]) == {**CONTENTS, "new.md": b"new\n"}
    assert (vault / "empty").stat().st_ino == inode
    restore_backup(words, restored.safety, SETS, safety=tmp_path, roots=roots)
    assert (vault / "notes" / "a.md").read_bytes() == b"later\n"


@pytest.mark.parametrize("obstacle", ["link", "folder", "linked folder"])
def test_what_is_in_the_way_stops_the_restore_before_anything_is_changed(words, roots, tmp_path, obstacle):
    create_backup(words, tmp_path / "x.backup", roots)
    target = fresh(tmp_path)
    put(tmp_path / "outside" / "a.md", b"mine")
    (tmp_path / "new" / "vault").mkdir(parents=True)
    place = tmp_path / "new" / "vault" / "notes"
    if obstacle == "linked folder":
        place.symlink_to(tmp_path / "outside")
    elif obstacle == "link":
        place.mkdir()
        (place / "a.md").symlink_to(tmp_path / "outside" / "a.md")
    else:
        (place / "a.md").mkdir(parents=True)
    change(words)
    before = state(words)
    with pytest.raises(Conflict) as refused:
        restore_backup(words, tmp_path / "x.backup", SETS, safety=tmp_path, roots=target)
    assert "notes/a.md" in refused.value.message
    assert (tmp_path / "outside" / "a.md").read_bytes() == b"mine"
    assert files_below(target["vault"]) == {}
    assert state(words) == before


def test_without_files_the_backup_says_so_and_no_file_is_touched(words, roots, tmp_path):
    made = create_backup(words, tmp_path / "x.backup")
    assert (made.files.included, made.files.count) == (False, 0)
    restored = restore_backup(words, tmp_path / "x.backup", SETS, safety=tmp_path, roots=fresh(tmp_path))
    assert restored.files is None
    create_backup(words, tmp_path / "y.backup", roots)
    assert restore_backup(words, tmp_path / "y.backup", SETS, safety=tmp_path, roots=None).files is None
    assert not (tmp_path / "new").exists()


def test_a_backup_of_an_earlier_version_holds_no_files_and_says_so(words, roots, tmp_path):
    """Format 1 as it was: pages and a seal, or a zip of tables."""
    plain = tmp_path / "plain"
    plain.touch()
    words.save_copy(plain)
    content = plain.read_bytes()
    if words.kind == "sqlite":
        seal = f"tokonoma backup 1 at {1:015d} sha256 {hashlib.sha256(content).hexdigest()}".encode().ljust(128, b"\n")
        plain.write_bytes(content + seal)
    assert verify_backup(plain).files is None
    before = state(words)
    change(words)
    assert restore_backup(words, plain, SETS, safety=tmp_path, roots=fresh(tmp_path)).files is None
    assert state(words) == before


def test_a_zip_in_a_row_is_not_taken_for_the_files_of_the_backup(words, tmp_path):
    """Somebody stores bytes that look like an archive of files; an old backup has no other archive after it."""
    forged = io.BytesIO()
    listed = [asdict(file_archive.SavedFile("vault", "evil.md", 4, hashlib.sha256(b"evil").hexdigest(), 420, 0, "m"))]
    with zipfile.ZipFile(forged, "w") as archive:
        archive.writestr("m", b"evil")
        manifest = {"format": 1, "included": True, "files": listed, "left_out": [], "changing": []}
        archive.writestr("files.json", json.dumps(manifest))
    with words.writing() as tx:
        tx.run("insert into word (text, raw) values ('zip', :raw)", raw=forged.getvalue())
    plain = tmp_path / "plain"
    plain.touch()
    words.save_copy(plain)
    if words.kind == "sqlite":
        content = plain.read_bytes()
        assert zipfile.is_zipfile(plain)
        seal = f"tokonoma backup 1 at {1:015d} sha256 {hashlib.sha256(content).hexdigest()}".encode().ljust(128, b"\n")
        plain.write_bytes(content + seal)
    assert verify_backup(plain).files is None
    made = create_backup(words, tmp_path / "x.backup", {})
    assert (made.files.included, made.files.count) == (True, 0)


def forged(source: Path, target: Path, edit) -> Path:
    """A backup with other files in it, sealed as one of ours: the seal is no secret."""
    target.write_bytes(source.read_bytes())
    with zipfile.ZipFile(source) as archive:
        found = json.loads(archive.read("files.json"))
        start = min(info.header_offset for info in archive.infolist())
        kept = [(info, archive.read(info)) for info in archive.infolist() if info.filename != "files.json"]
    edit(found)
    with target.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        with zipfile.ZipFile(file, "w") as archive:
            for info, content in kept:
                archive.writestr(info.filename, content)
            archive.writestr("files.json", json.dumps(found))
            archive.comment = b"\n" * 128
    file_archive._write_seal(target, 1)
    return target


HOSTILE = [
    "../evil", "notes/../../evil", "/etc/evil", "", "a//b", ".git/hooks/evil", ".system/lock", ".", "a\0b", 5,
    ".system/versions/../../evil", "notes/a.md", "notes/a.md/b",
]  # fmt: skip


def test_a_hostile_list_of_files_is_refused(words, roots, tmp_path):
    create_backup(words, tmp_path / "x.backup", roots)
    (tmp_path / "bad").touch()
    before, present = state(words), set(tmp_path.rglob("*"))
    for path in HOSTILE:

        def edit(found, path=path):
            next(each for each in found["files"] if each["path"] == "picture.png")["path"] = path

        bad = forged(tmp_path / "x.backup", tmp_path / "bad", edit)
        with pytest.raises(Invalid) as refused:
            restore_backup(words, bad, SETS, safety=tmp_path, roots=fresh(tmp_path))
        assert refused.value.reason in ("not_a_backup", "damaged")
    assert set(tmp_path.rglob("*")) == present
    assert state(words) == before


def test_a_file_that_is_not_what_its_hash_says_is_refused(words, roots, tmp_path):
    create_backup(words, tmp_path / "x.backup", roots)

    def edit(found):
        found["files"][0]["sha256"] = "0" * 64

    with pytest.raises(Invalid) as refused:
        verify_backup(forged(tmp_path / "x.backup", tmp_path / "bad", edit))
    assert refused.value.reason == "damaged"


def test_a_backup_whose_end_is_cut_off_is_refused(words, roots, tmp_path):
    create_backup(words, tmp_path / "x.backup", roots)
    content = (tmp_path / "x.backup").read_bytes()
    for cut in (1, 100, 128, 150, 1000):
        (tmp_path / "cut").write_bytes(content[:-cut])
        with pytest.raises(Invalid):
            verify_backup(tmp_path / "cut")


def test_the_database_and_the_backups_inside_a_root_are_not_its_files(sqlite_database, tmp_path):
    """Somebody made the data folder their vault: opening the live file by hand would drop SQLite's locks."""
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    home = Path(sqlite_database.location).parent
    (home / "backups").mkdir()
    put(home / "a.md", b"a")
    create_backup(sqlite_database, home / "backups" / "1.backup", {"vault": str(home)})
    made = create_backup(sqlite_database, home / "backups" / "2.backup", {"vault": str(home)})
    assert made.files.count == 1


def test_a_large_file_passes_in_bounded_memory(sqlite_database, tmp_path, monkeypatch):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    monkeypatch.setattr(file_archive, "_IN_MEMORY", 2**20)
    vault, size = tmp_path / "vault", 24 * 2**20
    vault.mkdir()
    with (vault / "large.bin").open("wb") as file:
        file.truncate(size)
    target = {"vault": str(tmp_path / "new")}
    tracemalloc.start()
    try:
        create_backup(sqlite_database, tmp_path / "x.backup", {"vault": str(vault)})
        restore_backup(sqlite_database, tmp_path / "x.backup", SETS, safety=tmp_path, roots=target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size // 2
    assert (tmp_path / "new" / "large.bin").stat().st_size == size


def test_forging_keeps_what_it_does_not_change(words, roots, tmp_path):
    """Or the tests above would refuse anything."""
    made = create_backup(words, tmp_path / "x.backup", roots)
    assert verify_backup(forged(tmp_path / "x.backup", tmp_path / "same", lambda found: None)).files == made.files
