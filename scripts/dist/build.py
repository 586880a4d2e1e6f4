"""Build what is published: wheel, source distribution, MCPB bundle and server.json."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "package"
MCPB = ROOT / "node_modules" / ".bin" / "mcpb"


def read_version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def build_packages(target: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    shutil.rmtree(target, ignore_errors=True)
    run([sys.executable, "-m", "hatchling", "build", "-d", str(target)], cwd=ROOT)
    (wheel,) = target.glob("*.whl")
    (source,) = target.glob("*.tar.gz")
    return wheel, source


def build_bundle(folder: Path, target: Path, wheel: Path, tools: Sequence[dict[str, str]]) -> Path:
    """Lay out the bundle in `folder`, and let the official program check and pack it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE / "mcpb", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (wheel, PACKAGE / "icon.png", ROOT / "LICENSE", ROOT / "README.md"):
        shutil.copy(file, folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["version"] = read_version()
    manifest["tools"] = [{"name": each["name"], "description": first_sentence(each["description"])} for each in tools]
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
    project = (folder / "pyproject.toml").read_text("utf-8").replace("0.0.0", read_version())
    (folder / "pyproject.toml").write_text(project + format_uv_settings(wheel.name), "utf-8")
    bundle = target / f"tokonoma-{read_version()}.mcpb"
    run([str(find_mcpb()), "validate", str(folder / "manifest.json")])
    run([str(find_mcpb()), "pack", str(folder), str(bundle)])
    return bundle


def first_sentence(text: str) -> str:
    return text.partition("\n")[0].partition(". ")[0].rstrip(".") + "."


def format_uv_settings(wheel: str) -> str:
    """The wheel of the bundle, and the versions of the lock file for everything else. No address of an index."""
    text = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    pins = [re.split(r"\s+--hash", line)[0].strip() for line in text.splitlines() if line.strip()]
    quoted = ",\n  ".join(json.dumps(pin) for pin in pins)
    return (
        f'\n[tool.uv]\npackage = false\nconstraint-dependencies = [\n  {quoted},\n]\n\n'
        f'[tool.uv.sources]\ntokonoma = {{ path = "{wheel}" }}\n'
    )


def find_mcpb() -> Path:
    """The official program, in the version of package.json."""
    if not MCPB.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("npm is needed for the MCPB bundle: install Node.js, then run `make dist` again.")
        run([npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"], cwd=ROOT)
    return MCPB


def build_server_json(target: Path, bundle: Path) -> Path:
    """The entry of the MCP registry, with this version and the hash of this bundle."""
    version = read_version()
    value: dict[str, Any] = json.loads((PACKAGE / "server.json").read_text("utf-8").replace("0.0.0", version))
    for package in value["packages"]:
        if package["registryType"] == "mcpb":
            package["fileSha256"] = hashlib.sha256(bundle.read_bytes()).hexdigest()
    file = target / "server.json"
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return file


def run(words: Sequence[str], **how: Any) -> str:
    """Run a program; its output is shown only if it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **how)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}\nfailed with {done.returncode}")
    return done.stdout
