"""The program: subcommands by name, each imported on use."""

import importlib
import traceback
from typing import Any, cast

import click

from tokonoma import __version__
from tokonoma.cli.command import SettingsGroup, get_flags
from tokonoma.cli.interrupt import EXIT_CODE, Interrupted, take_interrupt
from tokonoma.cli.output import print_line, print_note
from tokonoma.core.errors import Refusal, find_nearest
from tokonoma.core.os_errors import describe_os_error

# name → where it is, what it does. `--help` shows these without importing any of them.
COMMANDS = {
    "stdio": ("tokonoma.cli.serve:stdio", "Serve MCP on standard input and output."),
    "serve": ("tokonoma.cli.serve:serve", "Serve MCP over HTTP."),
    "call": ("tokonoma.cli.call:call", "Run one tool."),
    "batch": ("tokonoma.cli.call:batch", "Run many tools from a JSONL file."),
    "modules": ("tokonoma.cli.modules:modules", "List the modules."),
    "schema": ("tokonoma.cli.modules:schema", "Show the parameters and results of the tools of a module."),
    "keys": ("tokonoma.cli.keys:keys", "Create, list, change and revoke API keys for HTTP."),
    "clients": ("tokonoma.cli.clients:clients", "List, narrow and revoke clients that were let in with OAuth."),
    "profiles": ("tokonoma.cli.profiles:profiles", "List, set and remove profiles: a reach under a name."),
    "masks": ("tokonoma.cli.masks:masks", "Show what a key or a client sees, and why not."),
    "people": ("tokonoma.cli.people:people", "Add, list and revoke people who may sign in, and set passwords."),
    "open": ("tokonoma.cli.open_page:open_page", "Print a one-time link to the pages of a running server."),
    "connect": ("tokonoma.cli.connect:connect", "Connect an account of a service, such as GitHub."),
    "accounts": ("tokonoma.cli.accounts:accounts", "List, test and disconnect accounts of services, and set defaults."),
    "servers": ("tokonoma.cli.servers:servers", "Put MCP servers behind Tokonoma, as modules."),
    "keyring": ("tokonoma.cli.keyring:keyring", "Check the keyring, and change its keys."),
    "policy": ("tokonoma.cli.policy:policy", "Show, check, apply, roll back and test the policy."),
    "approvals": ("tokonoma.cli.approvals:approvals", "List, show, approve and deny calls that wait for you."),
    "plugins": ("tokonoma.cli.modules:plugins", "List, enable and disable installed modules."),
    "setup": ("tokonoma.cli.setup:setup", "Choose language, clients, manuals, and what to import."),
    "demo": ("tokonoma.cli.demo:demo", "Play a short conversation with a home that is removed afterwards."),
    "install": ("tokonoma.cli.install:install", "Add this server to a client (Claude, Cursor, VS Code)."),
    "hook": ("tokonoma.cli.hook:hook", "Answer a hook of Claude Code."),
    "service": ("tokonoma.cli.units:service", "Run the server in the background: a unit of systemd or launchd."),
    "version": ("tokonoma.cli.version:version", "Show the version, and whether there is a newer one."),
    "upgrade": ("tokonoma.cli.upgrade:upgrade", "Back up, install the newest version, migrate and check."),
    "uninstall": ("tokonoma.cli.uninstall:uninstall", "Remove this server from clients, and its units. Data stay."),
    "where": ("tokonoma.cli.where:where", "Show where data is stored."),
    "config": ("tokonoma.cli.where:config", "Show the settings and where each comes from."),
    "doctor": ("tokonoma.cli.doctor:doctor", "Check the installation and say what to do."),
    "backup": ("tokonoma.cli.backup:backup", "Write a backup, or verify one."),
    "restore": ("tokonoma.cli.backup:restore", "Replace all data by a backup."),
    "accept": ("tokonoma.cli.accept:accept", "Go on with damaged data as it is."),
    "recover": ("tokonoma.cli.recover:recover", "Read what is left of a damaged database."),
    "reindex": ("tokonoma.cli.maintenance:reindex_command", "Rebuild the search index."),
    "purge": ("tokonoma.cli.maintenance:purge", "Remove permanently what was deleted or has expired."),
    "memory": ("tokonoma.cli.memory:memory", "List, show, edit, search, move and merge memos."),
    "export": ("tokonoma.cli.memos:export", "Export memos to a file or a folder."),
    "import": ("tokonoma.cli.memos:import_memos", "Import memos from a file or a folder."),
    "move-store": ("tokonoma.cli.move_store:move_store", "Copy everything into another database."),
    "sync": ("tokonoma.cli.sync:sync", "Bring the records of several homes together."),
    "vault": ("tokonoma.cli.vault:vault", "List, read, search and audit the files of the vault."),
    "manual": ("tokonoma.cli.manual:manual", "Search, list and read the manuals."),
    "items": ("tokonoma.cli.items:items", "List, show, add, edit and draw items; export and import them."),
    "claims": ("tokonoma.cli.claims:claims", "Export and import claims."),
    "journal": ("tokonoma.cli.journal:journal", "Show, verify and prune the journal of calls."),
}


class Program(SettingsGroup):
    """Prints the message of a refusal of any command, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return cast("click.Command", getattr(importlib.import_module(module), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = find_nearest(args[0], COMMANDS, 1)
            ctx.fail(f"There is no command {args[0]!r}." + (f" Did you mean {meant[0]!r}?" if meant else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        take_interrupt()  # of a command before, in the same process
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Interrupted) as error:
            print_note(f"Interrupted. {error.report if isinstance(error, Interrupted) else ''}".rstrip())
            code = EXIT_CODE
        except Refusal as error:
            print_note(f"tokonoma: {error.message}")
            # A wrong value of a flag is a mistake in the command, as an unknown flag is.
            code = 2 if "setting" in error.details and error.message.startswith("flag ") else 1
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click handles these
        except OSError as error:
            print_note(f"tokonoma: {describe_os_error(error)}")
            code = 1
        except Exception as error:
            _report_internal_error(ctx, error)
            code = 1
        raise click.exceptions.Exit(code)


def _report_internal_error(ctx: click.Context, error: Exception) -> None:
    """Print where the error happened, and how to see more. Its text may contain stored data, so it is left out."""
    if get_flags(ctx).get("log_level") == "debug":
        print_note("".join(traceback.format_exception(error)))
        return
    place = traceback.extract_tb(error.__traceback__)[-1]
    print_note(
        f"tokonoma: internal error ({type(error).__name__} in {place.name}, line {place.lineno}). "
        "Run the command again with --log-level debug for the details."
    )


@click.group(
    cls=Program,
    settings=("database_url", "log_level"),
    invoke_without_command=True,
    epilog="Every setting (`tokonoma config show`) is also a flag of every command, as in --rate-limit 120/minute.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Tokonoma: a self-hosted MCP server that gives AI agents memory and context.

    Without a command: `stdio` if standard input is a pipe, as for a client that starts it.
    """
    if ctx.invoked_subcommand is None:
        print_line(ctx.get_help())
