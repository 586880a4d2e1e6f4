"""The Pythons of this machine, one of each version that is supported."""

import os
import shutil
import subprocess
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def find_pythons() -> dict[str, str]:
    """Version → program. PYTHONS names them, separated by spaces, instead of looking for them."""
    found: dict[str, str] = {}
    named = os.environ.get("PYTHONS", "").split()
    for program in named or _list_candidates():
        version = _read_version(program)
        if version in VERSIONS:
            found.setdefault(version, program)
    return dict(sorted(found.items()))


def _list_candidates() -> list[str]:
    places = [shutil.which(f"python{version}") or "" for version in VERSIONS]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    places += [str(path) for path in sorted(pyenv.glob("3.*/bin/python3"))]
    places += [str(path) for path in sorted((Path.home() / ".local/share/uv/python").glob("cpython-3.*/bin/python3"))]
    return [place for place in places if place]


def _read_version(program: str) -> str:
    """Empty for one that does not run, as a shim of pyenv without a version."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
