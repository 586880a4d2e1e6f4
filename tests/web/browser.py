"""Chromium for tests: from npm, without root and without a download of Playwright's own browsers."""

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import tarfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from conformance.node import NODE, packages
from playwright.sync_api import Browser, Page, sync_playwright

UNPACK = Path(__file__).with_name("unpack.mjs")

# The package's own file points at folders of AWS Lambda: without fonts no text is drawn, and axe sees no contrast.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>{folder}</dir><dir>/usr/share/fonts</dir><dir prefix="xdg">fonts</dir>
<cachedir>{folder}/cache</cachedir>
</fontconfig>
"""


@functools.cache
def find_chromium() -> Path:
    """The folder with `chromium`, its libraries and fonts; unpacked once, by one process at a time."""
    modules = packages()
    source, folder = modules / "@sparticuz" / "chromium", modules / ".chromium"
    wanted = (source / "package.json").read_text()
    with (modules / ".chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / ".unpacked"
        if not done.is_file() or done.read_text() != wanted:
            _unpack(source / "bin", folder)
            done.write_text(wanted)
    return folder


def _unpack(source: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([NODE, UNPACK, source, folder], check=True, capture_output=True)
    for archive in folder.glob("*.tar"):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        archive.unlink()
    (folder / "chromium").chmod(0o755)
    (folder / "fonts.conf").write_text(FONTS.format(folder=folder / "fonts"))


@contextlib.contextmanager
def launch_chromium(fonts: Path | None = None) -> Generator[Browser]:
    """`fonts`: a file for fontconfig, if not that of the package's fonts."""
    folder = find_chromium()
    env: dict[str, str | float | bool] = {
        **os.environ,
        "LD_LIBRARY_PATH": str(folder / "lib"),
        "FONTCONFIG_FILE": str(fonts or folder / "fonts.conf"),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=folder / "chromium", args=["--no-sandbox", "--headless=shell"], env=env
        )
        yield browser
        browser.close()


@functools.cache
def _read_axe() -> str:
    return (packages() / "axe-core" / "axe.min.js").read_text()


def find_violations(page: Page) -> list[str]:
    """What axe calls serious or critical, as `rule: elements`."""
    # By the debugger, not as an element: the policy of the page allows no script.
    page.evaluate(_read_axe())
    found: Any = page.evaluate("axe.run(document)")
    return [
        f"{each['id']}: {[node['html'] for node in each['nodes']]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
