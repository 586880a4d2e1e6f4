"""Words of pages about access."""

WORDS: dict[str, str] = {}
