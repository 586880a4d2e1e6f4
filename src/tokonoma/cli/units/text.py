"""The texts of units: systemd's (systemd.service(5), systemd.exec(5)) and launchd's (launchd.plist(5)). Pure."""

import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

GUIDE = "https://github.com/tokonoma/tokonoma/blob/main/docs/guides/deploy.md"
_HOMES = ("/home", "/root", "/run/user")


@dataclass(frozen=True, slots=True)
class UnitDescription:
    """What a unit runs. `account`: the user of a unit of the system; empty for one of the user."""

    program: Sequence[str]
    environ: Mapping[str, str]
    writable: Sequence[Path]
    account: str = ""
    log: Path = field(default_factory=lambda: Path("tokonoma.log"))  # for launchd, which keeps no journal


# These work without namespaces, so also where users may not create any. What an MCP server that Tokonoma starts may
# need (memory that is written and run, namespaces of its own) is not taken away.
_HARDENED = """\
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
"""
_HARDENED_SYSTEM = """\
CapabilityBoundingSet=
AmbientCapabilities=
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
"""


def build_systemd_unit(unit: UnitDescription) -> str:
    """The text of a `.service` file."""
    of_system = bool(unit.account)
    lines = ["[Unit]", "Description=Tokonoma, a personal context server (MCP)", f"Documentation={GUIDE}"]
    if of_system:
        lines += ["After=network-online.target", "Wants=network-online.target"]
    lines += ["", "[Service]", "Type=exec", "ExecStart=" + " ".join(map(quote_word, unit.program))]
    lines += [f"Environment={quote_word(f'{name}={value}', command=False)}" for name, value in unit.environ.items()]
    # A server ends within three seconds of the signal. One that cannot start (2: a wrong setting) is not tried again.
    lines += ["Restart=on-failure", "RestartSec=2", "RestartPreventExitStatus=2", "TimeoutStopSec=20"]
    if of_system:
        lines += [f"User={unit.account}"]
    text = "\n".join(lines) + "\n" + _HARDENED
    if of_system:
        paths = [*unit.writable, Path(unit.program[0])]
        at_home = any(str(path).startswith(tuple(f"{home}/" for home in _HOMES)) for path in paths)
        text += _HARDENED_SYSTEM + f"ProtectHome={'read-only' if at_home else 'yes'}\n"
        # A leading minus: a path that is not there yet is no error.
        text += "".join(f"ReadWritePaths={quote_word(f'-{path}', command=False)}\n" for path in unit.writable)
    return text + f"\n[Install]\nWantedBy={'multi-user.target' if of_system else 'default.target'}\n"


def quote_word(word: str, *, command: bool = True) -> str:
    """A word of a unit file. `%` starts a specifier, and in commands `$` a variable."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    if command:
        escaped = escaped.replace("$", "$$")
    plain = escaped == word and word and not any(letter.isspace() or letter in "'\";" for letter in word)
    return word if plain else f'"{escaped}"'


def build_plist(unit: UnitDescription, label: str) -> bytes:
    """The property list of an agent of launchd."""
    value: dict[str, object] = {
        "Label": label,
        "ProgramArguments": list(unit.program),
        "EnvironmentVariables": dict(unit.environ),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Interactive",  # clients wait for answers
        "Umask": 0o077,
        "StandardOutPath": str(PurePosixPath(unit.log)),
        "StandardErrorPath": str(PurePosixPath(unit.log)),
    }
    return plistlib.dumps(value)
