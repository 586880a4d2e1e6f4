"""`setup`: language, clients, hooks, manuals and what other memory servers hold, asked once and again on demand."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokonoma.app import read_environment
from tokonoma.app.places import find_places
from tokonoma.cli.command import command, get_flags, open_app
from tokonoma.cli.install import install
from tokonoma.cli.install.clients import CLIENTS, Machine
from tokonoma.cli.install.found import FoundClient, find_clients
from tokonoma.cli.memos import import_memos
from tokonoma.cli.output import print_line, print_note, stands_at_terminal
from tokonoma.cli.setup.words import WORDS
from tokonoma.cli.welcome import name_program, shorten_home
from tokonoma.config.home import create_home, write_setting
from tokonoma.config.settings import choose_language
from tokonoma.core.errors import Denied, Invalid, Refusal
from tokonoma.transfer.elsewhere import FoundStore, find_stores

if TYPE_CHECKING:
    from tokonoma.config.settings import Settings


@command("setup", "language")
@click.option("--client", "clients", multiple=True, type=click.Choice(list(CLIENTS)), help="Connect this client.")
@click.option("--no-clients", is_flag=True, help="Connect no client.")
@click.option("--hooks/--no-hooks", default=None, help="Write the hooks of Claude Code. Default: no.")
@click.option("--manuals", metavar="FOLDER", help="Folder of your manuals: Markdown and text files that agents search.")
@click.option("--import/--no-import", "imports", default=None, help="Import from other memory servers. Default: yes.")
@click.option("--yes", is_flag=True, help="Ask nothing: the defaults, and what other flags say.")
@click.option("--dry-run", is_flag=True, help="Ask nothing and change nothing: show what --yes would do.")
@click.pass_context
def setup(
    ctx: click.Context,
    clients: tuple[str, ...],
    no_clients: bool,
    hooks: bool | None,
    manuals: str | None,
    imports: bool | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Go through language, clients, hooks, manuals and imports. Run it again at any time.

    What is there already is not changed: a client that has this server keeps it, an import takes only what is new.
    """
    if not (yes or dry_run or stands_at_terminal()):
        raise Denied("There is no terminal to ask at. Use --yes for the defaults, or --dry-run.", reason="confirm")
    if manuals is not None:
        check_folder(Path(manuals).expanduser())  # before anything is changed
    language: str | None = get_flags(ctx).pop("language", None)  # or it would go into the configuration of each client
    with open_app(ctx) as app:
        home, settings, current = app.home, app.settings, find_places(app)["manuals"]
    machine = Machine(Path.home(), Path.cwd(), sys.platform, read_environment())
    walk = SetupWalk(ctx, home, settings, asks=not (yes or dry_run), dry_run=dry_run)
    walk.choose_language(language)
    walk.connect_clients(find_clients(machine), None if not clients and not no_clients else clients)
    walk.write_hooks(hooks, shown="claude-code" in {each.client.name for each in find_clients(machine)})
    walk.choose_manuals(manuals, current)
    walk.import_stores(find_stores(machine.home, machine.platform, machine.environ), imports)
    walk.finish()


def check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise Invalid(f"There is no folder {folder}.", field="manuals")


class SetupWalk:
    """One walk through the questions; what failed on the way is told, and does not stop it."""

    def __init__(self, ctx: click.Context, home: Path, settings: "Settings", *, asks: bool, dry_run: bool) -> None:
        self._ctx, self._home, self._settings = ctx, home, settings
        self._asks, self._dry_run = asks, dry_run
        self._words = WORDS[choose_language(settings, read_environment())]
        self._failed = False

    def choose_language(self, given: str | None) -> None:
        now = self._settings.get_text("language")
        chosen = given or self._prompt(self._words["language"], now, choices=("auto", "en", "ja"))
        if chosen in WORDS:
            self._words = WORDS[chosen]
        if chosen != now:
            self._set("language", chosen)

    def connect_clients(self, found: list[FoundClient], named: tuple[str, ...] | None) -> None:
        """Those that are named; else each that is found and not connected."""
        if named is None and not found:
            self._note("no_clients")
        for each in found:
            if each.connected and (named is None or each.client.name not in named):
                self._note("connected", title=each.client.title)
        waiting = [each.client.name for each in found if not each.connected]
        for name in waiting if named is None else named:
            if named is not None or self._confirm("connect", default=True, title=CLIENTS[name].title):
                self._run(install, client=name, hooks=False, **_PLAIN)

    def write_hooks(self, given: bool | None, *, shown: bool) -> None:
        if given is None and not shown:
            return
        if given or (given is None and self._confirm("hooks", default=False)):
            self._run(install, client="claude-code", hooks=True, **_PLAIN)

    def choose_manuals(self, given: str | None, now: str) -> None:
        chosen = Path(given or self._prompt(self._words["manuals"], now)).expanduser().absolute()
        if str(chosen) == str(Path(now).absolute()):
            return
        check_folder(chosen)
        self._set("manuals_root", str(chosen))

    def import_stores(self, found: list[FoundStore], given: bool | None) -> None:
        if not found and given is not False:
            self._note("no_stores")
        for each in found if given is not False else ():
            question = {"title": each.title, "path": shorten_home(each.path), "namespace": f"/{each.title}"}
            if given or self._confirm("import", default=True, **question):
                self._run(
                    import_memos, source=str(each.path), kind=each.format, namespace=f"/{each.title}",
                    name=each.source_name, seal=False, wait=False, as_json=False,
                )  # fmt: skip

    def finish(self) -> None:
        self._note("dry" if self._dry_run else "failed" if self._failed else "done", program=name_program())
        if self._failed:
            self._ctx.exit(1)

    def _run(self, of: click.Command, **options: object) -> None:
        """Another command, with the flags of this one. What it refuses is told; the walk goes on."""
        try:
            self._ctx.invoke(of, dry_run=self._dry_run, **options)
        except Refusal as error:
            print_note(f"tokonoma: {error.message}")
            self._failed = True
        except SystemExit as ended:  # an import with something that could not be imported, which it has told
            self._failed = self._failed or bool(ended.code)

    def _set(self, name: str, value: str) -> None:
        if self._dry_run:
            self._note("would_set", name=name, value=value)
            return
        create_home(self._home)
        self._note("set", name=name, value=value, file=shorten_home(write_setting(self._home, name, value)))

    def _prompt(self, question: str, default: str, choices: tuple[str, ...] = ()) -> str:
        if not self._asks:
            return default
        kind = click.Choice(choices) if choices else None
        return str(click.prompt(question, default=default, type=kind, err=True))

    def _confirm(self, question: str, /, *, default: bool, **values: str) -> bool:
        if not self._asks:
            return default
        return click.confirm(self._words[question].format(**values), default=default, err=True)

    def _note(self, name: str, /, **values: str) -> None:
        print_line(self._words[name].format(**values))


_PLAIN = {"http": False, "key": False, "scope": "user", "remove": False}
