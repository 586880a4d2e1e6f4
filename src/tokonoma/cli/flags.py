"""Every setting is a flag of every command: `tokonoma --home X serve` and `tokonoma serve --home X` are the same."""

from collections.abc import Callable, Collection
from typing import Any

import click

from tokonoma.cli.fast_flags import SWITCHES
from tokonoma.config.settings import SETTINGS

_KEPT = "tokonoma.flags"
_COMMON = ("home",)


class Command(click.Command):
    """A command that takes the settings' flags too; its help shows those that matter to it (`settings`)."""

    def __init__(self, *args: Any, settings: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += setting_options({*_COMMON, *settings})


class Group(click.Group):
    command_class = Command

    def __init__(self, *args: Any, settings: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += setting_options({*_COMMON, *settings})


def command(name: str, *settings: str, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    return click.command(name, cls=Command, settings=settings, **attributes)


def group(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], Group]:
    return click.group(name, cls=Group, **attributes)


def flags_of(ctx: click.Context) -> dict[str, Any]:
    """The settings' flags that were given, before or after the command's name."""
    return ctx.meta.setdefault(_KEPT, {})


def setting_options(shown: Collection[str]) -> list[click.Option]:
    told = [("home", "folder of all data; default: the platform's user data folder")]
    told += [(setting.name, setting.says) for setting in SETTINGS]
    return [_option(name, says, hidden=name not in shown) for name, says in told]


def _option(name: str, says: str, *, hidden: bool) -> click.Option:
    flag = name.replace("_", "-")
    if name in SWITCHES:
        return click.Option(
            [f"--{flag}/--no-{flag}", name], default=None, help=says, hidden=hidden, expose_value=False, callback=_keep
        )
    return click.Option([f"--{flag}", name], metavar="…", help=says, hidden=hidden, expose_value=False, callback=_keep)


def _keep(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None:
        flags_of(ctx)[str(option.name)] = value
