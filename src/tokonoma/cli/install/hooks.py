"""The hooks of Claude Code: where its settings are, what is written there, and how it is added and removed. Pure.

Source: code.claude.com/docs/en/hooks. The exit code 2 stops a call; every other code lets it pass, also 127 of a shell
that finds no program. So the command of the guard ends with 2 itself.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tokonoma.cli.install.clients import Json, Machine
from tokonoma.core.errors import Invalid

MATCHER = "WebFetch|WebSearch|mcp__(?!tokonoma__).*__(send|post|create).*"
"""Tools through which text leaves this machine. Those of this server are not among them."""

TIMEOUT = 60  # seconds, more than the guard takes itself
_MARK = "# tokonoma install"
_MISSING = "Stopped: the tokonoma hook failed. Repair it with: tokonoma install claude-code --hooks"


def find_settings_file(machine: Machine, scope: str) -> Path:
    """The settings of the user; or those of this project that are not committed, as the paths are of this machine."""
    if scope == "project":
        return machine.folder / ".claude" / "settings.local.json"
    return Path(machine.environ.get("CLAUDE_CONFIG_DIR") or machine.home / ".claude") / "settings.json"


def build_hooks(program: Sequence[str], words: Sequence[str], environ: Mapping[str, str]) -> Json:
    """The section `hooks`, with absolute paths: Claude Code may have another PATH."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in environ.items()]

    def build_command(event: str, otherwise: str) -> Json:
        line = " ".join([*variables, shlex.join([*program, "hook", event, *words])])
        return {"type": "command", "command": f"{line} || {otherwise} {_MARK}", "timeout": TIMEOUT}

    closed = f"{{ [ $? -eq 2 ] || echo {shlex.quote(_MISSING)} >&2; exit 2; }}"
    return {
        "UserPromptSubmit": [{"hooks": [build_command("UserPromptSubmit", "exit 1")]}],  # 2 would refuse the prompt
        "PreToolUse": [{"matcher": MATCHER, "hooks": [build_command("PreToolUse", closed)]}],
    }


def add_hooks(settings: Json, added: Json, file: Path) -> Json:
    """Return the settings with these hooks instead of older ones of this program, and everything else unchanged."""
    if _own_groups(settings, file) == added:
        return settings
    rest = remove_hooks(settings, file)
    events: Json = dict(rest.get("hooks", {}))
    for event, groups in added.items():
        events[event] = [*events.get(event, []), *groups]
    return {**rest, "hooks": events}


def remove_hooks(settings: Json, file: Path) -> Json:
    """Return the settings without the hooks of this program."""
    if not _own_groups(settings, file):
        return settings
    events: Json = {}
    for event, groups in _list_events(settings, file).items():
        kept = [each for group in groups for each in _drop_own(group)]
        if kept:
            events[event] = kept
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    # In its old place: who compares the two files sees only what was removed.
    return {name: events if name == "hooks" else value for name, value in settings.items()} if events else rest


def _own_groups(settings: Json, file: Path) -> Json:
    """The groups with a hook of this program, by event."""
    own: Json = {}
    for event, groups in _list_events(settings, file).items():
        mine = [group for group in groups if any(map(_is_own, _list_hooks(group)))]
        if mine:
            own[event] = mine
    return own


def _drop_own(group: Any) -> list[Any]:
    """The group without own hooks, in a list; an empty list if nothing else was in it."""
    hooks = _list_hooks(group)
    kept = [each for each in hooks if not _is_own(each)]
    if len(kept) == len(hooks):
        return [group]
    return [{**group, "hooks": kept}] if kept else []


def _list_events(settings: Json, file: Path) -> dict[str, list[Any]]:
    events: Any = settings.get("hooks", {})
    if not isinstance(events, dict) or not all(isinstance(each, list) for each in cast("Json", events).values()):
        raise Invalid(f"{file}: 'hooks' is not an object of lists. Correct it first.", reason="not_json")
    return cast("dict[str, list[Any]]", events)


def _list_hooks(group: Any) -> list[Any]:
    hooks: Any = cast("Json", group).get("hooks") if isinstance(group, dict) else None
    return cast("list[Any]", hooks) if isinstance(hooks, list) else []


def _is_own(hook: Any) -> bool:
    return isinstance(hook, dict) and str(cast("Json", hook).get("command", "")).endswith(_MARK)
