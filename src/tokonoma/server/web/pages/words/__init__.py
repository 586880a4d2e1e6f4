"""The words of all pages in both languages. The English text is the key; a test compares the tables with their use.
What tools say is in tables of its own (`messages`).

One file for each group of pages, with `WORDS` and, if it has some, `NOTICES`. A short English word can mean different
things on different pages, so the tables of a page's own group come first."""

import re
from functools import cache

from tokonoma.server.web.page_parts import Language
from tokonoma.server.web.pages.words import (
    access,
    access_clients,
    access_servers,
    access_services,
    claims,
    entry,
    explore,
    frame,
    items,
    manuals,
    memory,
    memory_changes,
    system,
    trying,
    vault,
)
from tokonoma.server.web.pages.words.messages import find_message

JAPANESE = {
    **entry.WORDS,
    **frame.WORDS,
    **system.WORDS,
    **manuals.WORDS,
    **vault.WORDS,
    **explore.WORDS,
    **trying.WORDS,
    **memory.WORDS,
    **memory_changes.WORDS,
    **items.WORDS,
    **claims.WORDS,
    **access.WORDS,
    **access_clients.WORDS,
    **access_services.WORDS,
    **access_servers.WORDS,
}

_OWN_TABLES: dict[str, tuple[dict[str, str], ...]] = {
    "access": (access.WORDS, access_clients.WORDS, access_services.WORDS, access_servers.WORDS),
    "claims": (claims.WORDS,),
    "explore": (explore.WORDS,),
    "items": (items.WORDS,),
    "manuals": (manuals.WORDS,),
    "memory": (memory.WORDS, memory_changes.WORDS),
    "system": (system.WORDS,),
    "try": (trying.WORDS,),
    "vault": (manuals.WORDS, vault.WORDS),  # both show files in the same way
}
"""By the folder of a template; those beside the folders belong to `explore`."""

NOTICES = {
    **frame.NOTICES,
    **system.NOTICES,
    **manuals.NOTICES,
    **vault.NOTICES,
    **explore.NOTICES,
    **memory_changes.NOTICES,
    **items.NOTICES,
    **claims.NOTICES,
    **access.NOTICES,
    **access_clients.NOTICES,
    **access_services.NOTICES,
    **access_servers.NOTICES,
}

MODULES = {
    "memory": "Memos, and how they are related",
    "items": "Typed items with status, tags and links",
    "claims": "Claims with scope and expiry",
    "manual": "Search and reading in manuals",
    "vault": "Files that agents write",
    "bridge": "Copies between manuals, files and services",
    "system": "State of this server",
}
"""What the built-in modules hold, for people. Services and plugins describe themselves."""

_LANGUAGE = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?")


def translate(language: Language, text: str, group: str = "explore", **parts: object) -> str:
    """The text in this language, with `{name}` replaced. A text of a tool that is in no table stays as it is."""
    found = _find_words(group).get(text) if language == "ja" else text
    if found is None:
        return find_message(text) or text
    return found.format(**parts) if parts else found


@cache
def _find_words(group: str) -> dict[str, str]:
    words = dict(JAPANESE)
    for table in (frame.WORDS, entry.WORDS, *_OWN_TABLES.get(group, ())):
        words |= table
    return words


def choose_page_language(asked: str, accepted: str, otherwise: Language) -> Language:
    """The first of ours that the client asked for, else the one that the browser likes best."""
    ranked: list[tuple[float, int, Language]] = []
    for header in (asked, accepted):
        for place, part in enumerate(header[:1_000].split(",")):
            match = _LANGUAGE.fullmatch(part)
            name = match[1].lower() if match else ""
            if match and name in ("en", "ja") and float(match[2] or 1) > 0:
                ranked.append((-float(match[2] or 1), place, "ja" if name == "ja" else "en"))
        if ranked:
            return min(ranked)[2]
    return otherwise
