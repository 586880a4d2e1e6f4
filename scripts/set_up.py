"""Set up a virtual environment from a lock file, and say what is being done.

    python3 scripts/set_up.py VENV LOCK [--program]     every package of LOCK, checked by its hash; then the program
    VENV/bin/python scripts/set_up.py VENV LOCK --if-postgresql     only if the settings name a PostgreSQL database

`uv` does it if it is on PATH, else pip. Nothing is compiled beforehand: Python keeps the bytecode of what it imports.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
_COLLECTING = re.compile(r"\s*(?:Collecting|Processing (?:.*/)?)\s*([\w.-]+?)(?:[-=]|$|\s)")
_PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--no-compile", "--no-deps", "--progress-bar=off")


class SetUpFailed(Exception):
    """The last lines of a program that has failed."""


def main(arguments: "list[str]") -> int:
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:2]))
        print(f"Tokonoma needs Python 3.11 or newer; this is {version}. Choose one with: make PYTHON=python3.12 …")
        return 1
    words = [each for each in arguments if not each.startswith("--")]
    venv, lock = Path(words[0]), Path(words[1])
    if "--if-postgresql" in arguments and not needs_driver():
        return 0
    uv = shutil.which("uv")
    try:
        if not (venv / "pyvenv.cfg").exists():
            make_environment(venv, uv)
        install_packages(venv, lock, uv)
        if "--program" in arguments:
            install_program(venv, uv)
    except SetUpFailed as error:
        print(f"This has failed:\n{error}")
        return 1
    return 0


def needs_driver() -> bool:
    """Whether the settings name a PostgreSQL database whose driver is missing here."""
    from importlib.util import find_spec

    from tokonoma.config.home import find_home, load_settings

    url = load_settings(find_home(None, os.environ), {}, os.environ).get_text("database_url")
    return url.startswith(("postgresql:", "postgres:")) and find_spec("psycopg") is None


def make_environment(venv: Path, uv: "str | None") -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    how = "uv" if uv else "pip"
    print(f"Setting up {venv} with Python {version} and {how}. This happens once.", flush=True)
    command = [sys.executable, "-m", "venv", str(venv)]
    run_step([uv, "venv", "--seed", "--python", sys.executable, str(venv)] if uv else command, "environment", 0)


def install_packages(venv: Path, lock: Path, uv: "str | None") -> None:
    count = len(re.findall(r"(?m)^[\w.-]+==", lock.read_text("utf-8")))
    options = ["--require-hashes", "-r", str(lock)]
    python = find_python(venv)
    command = [uv, "pip", "install", "--python", python, "--no-deps"] if uv else [python, *_PIP]
    seconds = run_step([*command, *options], "packages", count)
    print(f"  {count} packages of {lock.name}, checked by their hashes ({seconds:.0f} s)", flush=True)


def install_program(venv: Path, uv: "str | None") -> None:
    """From this folder: a change of the source needs no new installation."""
    python = find_python(venv)
    command = [uv, "pip", "install", "--python", python, "--no-deps"] if uv else [python, *_PIP]
    seconds = run_step([*command, "--no-build-isolation", "-e", str(ROOT)], "program", 0)
    print(f"  the program ({seconds:.0f} s)", flush=True)


def find_python(venv: Path) -> str:
    return str(venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def run_step(command: "list[str]", name: str, count: int) -> float:
    """Run it; at a terminal one line shows how far it has come. Returns the seconds that it took."""
    started, done = time.monotonic(), 0
    last: deque[str] = deque(maxlen=15)
    shown = sys.stdout.isatty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            last.append(line.rstrip())
            found = _COLLECTING.match(line)
            done += found is not None
            if shown:
                what = f"{done}/{count} {found[1]}" if found and count else ""
                sys.stdout.write(f"\r\x1b[K  {name} {what}" if what or not done else "")
                sys.stdout.flush()
    if shown:
        sys.stdout.write("\r\x1b[K")
    if child.returncode:
        raise SetUpFailed("\n".join([" ".join(command), *last]))
    return time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
