"""Install from a folder, as from an index without network, in clean environments; then use the program."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from scripts.dist.build import ROOT, run

TALK = ROOT / "scripts" / "dist" / "talk.py"
NEXT = "99.0.0"


def fill_index(folder: Path, pythons: dict[str, str], built: list[Path]) -> None:
    """What an installation needs, for each Python, and what builds the source distribution."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("tokonoma-*"):
        old.unlink()
    for file in built:
        shutil.copy(file, folder)
    wheel = next(str(file) for file in built if file.suffix == ".whl")
    for version in pythons:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
        where = ["--only-binary", ":all:", "--python-version", version, "--implementation", "cp"]
        run([*download, *where, "--constraint", str(write_pins(folder)), wheel, "hatchling", "pip", "setuptools"])


def write_pins(folder: Path) -> Path:
    """The versions of the lock file, without hashes: it names files of all systems."""
    text = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    pins = folder.parent / "pins.txt"
    pins.write_text("\n".join(line.split(" --hash")[0].strip() for line in text.splitlines()) + "\n", "utf-8")
    return pins


def cut_off() -> list[str]:
    """Words before a command that take the network away from it, where this user may do that."""
    words = ["unshare", "--map-root-user", "--net", "--"] if shutil.which("unshare") else []
    return words if words and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0 else []


def clean_environment(**more: str) -> dict[str, str]:
    """Nothing of the index and the settings of this user."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "TOKONOMA_"))}
    return {**keep, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


def try_program(words: list[str], environ: dict[str, str], folder: Path) -> dict[str, Any]:
    """Talk with the program, without network; each time in a home of its own."""
    home = tempfile.mkdtemp(dir=folder)
    environ = {**environ, "TOKONOMA_HOME": home, "HOME": home, "TOKONOMA_LOG_LEVEL": "warning"}
    seen = json.loads(run([*cut_off(), sys.executable, str(TALK), *words], env=environ).splitlines()[-1])
    if not seen["found"] or seen["code"] != 0:
        raise SystemExit(f"{' '.join(words)} did not find what it saved: {seen}")
    return seen


def check_python(version: str, python: str, source: Path, index: Path, folder: Path) -> str:
    """Install the file `source` with pip from the index alone, and use it. Returns what was seen, in words."""
    venv = folder / f"{version}-{'wheel' if source.suffix == '.whl' else 'sdist'}"
    shutil.rmtree(venv, ignore_errors=True)
    environ = clean_environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(index))
    run([python, "-m", "venv", str(venv)], env=environ)
    program = str(venv / "bin" / "python")
    empty = measure(venv)
    run([*cut_off(), program, "-m", "pip", "install", "--quiet", str(source)], env=environ)
    run([program, "-m", "pip", "check"], env=environ)
    size = measure(venv) - empty
    seen = try_program([str(venv / "bin" / "tokonoma"), "stdio"], environ, folder)
    return f"{len(seen['tools'])} tools, a memo saved and found; {size / 1e6:.0f} MB installed"


def measure(folder: Path, *, compiled: bool = False) -> int:
    """Bytes of the files below a folder; `compiled`: with bytecode."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if compiled or path.suffix != ".pyc")


def check_runners(tools: Path, index: Path, folder: Path) -> dict[str, str]:
    """`uvx` and `pipx run`, each with a cache of its own, from the index alone."""
    found: dict[str, str] = {}
    version = next(index.glob("tokonoma-*.whl")).name.split("-")[1]
    uv = clean_environment(UV_CACHE_DIR=str(folder / "uv-cache"), UV_PYTHON_DOWNLOADS="never", UV_OFFLINE="1")
    uvx = [str(tools / "uvx"), "--no-index", "--find-links", str(index), f"tokonoma@{version}", "stdio"]
    require_runner(uvx, uv, "uvx", folder)
    found["uvx tokonoma"] = f"{len(try_program(uvx, uv, folder)['tools'])} tools, a memo saved and found"
    pipx = clean_environment(
        PIPX_HOME=str(folder / "pipx"), PIP_NO_INDEX="1", PIP_FIND_LINKS=str(index), UV_FIND_LINKS=str(index),
        UV_OFFLINE="1", UV_CACHE_DIR=str(folder / "uv-cache"), UV_PYTHON_DOWNLOADS="never",
    )  # fmt: skip
    words = [str(tools / "pipx"), "run", "--no-cache", f"tokonoma=={version}", "stdio"]
    require_runner(words, pipx, "pipx", folder)
    found["pipx run tokonoma"] = f"{len(try_program(words, pipx, folder)['tools'])} tools, a memo saved and found"
    return found


def require_runner(words: list[str], environ: dict[str, str], runner: str, folder: Path) -> None:
    """A client is given the runner, not the program in its cache."""
    only = Path(tempfile.mkdtemp(dir=folder))
    (only / runner).symlink_to(words[0])
    (only / "python3").symlink_to(sys.executable)
    environ = {**environ, "HOME": str(folder), "TOKONOMA_HOME": str(folder / "none"), "PATH": f"{only}:/usr/bin:/bin"}
    told = run([*words[:-1], "install", "cursor", "--dry-run"], env=environ)
    if f'"command": "{only / runner}"' not in told and '/uvx"' not in told:
        raise SystemExit(f"started by {runner}, the entry of a client is:\n{told}")


def check_upgrade(tools: Path, wheel: Path, index: Path, folder: Path) -> dict[str, str]:
    """`tokonoma upgrade` replaces a program that pip, `uv tool` and pipx have installed, and finds its data again."""
    newer = folder / "newer"
    shutil.rmtree(newer, ignore_errors=True)
    shutil.copytree(index, newer)
    old_version = wheel.name.split("-")[1]
    write_next(wheel, newer)
    found: dict[str, str] = {}
    for kind in ("pip", "uv tool", "pipx"):
        place = Path(tempfile.mkdtemp(dir=folder))
        environ = clean_environment(
            PATH=f"{place / 'bin'}{os.pathsep}{tools}{os.pathsep}{os.environ['PATH']}",
            PIP_NO_INDEX="1", PIP_FIND_LINKS=str(newer), UV_NO_INDEX="1", UV_FIND_LINKS=str(newer), UV_OFFLINE="1",
            UV_CACHE_DIR=str(folder / "uv-cache"), UV_TOOL_DIR=str(place / "tools"), UV_PYTHON_DOWNLOADS="never",
            UV_TOOL_BIN_DIR=str(place / "bin"), PIPX_HOME=str(place / "pipx"), PIPX_BIN_DIR=str(place / "bin"),
            HOME=str(place), TOKONOMA_HOME=str(place / "home"), TOKONOMA_LOG_LEVEL="warning",
        )  # fmt: skip
        program = _install_old(kind, tools, place, old_version, environ)
        memo = '{"namespace": "home", "content": "before the upgrade"}'
        run([program, "call", "memory", "save", memo], env=environ)
        told = run([program, "upgrade", "--yes"], env=environ)
        version = json.loads(run([program, "version", "--json"], env=environ))
        kept = run([program, "call", "memory", "list"], env=environ)
        backups = list((place / "home" / "backups").glob("*.backup"))
        if version["version"] != NEXT or "before the upgrade" not in kept or len(backups) != 1:
            raise SystemExit(f"upgrade with {kind} failed:\n{told}\n{version}")
        found[f"tokonoma upgrade ({kind})"] = f"{old_version} → {NEXT}, backed up, checked, data kept"
    return found


def _install_old(kind: str, tools: Path, place: Path, version: str, environ: dict[str, str]) -> str:
    if kind == "pip":
        run([sys.executable, "-m", "venv", str(place / "venv")], env=environ)
        run([str(place / "venv/bin/python"), "-m", "pip", "install", "-q", f"tokonoma=={version}"], env=environ)
        return str(place / "venv" / "bin" / "tokonoma")
    if kind == "uv tool":
        run([str(tools / "uv"), "tool", "install", "--quiet", f"tokonoma=={version}"], env=environ)
        # The version was pinned for this trial alone.
        receipt = place / "tools" / "tokonoma" / "uv-receipt.toml"
        receipt.write_text(receipt.read_text("utf-8").replace(f', specifier = "=={version}"', ""), "utf-8")
    else:
        run([str(tools / "pipx"), "install", "--quiet", f"tokonoma=={version}"], env=environ)
    return str(place / "bin" / "tokonoma")


def write_next(wheel: Path, folder: Path) -> Path:
    """The same wheel under a later version."""
    version = wheel.name.split("-")[1]
    target = folder / wheel.name.replace(version, NEXT)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            content = old.read(info)
            name = info.filename.replace(f"tokonoma-{version}.dist-info", f"tokonoma-{NEXT}.dist-info")
            if name.endswith(".dist-info/METADATA"):
                content = content.replace(f"\nVersion: {version}\n".encode(), f"\nVersion: {NEXT}\n".encode(), 1)
            elif name == "tokonoma/__init__.py":
                content = content.replace(version.encode(), NEXT.encode())
            elif name.endswith("/RECORD"):  # its hashes are of the old files; an empty one of each is allowed
                lines = content.decode().replace(f"tokonoma-{version}.dist-info", f"tokonoma-{NEXT}.dist-info")
                content = "".join(f"{line.split(',')[0]},,\n" for line in lines.splitlines()).encode()
            new.writestr(name, content)
    return target
