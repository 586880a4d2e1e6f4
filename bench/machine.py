"""What the figures were measured on. No host name, no path, no user."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("tokonoma", "mcp", "apsw", "orjson", "pydantic", "uvicorn", "httptools", "starlette", "anyio")


def describe(folder: Path) -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "file_system": _file_system(folder),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def load() -> float:
    """The load average of the last minute; well above the number of our own processes, others were at work."""
    return round(os.getloadavg()[0], 2)


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def commit() -> tuple[str, bool]:
    """The short hash, and whether `src` was changed since."""
    return _git("rev-parse", "--short", "HEAD") or "uncommitted", bool(_git("status", "--porcelain", "--", "src"))


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent.parent, capture_output=True, text=True, timeout=30
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _file_system(folder: Path) -> str:
    """Its kind only: on `tmpfs` a durable write costs nothing, and the figures of writes mean nothing."""
    kinds: list[tuple[int, str]] = []
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if folder.resolve().is_relative_to(place):
            kinds.append((len(place), kind))
    return max(kinds)[1] if kinds else "unknown"
