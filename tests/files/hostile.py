"""Paths that must not lead anywhere: what callers may write, and what may lie on the disk."""

import os
import socket
import unicodedata
from pathlib import Path

_UP = ["..", "../", "../x.md", "a/../x.md", "a/../../x.md", "./../x.md", "a/./../../x.md", "a//..//x.md", "..//x.md"]
_UP += ["../" * deep + "etc/passwd" for deep in range(2, 12)]
_UP += ["a/" * deep + "../" * (deep + 1) + "x.md" for deep in range(1, 6)]
_UP += ["notes/..", "notes/../", "notes/../..", "notes/a.md/..", "notes/a.md/../../x.md", "．．/x.md", "a/．．/x.md"]
_UP += ["‥/x.md", "․․/x.md", "a/‥"]  # one letter that is written like two dots; two that are like one
_UP += [".. /x.md", "../ x.md", "a/.. /x.md", "...", ".../x.md", "a/.../x.md", "a./x.md", "a/x.md."]

_ABSOLUTE = ["/", "//", "/etc/passwd", "//etc/passwd", "///x.md", "/notes/a.md", "/./x.md", "/../x.md"]
_ABSOLUTE += [
    "/proc/self/mem",
    "/dev/null",
    "/dev/zero",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/tmp/x.md",
    "/a",
]

_DRIVES = [f"{letter}:{rest}" for letter in "CcZz" for rest in ("", "/x.md", "\\x.md", "x.md", "\\..\\x.md")]
_DRIVES += ["file:///etc/passwd", "file:x.md", "http://example.com/x", "tokonoma://vault/a.md"]
_DRIVES += [
    "\\\\server\\share\\x.md",
    "\\\\?\\C:\\x.md",
    "\\\\.\\pipe\\x",
    "//server/share/x.md",
    "~",
    "~/x.md",
    "~/.ssh/id_rsa",
    "~\\x.md",
]

_BACK = ["..\\x.md", "a\\..\\x.md", "..\\..\\x.md", "\\x.md", "\\etc\\passwd", "a\\..\\..\\x.md", "a/..\\x.md"]
_BACK += ["..\\/x.md", ".\\..\\x.md", "a\\\\..\\x.md", "a/\\../x.md", "notes\\..\\..\\x.md"]

_CONTROL = [f"a{chr(code)}b.md" for code in (0, 1, 7, 8, 9, 10, 11, 12, 13, 27, 31, 127, 128, 133, 159)]
_CONTROL += ["\0", "a.md\0", "\0a.md", "a\0/../x.md", "a.md\0.json", "a\n../x.md", "..\0/x.md", "\r\n", "a/\t/x.md"]

_MARKS = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202d\u202e\u2060\u2066\ufeff\u00ad"
_UNSEEN = [f"a{letter}b.md" for letter in _MARKS]
_UNSEEN += [f".{letter}./x.md" for letter in "\u200b\u200d\u2060\ufeff"]
_UNSEEN += ["\u2028.md", "\u2029.md", "\u115f.md", "\u3164.md", "\U000e0041.md", "\ud800.md", "a\udfff.md", "\ue000.md"]
_UNSEEN += ["\ufff9x.md", "\u180ex.md", ".sys\u200btem/x.md", "artifacts\u200b/x.exe"]

_SPACES = [" ", "  ", " a.md", "a.md ", "a /x.md", " /x.md", "a/ /x.md", "\u3000a.md", "a.md\u3000", "\u00a0a.md"]
_SPACES += ["a. /b.md"]

_DEVICES = ["CON", "con", "con.md", "NUL", "nul.json", "a/NUL/x.md", "AUX.md", "PRN", "COM1", "com9.md", "LPT1.txt"]
_DEVICES += ["a/aux", "COM¹", "conin$", "CONOUT$"]

_LONG = ["a" * 256 + ".md", "あ" * 86 + ".md", "a/" * 33 + "x.md", "x" * 1025, "a/" * 600 + "x.md", "é" * 128 + ".md"]

_EMPTY = ["", ".", "./", "././", "a/", "notes/", "notes/.", "./.", "notes//", "notes\\"]

WRONG = [
    *_UP, *_ABSOLUTE, *_DRIVES, *_BACK, *_CONTROL, *_UNSEEN, *_SPACES, *_DEVICES, *_LONG, *_EMPTY,
]  # fmt: skip
"""Refused by their look alone: invalid_path."""

_SYSTEM = [".system", ".SYSTEM", ".System", ".ſystem", ".ｓystem", "．system", ".ⓢystem", "./.system", ".//.system"]
RESERVED = [f"{name}{rest}" for name in _SYSTEM for rest in ("/x.md", "/lock", "/versions/x.md", "\\x.md")]
RESERVED += [".git/config", ".GIT/hooks/post-commit.md", ".git\\config", "a/.git/config", "a/b/.Git/hooks/x.md"]
"""The house's own, and what runs as a program when somebody works with it: forbidden."""


def traps(root: Path, outside: Path) -> list[str]:
    """Lay links, pipes and devices into a root; the paths that lead to them. Nothing of `outside` may be seen."""
    secret = outside / "secret.md"
    secret.write_text("CANARY outside\n")
    (outside / "folder").mkdir()
    (outside / "folder" / "secret.md").write_text("CANARY outside\n")
    (root / "real").mkdir(parents=True)
    (root / "link.md").symlink_to(secret)
    (root / "dangling.md").symlink_to(outside / "nothing.md")
    (root / "folder").symlink_to(outside / "folder")
    (root / "real" / "up").symlink_to("../..")
    (root / "real" / "self").symlink_to(".")
    (root / "real" / "inside.md").symlink_to("../real/plain.md")
    (root / "real" / "plain.md").write_text("plain\n")
    (root / "real" / "loop").symlink_to("loop")
    os.link(secret, root / "hard.md")
    os.mkfifo(root / "pipe.md")
    listener = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)  # the path of a socket is short
    try:
        listener.bind("socket.md")
    finally:
        os.chdir(here)
        listener.close()
    (root / "chain").symlink_to("folder")
    (root / "slash").symlink_to("/")
    (root / "proc").symlink_to("/proc/self")
    return [
        "link.md", "LINK.md", "dangling.md", "folder/secret.md", "folder/new.md", "real/up/outside/secret.md",
        f"real/up/{outside.name}/secret.md", "real/self/plain.md", "real/self/self/plain.md", "real/inside.md",
        "real/loop", "real/loop/x.md", "hard.md", "pipe.md", "socket.md", "chain/secret.md", "slash/etc/passwd",
        "proc/environ", "proc/root/etc/passwd", "real/self/self/self/plain.md", "FOLDER/secret.md", "chain/new.md",
    ]  # fmt: skip


def twins() -> list[tuple[str, str]]:
    """Two spellings of one name."""
    names = ["Café.md", "ガイド.md", "Ñandú.md", "한글.md", "Ω.md", "ÅNGSTRÖM.md"]
    return [(unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)) for name in names]
