"""URLs for people: without user, password, query and fragment."""

import re

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"[?&]host=([^&#]+)")
NOT_A_URL = "(not a URL)"


def hide_credentials(url: str) -> str:
    """`https://host:port/path`. What is no URL may be a password and is not shown at all.

    People forget to escape `@`, `/`, `?` and `#` in a password, so everything before the last `@` may belong to it.
    """
    found = _URL.fullmatch(url.strip())
    if found is None:
        return NOT_A_URL
    scheme, rest = found.groups()
    place = re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]
    if not place or place.startswith("/"):  # PostgreSQL may name its host in the query: a socket's folder
        named = _HOST.search(rest)
        place = (named[1] if named else "localhost" if scheme.lower().startswith("postgres") else "") + place
    return f"{scheme}://{place}"
