"""English words without their inflection. Pure."""

from functools import lru_cache

_IRREGULAR = {
    "ran": "run", "sent": "send", "kept": "keep", "made": "make", "paid": "pay", "wrote": "write", "written": "write",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "held": "hold", "chose": "choose",
    "chosen": "choose", "went": "go", "gone": "go", "goes": "go", "left": "leave", "lost": "lose", "built": "build",
    "found": "find", "got": "get", "began": "begin", "begun": "begin", "broke": "break", "broken": "break",
    "children": "child", "men": "man", "women": "woman", "people": "person", "mice": "mouse", "feet": "foot",
    "indices": "index", "analyses": "analysis", "data": "datum", "sold": "sell", "told": "tell", "meant": "mean",
    "set": "set", "lives": "life", "bought": "buy", "brought": "bring", "thought": "think", "taught": "teach",
}  # fmt: skip
_SUFFIXES = ("ational", "ization", "isation", "ation", "ition", "ments", "ment", "ness", "ingly", "edly", "ings")
_SHORT = ("ing", "ied", "ies", "ed", "er", "ers", "ly", "al", "ion", "ions", "es", "s", "e", "y")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """An English word without its inflection. Words of other languages lose little by it."""
    word = _IRREGULAR.get(word, word)
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    for suffix in (*_SUFFIXES, *_SHORT):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4 - (suffix == "s") and not word.endswith("ss"):
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) > 5 and word.endswith("at"):
        word = word[:-2]
    return word[:-1] if len(word) > 3 and word[-1] in "eyi" else word
