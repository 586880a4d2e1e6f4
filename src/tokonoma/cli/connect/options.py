"""The options of `connect`, checked."""

from dataclasses import dataclass

from tokonoma.services.connecting import ConnectChoices


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    choices: ConnectChoices
    untested: bool
    browser: bool
    wait: int  # seconds
