"""A folder with everything in it that a search could overlook, and what a plain walk finds there."""

import os
import socket
import unicodedata
from pathlib import Path

TERM = "返品"
PROSE = f"# {TERM}について\n{TERM}は三十日以内に通知してください。ただし、生鮮食品を除きます。\n"
READ = {
    "plain.md": PROSE.encode(),
    "mark.md": b"\xef\xbb\xbf" + PROSE.encode(),
    "sjis.md": PROSE.encode("cp932"),
    "euc.md": PROSE.encode("euc_jp"),
    "jis.md": PROSE.encode("iso2022_jp"),
    "utf16.md": PROSE.encode("utf-16"),
    "utf16-be-without-a-mark.md": PROSE.encode("utf-16-be"),
    "data.json": f'{{"{TERM}": 1}}'.encode(),
    unicodedata.normalize("NFD", "ガイド/プリンター.md"): PROSE.encode(),
}
READ_WHERE_NOBODY_WRITES = {
    "con.md": PROSE.encode(),
    "家族👨\u200d👩.md": PROSE.encode(),
    "Note: it.md": PROSE.encode(),
}
NOT_READ = {
    "latin.md": ("Prüfung der Geräte\n".encode("latin-1"), "encoding"),
    "binary.md": (b"\x00\x01\x02PNG" * 20, "not_text"),
    ".hidden.md": (PROSE.encode(), "hidden"),
    "a\nb.md": (PROSE.encode(), "odd_name"),
    " space.md": (PROSE.encode(), "odd_name"),
    os.fsdecode(b"bytes\xff.md"): (PROSE.encode(), "odd_name"),
    "two\\parts.md": (PROSE.encode(), "odd_name"),
    unicodedata.normalize("NFD", "二つのガ.md"): (PROSE.encode(), "same_name"),
}


def write_nasty(folder: Path, outside: Path) -> dict[str, str]:
    """Fill a folder; the reason of each file in it that cannot be searched."""
    outside.mkdir()
    (outside / "secret.md").write_text(PROSE, encoding="utf-8")
    for path, data in {
        **READ,
        **READ_WHERE_NOBODY_WRITES,
        **{each: data for each, (data, _) in NOT_READ.items()},
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / unicodedata.normalize("NFC", "二つのガ.md")).write_text(PROSE, encoding="utf-8")
    (folder / ".git" / "objects").mkdir(parents=True)
    for number in range(3):
        (folder / ".git" / "objects" / f"{number}.md").write_text("x")
    with (folder / "huge.md").open("wb") as file:
        file.truncate(17 * 2**20)
    deep = folder.joinpath(*["d"] * 34)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text(PROSE, encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    os.link(outside / "secret.md", folder / "hard.md")
    os.mkfifo(folder / "pipe.md")
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
    os.chdir(here)
    others = {"huge.md": "too_large", "link.md": "symlink", "linked": "symlink", "hard.md": "hard_link"}
    others |= {"pipe.md": "not_a_file", "socket.md": "not_a_file", ".git": "hidden"}
    return {path: reason for path, (_, reason) in NOT_READ.items()} | others


def count_walked(folder: Path) -> int:
    """The files that a plain walk finds, a link to a folder being one; without the server's own."""
    count = 0
    for place, folders, files in os.walk(folder):
        if Path(place) == folder and ".system" in folders:
            folders.remove(".system")
        count += len(files) + sum((Path(place) / each).is_symlink() for each in folders)
    return count
