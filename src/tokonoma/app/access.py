"""What lets HTTP callers in, with the settings of this process."""

from typing import TYPE_CHECKING

from tokonoma.auth.authenticate import Authenticator
from tokonoma.auth.offer import OAuthOffer

if TYPE_CHECKING:
    from tokonoma.app import App


def open_authenticator(app: "App") -> Authenticator:
    settings = app.settings
    offer = OAuthOffer(settings.get_text("oauth"), settings.get_text("public_url"))
    return Authenticator(app.database.reading, settings.get_flag("require_key"), offer)
