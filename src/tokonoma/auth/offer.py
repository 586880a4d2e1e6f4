"""Whether clients may sign in with OAuth, and under which origins. Small, because every HTTP request may ask."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from tokonoma.core.desk import Rows
from tokonoma.core.network import is_loopback

_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class OAuthOffer:
    """`setting`: on, off, or auto, which is on with `public_url` and once a person has a password. `problem`: why it is
    off whatever the setting says."""

    setting: str = "off"
    public_url: str = ""
    problem: str = ""

    def is_on(self, rows: Rows) -> bool:
        if self.problem or self.setting == "off":
            return False
        return self.setting == "on" or bool(self.public_url) or _has_password(rows)

    def covers(self, origin: str) -> bool:
        """Whether tokens may travel there: on this machine, over TLS, or where the owner says that TLS is in front."""
        if not _ORIGIN.fullmatch(origin):  # its port comes from a header
            return False
        parts = urlsplit(origin)
        return origin == self.public_url or parts.scheme == "https" or is_loopback(parts.hostname or "")

    def list_origins(self, origin: str) -> tuple[str, ...]:
        """The issuers whose tokens count for a request to this origin."""
        return tuple({each for each in (origin, self.public_url) if each and self.covers(each)})


def _has_password(rows: Rows) -> bool:
    sql = "select 1 from person where password is not null and revoked_at is null limit 1"
    return rows.row(sql) is not None
