"""Every setting is a flag of every command: `tokonoma --home X serve` and `tokonoma serve --home X` are the same."""

from collections.abc import Callable, Collection
from typing import Any

import click

from tokonoma.cli.fast_flags import SWITCHES
from tokonoma.config.settings import SETTINGS

_META_KEY = "tokonoma.flags"
_ALWAYS_SHOWN = ("home",)


class SettingsCommand(click.Command):
    """A command that takes the settings' flags too; its help shows those that matter to it (`settings`)."""

    def __init__(self, *args: Any, settings: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += build_setting_options({*_ALWAYS_SHOWN, *settings})


class SettingsGroup(click.Group):
    command_class = SettingsCommand

    def __init__(self, *args: Any, settings: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += build_setting_options({*_ALWAYS_SHOWN, *settings})


def command(name: str, *settings: str, **attributes: Any) -> Callable[[Callable[..., Any]], SettingsCommand]:
    return click.command(name, cls=SettingsCommand, settings=settings, **attributes)


def group(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], SettingsGroup]:
    return click.group(name, cls=SettingsGroup, **attributes)


def get_flags(ctx: click.Context) -> dict[str, Any]:
    """The settings' flags that were given, before or after the command's name."""
    return ctx.meta.setdefault(_META_KEY, {})


def build_setting_options(shown: Collection[str]) -> list[click.Option]:
    told = [("home", "folder of all data; default: the platform's user data folder")]
    told += [(setting.name, setting.description) for setting in SETTINGS]
    return [_build_option(name, says, hidden=name not in shown) for name, says in told]


def _build_option(name: str, says: str, *, hidden: bool) -> click.Option:
    flag = name.replace("_", "-")
    if name in SWITCHES:
        return click.Option(
            [f"--{flag}/--no-{flag}", name],
            default=None,
            help=says,
            hidden=hidden,
            expose_value=False,
            callback=_store_flag,
        )
    return click.Option(
        [f"--{flag}", name], metavar="…", help=says, hidden=hidden, expose_value=False, callback=_store_flag
    )


def _store_flag(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None:
        get_flags(ctx)[str(option.name)] = value
