"""How commands get into the house, and leave it in order."""

from collections.abc import Generator
from contextlib import contextmanager

import click

from tokonoma.app import App
from tokonoma.cli.flags import get_flags
from tokonoma.core.log import set_level


@contextmanager
def open_app(ctx: click.Context, *, serves: bool = False) -> Generator[App]:
    """The house with the flags of this command. Nothing is opened before it is used; leaving closes it."""
    app = App(get_flags(ctx))
    if not serves and app.settings.origins["log_level"] == "default":
        set_level("warning")  # a person reads this stderr, beside the command's own words
    try:
        yield app
    finally:
        app.close()
