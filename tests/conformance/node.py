"""The Node packages that `package.json` names, installed into the checkout when a test first needs them."""

import fcntl
import functools
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "node_modules"
NODE = MODULES / ".bin" / "node"


@functools.cache
def packages() -> Path:
    """`node_modules`; installed once, by one process at a time, and again whenever `package.json` changes."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: the TypeScript client and the conformance suite need it")
    wanted = hashlib.sha256((ROOT / "package.json").read_bytes()).hexdigest()
    MODULES.mkdir(exist_ok=True)
    done = MODULES / ".installed"
    with (MODULES / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text() != wanted:
            _install(npm)
            done.write_text(wanted)
    return MODULES


def _install(npm: str) -> None:
    # Every version is pinned in package.json; a lock file would pin the address of a registry too.
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"npm install failed:\n{made.stdout}\n{made.stderr}"
