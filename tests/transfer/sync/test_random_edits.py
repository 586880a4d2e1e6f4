"""Homes that are edited at random and synced now and then lose no edit, and end up equal."""

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from conftest import SOAK
from transfer.apps import open_app
from transfer.sync.homes import Editors, Killed, dump, sync_all

from tokonoma.app import App
from tokonoma.cli import sync as sync_command
from tokonoma.cli.sync import run_sync

pytestmark = pytest.mark.migrated

EDITS = 1000 if SOAK else 20  # on each side
SEEDS = range(3 if SOAK else 1)


def edit_and_sync(editors: Editors, edits: int, sync: Callable[[App, Path], Any]) -> None:
    chance = editors.random
    for _ in range(edits):
        for app in editors.apps:
            editors.edit(app)
            if chance.random() < 0.15:
                sync(app, editors.folder)
    sync_all(editors.apps, editors.folder)
    assert editors.edits == edits * len(editors.apps)
    assert dump(editors.apps[0]), "there is nothing to compare"
    for app in editors.apps[1:]:
        assert dump(app) == dump(editors.apps[0])
    assert editors.find_lost() == {app.home.name: set() for app in editors.apps}


@pytest.mark.soak
@pytest.mark.parametrize("homes", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_edit_is_lost(tmp_path: Path, seed: int, homes: int) -> None:
    (tmp_path / "shared").mkdir()
    with ExitStack() as stack:
        apps = [stack.enter_context(open_app(tmp_path / f"home{number}")) for number in range(homes)]
        editors = Editors(apps, tmp_path / "shared", seed)
        edit_and_sync(editors, EDITS, run_sync)
        assert editors.written - editors.gone


def test_homes_on_different_databases(tmp_path: Path, postgres_at: str) -> None:
    (tmp_path / "shared").mkdir()
    with open_app(tmp_path / "home0") as one, open_app(tmp_path / "home1", postgres_at) as other:
        edit_and_sync(Editors([one, other], tmp_path / "shared", 7), 20, run_sync)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_edit_is_lost_when_syncs_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A sync ends before or after any of its steps. The next one goes on with what it finds."""
    (tmp_path / "shared").mkdir()
    chance, kills = random.Random(seed), [0]
    plain = sync_command.call_owner_tool

    def call_or_die(app: App, module: str, tool: str, params: Any) -> Any:
        fate = chance.random()
        if fate < 0.1:
            raise Killed
        value = plain(app, module, tool, params)
        if fate > 0.9:
            raise Killed
        return value

    def sync(app: App, folder: Path) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(sync_command, "call_owner_tool", call_or_die)
            try:
                run_sync(app, folder)
            except Killed:
                kills[0] += 1

    with ExitStack() as stack:
        apps = [stack.enter_context(open_app(tmp_path / f"home{number}")) for number in range(2)]
        edit_and_sync(Editors(apps, tmp_path / "shared", seed), EDITS, sync)
    assert kills[0], "no sync was killed"
