"""From a fresh clone to the first recalled memo: `make serve` with empty caches, once cold and once warm.

    python -m bench.first_run [--uv] [--terminal]

CPU time is that of make and everything it started. Sizes are those of site-packages without pip, setuptools, the tools
that build the program, and bytecode; a megabyte is 1 000 000 bytes.
"""

import argparse
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .web import free_port

ROOT = Path(__file__).parents[1]
_TOOLS = (
    "pkg_resources",
    "pip",
    "setuptools",
    "wheel",
    "hatchling",
    "pathspec",
    "pluggy",
    "trove",
    "editables",
    "packaging",
    "tomlkit",
    "_distutils",
)
_TEXT = "The spare key is in the kitchen drawer."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uv", action="store_true", help="with the uv that is on PATH; else uv is hidden")
    parser.add_argument("--terminal", action="store_true", help="as a person at a terminal sees it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tokonoma-first-") as name:
        folder = Path(name)
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder / "clone")], check=True)
        env = build_environment(folder, options.uv)
        for start in ("cold", "warm"):
            seconds, cpu, lines = serve_once(folder / "clone", env, options.terminal)
            print(f"{start}: {cpu:.1f} s CPU, {seconds:.1f} s, {len(lines)} lines until the first memo is recalled")
            print("".join(f"    {line}\n" for line in lines), end="")
        print_sizes(next((folder / "clone" / ".venv" / "lib").glob("python*/site-packages")))
    return 0


def build_environment(folder: Path, with_uv: bool) -> dict[str, str]:
    """No cache of ours: everything comes from the index."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("TOKONOMA_", "PYTHON", "VIRTUAL_"))
    }
    if not with_uv:
        found = shutil.which("uv")
        env["PATH"] = os.pathsep.join(
            each for each in env["PATH"].split(os.pathsep) if found is None or not (Path(each) / "uv").exists()
        )
    return env | {
        "PIP_CACHE_DIR": str(folder / "pip"),
        "UV_CACHE_DIR": str(folder / "uv"),
        "TOKONOMA_HOME": str(folder / "home"),
    }


def serve_once(clone: Path, env: dict[str, str], terminal: bool) -> tuple[float, float, list[str]]:
    """Seconds and CPU seconds until a memo that was saved is found again, and what was printed meanwhile."""
    port, before, started = free_port(), count_cpu(), time.monotonic()
    ours, theirs = pty.openpty() if terminal else os.pipe()
    child = subprocess.Popen(
        ["make", "serve", f"PORT={port}"], cwd=clone, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    printed: list[bytes] = []
    reader = threading.Thread(target=read_all, args=(ours, printed))
    reader.start()
    try:
        ask = wait_for(child, port)
        ask("save", {"content": _TEXT})
        hits = ask("search", {"query": "合鍵はどこ？"})["items"]
        assert hits[0]["content"] == _TEXT, hits
        seconds = time.monotonic() - started
    finally:
        os.kill(find_last(child.pid), signal.SIGTERM)  # make waits for it, so that its time is counted
        child.wait()
        reader.join()
    lines = b"".join(printed).decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    return seconds, count_cpu() - before, [line.rpartition("\r")[2].replace("\x1b[K", "") for line in lines]


def find_last(pid: int) -> int:
    """The server: the child of the child of make."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return find_last(int(below[-1])) if below else pid


def count_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_all(descriptor: int, into: list[bytes]) -> None:
    try:
        while data := os.read(descriptor, 65_536):
            into.append(data)
    except OSError:  # a terminal whose other side has gone
        pass
    os.close(descriptor)


def wait_for(child: "subprocess.Popen[bytes]", port: int) -> Callable[[str, dict[str, Any]], Any]:
    while child.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health").read()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
            continue
        return lambda tool, params: call(port, tool, params)
    raise SystemExit("make has ended")


def call(port: int, tool: str, params: dict[str, Any]) -> Any:
    arguments = {"module": "memory", "tool_name": tool, "params": params}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call", "arguments": arguments}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", json.dumps(message).encode(), headers)
    text = urllib.request.urlopen(request).read().decode()
    if not text.startswith("{"):
        text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
    answer = json.loads(text).get("result")
    if answer is None:
        raise SystemExit(f"{tool} has failed: {text}")
    return answer.get("structuredContent") or json.loads(answer["content"][0]["text"])


def print_sizes(folder: Path) -> None:
    sizes: Counter[str] = Counter()
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".pyc" and not file.relative_to(folder).parts[0].startswith(_TOOLS):
            sizes[name_package(file.relative_to(folder).parts[0])] += file.stat().st_size
    source = ROOT / "src" / "tokonoma"
    sizes["tokonoma"] += sum(
        each.stat().st_size for each in source.rglob("*") if each.is_file() and each.suffix != ".pyc"
    )
    print(f"site-packages: {sum(sizes.values()) / 1e6:.1f} MB")
    for name, size in sizes.most_common(12):
        print(f"    {name:<20} {size / 1e6:6.1f}")


def name_package(part: str) -> str:
    return part.split("-")[0].removesuffix(".libs").removesuffix(".py").lstrip("_").split(".")[0]


if __name__ == "__main__":
    sys.exit(main())
