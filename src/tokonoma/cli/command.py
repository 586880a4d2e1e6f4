"""Commands and groups whose flags include every setting: `tokonoma --home X serve` is `tokonoma serve --home X`."""

import functools
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from tokonoma.cli import SWITCHES
from tokonoma.config.settings import SETTINGS, check_module_names

if TYPE_CHECKING:
    from tokonoma.app import App

P = ParamSpec("P")
T = TypeVar("T")

_META_KEY = "tokonoma.flags"
_REPAIRS = ("plugins", "config", "where")  # they run with wrong names of modules, which they help to correct


class SettingsCommand(click.Command):
    """Also takes the flags of all settings, but for those that are its own options, as `connect --oauth`; its help
    shows only those named by `settings`."""

    def __init__(self, *args: Any, settings: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = {name for option in self.params for name in option.opts}
        self.params += [option for option in build_setting_options(settings) if own.isdisjoint(option.opts)]


class SettingsGroup(SettingsCommand, click.Group):
    command_class = SettingsCommand


def command(name: str, *settings: str, **attributes: Any) -> Callable[[Callable[..., Any]], SettingsCommand]:
    return click.command(name, cls=SettingsCommand, settings=settings, **attributes)


def group(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], SettingsGroup]:
    return click.group(name, cls=SettingsGroup, **attributes)


json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def build_setting_options(shown: Collection[str]) -> list[click.Option]:
    described = {"home": "folder of all data; default: the platform's user data folder"}
    described |= {setting.name: setting.description for setting in SETTINGS}
    options: list[click.Option] = []
    for name, text in described.items():
        flag = name.replace("_", "-")
        flag, metavar = (f"--{flag}/--no-{flag}", None) if name in SWITCHES else (f"--{flag}", "…")
        hidden = name != "home" and name not in shown
        option = click.Option([flag, name], default=None, metavar=metavar, help=text, hidden=hidden, expose_value=False)
        option.callback = _store_flag
        options.append(option)
    return options


def _store_flag(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None:
        get_flags(ctx)[str(option.name)] = value


def get_flags(ctx: click.Context) -> dict[str, Any]:
    """The flags of settings that were given before or after the name of the command."""
    return ctx.meta.setdefault(_META_KEY, {})


@contextmanager
def open_app(ctx: click.Context, *, serves: bool = False) -> "Generator[App]":
    """The app with the flags of this command. The database is opened on first use; leaving closes everything."""
    from tokonoma.app import App  # `tokonoma --help` does not need it
    from tokonoma.core.log import set_level

    app = App(get_flags(ctx))
    if ctx.find_root().invoked_subcommand not in _REPAIRS:
        check_module_names(app.settings, app.registry.list_names())
    if not serves and app.settings.origins["log_level"] == "default":
        set_level("warning")  # a person reads stderr, where the notes of the command are too
    try:
        yield app
    finally:
        # A server has already waited for its calls: after a signal it ends within three seconds.
        if serves:
            app.close(0.2, journal_wait=0.2)
        else:
            app.close()


def pass_app(function: "Callable[Concatenate[App, P], T]") -> Callable[P, T]:
    """A decorator for commands: their first parameter is the app."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with open_app(click.get_current_context()) as app:
            return function(app, *args, **kwargs)

    return run
