"""Units on this machine: written, started, asked and removed, through systemctl or launchctl."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokonoma.cli.install.clients import Machine
from tokonoma.cli.units.text import UnitDescription, build_plist, build_systemd_unit
from tokonoma.core.errors import Invalid, Unavailable, Unready
from tokonoma.transfer.files import replace_file

DEFAULT = "tokonoma"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_BOOTED = Path("/run/systemd/system")  # sd_booted(3)


@dataclass(frozen=True, slots=True)
class SystemdUnit:
    name: str
    file: Path
    of_system: bool

    def format_file(self, description: UnitDescription) -> bytes:
        return build_systemd_unit(description).encode()

    def start(self) -> None:
        self._run("daemon-reload")
        self._run("enable", "--now", self.name)
        self._run("restart", self.name)  # one that ran already has the text of before

    def stop(self) -> None:
        self._run("disable", "--now", self.name)

    def restart(self) -> None:
        self._run("try-restart", self.name)

    def read_state(self) -> str:
        """`active`, `failed`, `inactive` …"""
        return self._run("show", self.name, "--property=ActiveState", "--value").strip() or "unknown"

    def _run(self, *words: str) -> str:
        scope = "--system" if self.of_system else "--user"
        return run_control(["systemctl", scope, "--no-pager", *words])


@dataclass(frozen=True, slots=True)
class LaunchdUnit:
    name: str
    file: Path

    def format_file(self, description: UnitDescription) -> bytes:
        return build_plist(description, self.name)

    def start(self) -> None:
        if self.read_state() == "active":
            self.stop()
        run_control(["launchctl", "bootstrap", self._domain(), str(self.file)])

    def stop(self) -> None:
        run_control(["launchctl", "bootout", f"{self._domain()}/{self.name}"])

    def restart(self) -> None:
        run_control(["launchctl", "kickstart", "-k", f"{self._domain()}/{self.name}"])

    def read_state(self) -> str:
        try:
            run_control(["launchctl", "print", f"{self._domain()}/{self.name}"])
        except Unavailable:
            return "inactive"
        return "active"

    def _domain(self) -> str:
        return f"gui/{os.getuid()}"


Unit = SystemdUnit | LaunchdUnit


def find_unit(machine: Machine, name: str = DEFAULT, *, of_system: bool = False) -> Unit:
    """Where the unit of this name would be, whether it is there or not; Unready on a system without units."""
    if not _NAME.match(name):
        raise Invalid("The name of a unit has small letters, digits and hyphens.", field="name")
    if machine.platform == "darwin":
        if of_system:
            raise Invalid("On macOS only units of the user are written. Omit --system.", field="system")
        label = "org.tokonoma.server" if name == DEFAULT else f"org.tokonoma.{name}"
        return LaunchdUnit(label, machine.home / "Library" / "LaunchAgents" / f"{label}.plist")
    if machine.platform.startswith("linux"):
        file = f"{name if name == DEFAULT else f'{DEFAULT}-{name}'}.service"
        folder = Path("/etc/systemd/system") if of_system else machine.settings_folder() / "systemd" / "user"
        return SystemdUnit(file, folder / file, of_system)
    raise Unready(
        "Units are for systemd (Linux) and launchd (macOS). On Windows, let the Task Scheduler start"
        " `tokonoma serve` at log-on.",
        reason="no_units",
    )


def list_units(machine: Machine) -> list[Unit]:
    """The units of the user, and of the system if this user may change them, that were written here."""
    if machine.platform != "darwin" and not machine.platform.startswith("linux"):
        return []
    default = find_unit(machine)
    found: list[Unit] = []
    if isinstance(default, LaunchdUnit):
        files = sorted(default.file.parent.glob("org.tokonoma.*.plist"))
        return [LaunchdUnit(file.stem, file) for file in files]
    folders = [(default.file.parent, False)]
    if os.getuid() == 0:
        folders.append((Path("/etc/systemd/system"), True))
    for folder, of_system in folders:
        found += [SystemdUnit(file.name, file, of_system) for file in sorted(folder.glob(f"{DEFAULT}*.service"))]
    return found


def require_running(unit: Unit) -> None:
    """Unready, with what to do instead, where nothing would run the unit."""
    if isinstance(unit, SystemdUnit) and not (_BOOTED.is_dir() and shutil.which("systemctl")):
        raise Unready(
            "systemd does not run this machine; it may be a container. Let what starts the container run"
            " `tokonoma serve` and restart it, or start that in a terminal. `--dry-run` prints the unit.",
            reason="no_units",
        )
    if isinstance(unit, LaunchdUnit) and not shutil.which("launchctl"):
        raise Unready("launchctl is not in the PATH: the unit cannot be started.", reason="no_units")


def write_unit(unit: Unit, content: bytes) -> None:
    """Readable by its owner alone: it may contain the address of a database."""
    unit.file.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(unit.file, 0o600) as out:
        out.write(content)


def run_control(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Unavailable(f"`{shlex.join(words)}` cannot be run: {error.strerror}.", reason="unit") from error
    if done.returncode != 0:
        says = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise Unavailable(f"`{shlex.join(words)}` failed: {says}", reason="unit")
    return done.stdout
