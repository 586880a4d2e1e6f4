"""Who is measured: Tokonoma, the official SDK's server and the floor; how each is started and its echo called."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("tokonoma")
NAMES = ("tokonoma", "sdk", "floor")


@dataclass(frozen=True)
class Peer:
    name: str
    stdio: Sequence[str]
    http: Sequence[str]  # the port is added at the end
    env: Mapping[str, str]
    log: Path
    gateway: bool = False  # its tools are reached through `call`

    def params(self, tool: str, text: str) -> dict[str, Any]:
        """The params of a `tools/call`."""
        if self.gateway:
            inner = {"module": "bench", "tool_name": tool, "params": {"text": text}}
            return {"name": "call", "arguments": inner}
        return {"name": tool, "arguments": {"text": text}}


@dataclass(frozen=True)
class Peers:
    all: Sequence[Peer]
    plain: Sequence[Peer]  # the same, but Tokonoma as it is installed, without the plugin of this benchmark
    database: Path  # Tokonoma's

    def tokonoma(self) -> Peer | None:
        return next((peer for peer in self.all if peer.name == "tokonoma"), None)


def prepare(folder: Path, names: Sequence[str]) -> Peers:
    """Everything lives in `folder`; the first start of each server, which writes bytecode, is not measured."""
    plain = [_peer(name, folder) for name in NAMES if name in names]
    database = folder / "plugged" / "bench.db"
    full = [_plugged(folder, database) if peer.name == "tokonoma" else peer for peer in plain]
    return Peers(full, plain, database)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The same small environment for everybody, so that nothing of this shell's decides a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "HOME": str(folder), **more}


def _peer(name: str, folder: Path) -> Peer:
    log = folder / f"{name}.log"
    if name == "tokonoma":
        if not PROGRAM.exists():
            raise SystemExit("tokonoma is not installed in this environment: make install")
        home = folder / "plain"
        env = environment(home, TOKONOMA_HOME=str(home))
        return Peer(name, [str(PROGRAM), "stdio"], [str(PROGRAM), "serve", "--port"], env, log)
    script = [sys.executable, str(HERE / "servers" / f"{name}.py")]
    return Peer(name, [*script, "stdio"], [*script, "http"], environment(folder / name), log)


def _plugged(folder: Path, database: Path) -> Peer:
    """Tokonoma with the benchmark's own module, which enters as anybody's plugin does."""
    home, log = database.parent, folder / "tokonoma.log"
    env = environment(
        home,
        TOKONOMA_HOME=str(home),
        TOKONOMA_DATABASE_URL=f"sqlite:///{database}",
        PYTHONPATH=str(HERE / "plugin"),
    )
    enabling = [str(PROGRAM), "plugins", "enable", "bench"]
    with log.open("ab") as told:
        subprocess.run(enabling, env=env, check=True, timeout=120, stdout=told, stderr=told)
    stdio, http = [str(PROGRAM), "stdio"], [str(PROGRAM), "serve", "--port"]
    return Peer("tokonoma", stdio, http, env, log, gateway=True)
