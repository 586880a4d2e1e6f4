"""A font with Japanese glyphs for the pictures. Tests do without: to them a box is as wide as a letter."""

import subprocess
import sys
import tarfile
from pathlib import Path

from conformance.node import ROOT
from web.browser import FONTS, find_chromium

FOLDER = ROOT / "build" / "fonts"
PINNED = Path(__file__).with_name("fonts.txt")


def find_fonts() -> Path:
    """A file for fontconfig with the fonts of Chromium's package and IPAexGothic, which PyPI has in a package."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "ipaexg.ttf").is_file():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-r", PINNED]
        subprocess.run([*command, "-d", FOLDER], check=True)
        (archive,) = FOLDER.glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            member = next(each for each in tar if each.name.endswith("/ipaexg.ttf"))
            member.name = "ipaexg.ttf"
            tar.extract(member, FOLDER, filter="data")
        archive.unlink()
    settings = FONTS.format(folder=find_chromium() / "fonts")
    file = FOLDER / "fonts.conf"
    file.write_text(settings.replace("<cachedir>", f"<dir>{FOLDER}</dir>\n<cachedir>"))
    return file
