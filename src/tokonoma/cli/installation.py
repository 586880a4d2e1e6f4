"""How this program was installed, how it is upgraded and removed in the same way, and the newest version there is.

The package index is asked through the installer (pip or uv): it knows the index, the proxy and the certificates that an
upgrade would use, and this program needs no address of its own.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from tokonoma.app import read_environment
from tokonoma.core.errors import Unavailable

PACKAGE = "tokonoma"
IMAGE = "ghcr.io/tokonoma/tokonoma"
_CACHED = frozenset({"archive-v0", "environments-v2", "builds-v0"})  # folders of uv's cache
_ASK_SECONDS = 20.0  # for the index to answer; the installer itself gives up sooner
_NAME_END = re.compile(r"[\[ <>=!~]")
_EXTRA = re.compile(r"""extra == ['"]([\w-]+)""")
_NEWEST = re.compile(r"^tokonoma(?: \(|==)([^\s)]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    """`upgrade` and `remove` are commands that can be run; where they are empty, `advice` says what to do instead."""

    kind: str
    place: Path
    upgrade: Sequence[str] = ()
    remove: Sequence[str] = ()
    advice: str = ""
    runner: Sequence[str] = ()  # what starts it again; set where the program itself is in a cache, and may be gone


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """What the metadata of the installed package say, and which packages are beside it."""

    installer: str = ""
    origin: Mapping[str, Any] | None = None  # direct_url.json: not from an index
    requires: Sequence[str] = ()
    others: frozenset[str] = frozenset()


def read_package() -> InstalledPackage:
    try:
        found = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return InstalledPackage()
    origin = found.read_text("direct_url.json")
    others = frozenset((each.name or "").lower().replace("_", "-") for each in metadata.distributions())
    installer = (found.read_text("INSTALLER") or "").strip()
    return InstalledPackage(installer, json.loads(origin) if origin else None, found.requires or (), others)


def find_current_installation() -> Installation:
    """That of the running program."""
    return find_installation(read_package(), Path(sys.prefix), is_venv=sys.prefix != sys.base_prefix)


def find_installation(package: InstalledPackage, prefix: Path, *, is_venv: bool) -> Installation:
    """`prefix`: of the running Python; `is_venv`: whether it is a virtual environment."""
    name = f"{PACKAGE}[{','.join(extras)}]" if (extras := list_extras(package)) else PACKAGE
    origin = package.origin or {}
    source = str(origin.get("url", ""))
    if package.installer == "docker":
        advice = f"Run the image of the new version: `docker pull {IMAGE}`, then start the container again."
        return Installation("Docker image", prefix, advice=advice)
    if _is_bundle(prefix.parent):
        advice = "Open the .mcpb file of the new version with Claude Desktop; it replaces this one."
        return Installation("MCPB bundle", prefix.parent, advice=advice)
    if origin.get("dir_info", {}).get("editable"):
        folder = source.removeprefix("file://")
        advice = f"In {folder}, run `git pull` and `make install`."
        return Installation("checkout", Path(folder), advice=advice)
    if (prefix / "uv-receipt.toml").exists():
        return Installation("uv tool", prefix, ("uv", "tool", "upgrade", PACKAGE), ("uv", "tool", "uninstall", PACKAGE))
    if _CACHED & set(prefix.parts):
        advice = "Run `uvx tokonoma@latest` once, or `uv tool install tokonoma` to keep it."
        return Installation("uvx", prefix, advice=advice, runner=("uvx", PACKAGE))
    if "venvs" in prefix.parts and (prefix / "pipx_metadata.json").exists():
        return Installation("pipx", prefix, ("pipx", "upgrade", PACKAGE), ("pipx", "uninstall", PACKAGE))
    if "pipx" in prefix.parts:
        advice = "Run `pipx run --no-cache tokonoma` once, or `pipx install tokonoma` to keep it."
        return Installation("pipx run", prefix, advice=advice, runner=("pipx", "run", PACKAGE))
    return _find_plain(package, prefix, name, source, is_venv=is_venv)


def _find_plain(package: InstalledPackage, prefix: Path, name: str, source: str, *, is_venv: bool) -> Installation:
    """Installed with pip or `uv pip`, into a virtual environment or beside the Python of the system."""
    scripts = prefix / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(scripts / ("python.exe" if sys.platform == "win32" else "python3"))
    if not is_venv:
        python = sys.executable
    pip = (python, "-m", "pip") if "pip" in package.others else ("uv", "pip")
    at = () if "pip" in package.others else ("--python", python)
    user = ("--user",) if not is_venv and "pip" in package.others else ()
    remove = (*pip, "uninstall", *at, *(("--yes",) if "pip" in package.others else ()), PACKAGE)
    if source:  # from a file, a folder or a repository: the index may have another one, or none
        advice = f"It was installed from {source}. Install the new version from there in the same way."
        return Installation("pip", prefix, remove=remove, advice=advice)
    return Installation("pip", prefix, (*pip, "install", *at, *user, "--upgrade", name), remove)


def list_extras(package: InstalledPackage) -> list[str]:
    """The extras of which everything is installed: an upgrade has to name them again."""
    wanted: dict[str, set[str]] = {}
    for requirement in package.requires:
        text, _, marker = requirement.partition(";")
        if found := _EXTRA.search(marker):
            wanted.setdefault(found[1], set()).add(_NAME_END.split(text, 1)[0].lower().replace("_", "-"))
    return sorted(extra for extra, names in wanted.items() if extra != "dev" and names <= package.others)


def _is_bundle(folder: Path) -> bool:
    try:
        found: Any = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "manifest_version" in found


def look_up_newest(package: InstalledPackage) -> str:
    """The newest version in the package index; Unavailable, with the reason, if none was found in time."""
    if "pip" in package.others:
        words = [sys.executable, "-m", "pip", "index", "versions", PACKAGE]
        words += ["--timeout", "5", "--retries", "1", "--disable-pip-version-check", "--no-input"]
    elif uv := shutil.which("uv"):
        words = [uv, "pip", "compile", "-", "--no-deps", "--no-header", "--no-annotate", "--quiet", "--no-cache"]
    else:
        raise Unavailable("Neither pip nor uv is there to ask the package index.", reason="index")
    environ = {**read_environment(), "UV_HTTP_TIMEOUT": "5", "UV_HTTP_RETRIES": "0"}
    try:
        done = subprocess.run(
            words, input=PACKAGE, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False, env=environ
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"The package index did not answer in {_ASK_SECONDS:.0f} s.", reason="index") from error
    found = _NEWEST.search(done.stdout)
    if done.returncode != 0 or found is None:
        raise Unavailable(_explain_silence(done.stderr), reason="index")
    return found[1]


def _explain_silence(output: str) -> str:
    if "No matching distribution" in output and "connection" not in output.lower():
        return f"The package index has no version of {PACKAGE}."
    return "The package index cannot be reached: this machine may be offline."


def is_newer(version: str, than: str) -> bool:
    """Compare the numbers of two versions; one with a suffix (`1.0rc1`) is before the one without."""
    return _sort_key(version) > _sort_key(than)


def _sort_key(version: str) -> tuple[list[int], bool, str]:
    numbers, _, suffix = re.sub(r"[^\d.].*", lambda rest: " " + rest[0], version).partition(" ")
    parts = [int(each) for each in numbers.split(".") if each]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts, not suffix or suffix.startswith((".post", "+", "post")), suffix
