"""Names near a misspelt one."""

from collections.abc import Iterable


def find_nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that a person may have meant, best first."""
    import difflib  # 10 ms to import, and only a mistake needs it

    folded = {each.lower().replace("_", ".").replace("-", "."): each for each in known}
    asked = name.lower().replace("_", ".").replace("-", ".")
    close = difflib.get_close_matches(asked, folded, n=most, cutoff=0.5)
    inside = [each for each in folded if asked and (asked in each or each in asked) and each not in close]
    return [folded[each] for each in (close + sorted(inside))[:most]]
