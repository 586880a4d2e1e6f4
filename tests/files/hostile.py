"""Paths that must not lead anywhere: what callers may write, and what may lie on the disk."""

import os
import socket
import unicodedata
from pathlib import Path

_up = ["..", "../", "../x.md", "a/../x.md", "a/../../x.md", "./../x.md", "a/./../../x.md", "a//..//x.md", "..//x.md"]
_up += ["../" * deep + "etc/passwd" for deep in range(2, 12)]
_up += ["a/" * deep + "../" * (deep + 1) + "x.md" for deep in range(1, 6)]
_up += ["notes/..", "notes/../", "notes/../..", "notes/a.md/..", "notes/a.md/../../x.md", "．．/x.md", "a/．．/x.md"]
_up += ["‥/x.md", "․․/x.md", "a/‥"]  # one letter that is written like two dots; two that are like one
_up += [".. /x.md", "../ x.md", "a/.. /x.md", "...", ".../x.md", "a/.../x.md", "a./x.md", "a/x.md."]

_absolute = ["/", "//", "/etc/passwd", "//etc/passwd", "///x.md", "/notes/a.md", "/./x.md", "/../x.md"]
_absolute += [
    "/proc/self/mem",
    "/dev/null",
    "/dev/zero",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/tmp/x.md",
    "/a",
]

_drives = [f"{letter}:{rest}" for letter in "CcZz" for rest in ("", "/x.md", "\\x.md", "x.md", "\\..\\x.md")]
_drives += ["file:///etc/passwd", "file:x.md", "http://example.com/x", "tokonoma://vault/a.md"]
_drives += [
    "\\\\server\\share\\x.md",
    "\\\\?\\C:\\x.md",
    "\\\\.\\pipe\\x",
    "//server/share/x.md",
    "~",
    "~/x.md",
    "~/.ssh/id_rsa",
    "~\\x.md",
]

_back = ["..\\x.md", "a\\..\\x.md", "..\\..\\x.md", "\\x.md", "\\etc\\passwd", "a\\..\\..\\x.md", "a/..\\x.md"]
_back += ["..\\/x.md", ".\\..\\x.md", "a\\\\..\\x.md", "a/\\../x.md", "notes\\..\\..\\x.md"]

_control = [f"a{chr(code)}b.md" for code in (0, 1, 7, 8, 9, 10, 11, 12, 13, 27, 31, 127, 128, 133, 159)]
_control += ["\0", "a.md\0", "\0a.md", "a\0/../x.md", "a.md\0.json", "a\n../x.md", "..\0/x.md", "\r\n", "a/\t/x.md"]

_MARKS = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202d\u202e\u2060\u2066\ufeff\u00ad"
_unseen = [f"a{letter}b.md" for letter in _MARKS]
_unseen += [f".{letter}./x.md" for letter in "\u200b\u200d\u2060\ufeff"]
_unseen += ["\u2028.md", "\u2029.md", "\u115f.md", "\u3164.md", "\U000e0041.md", "\ud800.md", "a\udfff.md", "\ue000.md"]
_unseen += ["\ufff9x.md", "\u180ex.md", ".sys\u200btem/x.md", "artifacts\u200b/x.exe"]

_spaces = [" ", "  ", " a.md", "a.md ", "a /x.md", " /x.md", "a/ /x.md", "\u3000a.md", "a.md\u3000", "\u00a0a.md"]
_spaces += ["a. /b.md"]

_devices = ["CON", "con", "con.md", "NUL", "nul.json", "a/NUL/x.md", "AUX.md", "PRN", "COM1", "com9.md", "LPT1.txt"]
_devices += ["a/aux", "COM¹", "conin$", "CONOUT$"]

_long = ["a" * 256 + ".md", "あ" * 86 + ".md", "a/" * 33 + "x.md", "x" * 1025, "a/" * 600 + "x.md", "é" * 128 + ".md"]

_empty = ["", ".", "./", "././", "a/", "notes/", "notes/.", "./.", "notes//", "notes\\"]

WRONG = [
    *_up, *_absolute, *_drives, *_back, *_control, *_unseen, *_spaces, *_devices, *_long, *_empty,
]  # fmt: skip
"""Refused by their look alone: invalid_path."""

_SYSTEM = [".system", ".SYSTEM", ".System", ".ſystem", ".ｓystem", "．system", ".ⓢystem", "./.system", ".//.system"]
_reserved = [f"{name}{rest}" for name in _SYSTEM for rest in ("/x.md", "/lock", "/versions/x.md", "\\x.md")]
_reserved += [".git/config", ".GIT/hooks/post-commit.md", ".git\\config", "a/.git/config", "a/b/.Git/hooks/x.md"]
RESERVED = _reserved
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
