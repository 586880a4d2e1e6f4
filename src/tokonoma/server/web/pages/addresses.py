"""From the address of a record to the page that shows it."""

from urllib.parse import quote

RECORD = "/admin/record"
MODULE_PAGES: dict[str, str] = {
    "memory": "/admin/memory/",
}
"""Module → the start of the path of its own page for one record; the name of the record follows, quoted."""

_SCHEME = "tokonoma://"


def link_record(address: str) -> str:
    """The path of the page for a record, for links in templates."""
    module, _, name = address.removeprefix(_SCHEME).partition("/")
    if address.startswith(_SCHEME) and module in MODULE_PAGES:
        return MODULE_PAGES[module] + quote(name, safe="")
    return f"{RECORD}?id={quote(address, safe='')}"
