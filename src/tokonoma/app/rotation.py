"""The rotation of the keyring: every secret is encrypted again, those of OAuth too."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tokonoma.keyring.rotate import RotationStep, move_secrets

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.keyring.data_keys import Keyring


def move_all_secrets(app: "App", keys: "Keyring") -> Iterator[RotationStep]:
    from tokonoma.app.oauth import build_seal_functions
    from tokonoma.auth.oauth.signing import reseal_keys

    return move_secrets(app.database.writing, keys, partial(reseal_keys, functions=build_seal_functions(keys)))
