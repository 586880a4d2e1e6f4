"""Claude Code, installed into the checkout when a test first needs it: 235 MB from npm. Its tests take 15 s of CPU, and
took 35 s on 2 cores with a load average of 10."""

import fcntl
import functools
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "2.1.197"
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "claude-code"


@functools.cache
def find_claude() -> Path:
    """The program; installed once, by one process at a time."""
    npm = shutil.which("npm")
    if npm is None or sys.platform != "linux":
        pytest.skip("npm is not installed, or there is no package of Claude Code for this system")
    package = f"claude-code-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}"
    program = FOLDER / VERSION / "node_modules" / "@anthropic-ai" / package / "claude"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.is_file():
            _install(npm, package, FOLDER / VERSION)
    return program


def _install(npm: str, package: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    made = subprocess.run(
        [*command, f"@anthropic-ai/{package}@{VERSION}"], cwd=folder, capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"Claude Code cannot be installed here:\n{made.stdout}\n{made.stderr}")
