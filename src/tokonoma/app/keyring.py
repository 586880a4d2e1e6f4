"""The keyring of a process, with its master key where the settings say. Nothing is read before the first secret."""

from pathlib import Path
from typing import TYPE_CHECKING

from tokonoma.core.errors import Invalid
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.source import GivenKey, HomeKey, KeySource, SystemKey

if TYPE_CHECKING:
    from tokonoma.app import App


def open_keyring(app: "App") -> Keyring:
    return Keyring(_find_source(app))


def _find_source(app: "App") -> KeySource:
    settings = app.settings
    if text := settings.get_text("keyring_key"):
        origin = settings.origins["keyring_key"]
        if origin.startswith("flag "):
            message = "Every user of this machine can read the arguments of a command: give the key of the keyring as"
            raise Invalid(f"{message} TOKONOMA_KEYRING_KEY or in a file (keyring_key_file).", setting="keyring_key")
        return GivenKey(f"the setting keyring_key ({origin})", text)
    if file := settings.get_text("keyring_key_file"):
        return GivenKey(file, file=Path(file).expanduser())
    return SystemKey(app.home) if settings.get_text("keyring_source") == "os" else HomeKey(app.home)
