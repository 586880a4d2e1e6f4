"""The flags of a `stdio` start, read by hand: click alone costs as much as the whole start may. Pure."""

from collections.abc import Sequence

from tokonoma.config.settings import SETTINGS

SWITCHES = frozenset(setting.name for setting in SETTINGS if isinstance(setting.default, bool))
TAKES_VALUE = frozenset(setting.name for setting in SETTINGS) - SWITCHES | {"home", "as"}


def parse_stdio_flags(arguments: Sequence[str], *, piped: bool) -> dict[str, str | bool] | None:
    """The flags, if this asks for `stdio` in a way that needs no explaining; None leaves it to click.

    `tokonoma` alone means `stdio` when its input is a pipe: that is how a client starts a server.
    """
    flags: dict[str, str | bool] = {}
    words: list[str] = []
    rest = iter(arguments)
    for each in rest:
        if not each.startswith("--"):
            words.append(each)
            continue
        key, equals, value = each[2:].partition("=")
        name = key.replace("-", "_")
        switch = name.removeprefix("no_")
        if switch in SWITCHES and not equals:
            flags[switch] = name == switch
        elif name in TAKES_VALUE and (equals or (value := next(rest, ""))):
            flags[name] = value
        else:
            return None
    asked = words == ["stdio"] or (not words and piped)
    return flags if asked else None
