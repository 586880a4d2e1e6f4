"""The pictures of the documentation: all are made by `make screenshots`, all are shown, each has a text."""

import re

from docs.markdown import ROOT, files
from web.screenshots.scene import LANGUAGES, read_texts
from web.screenshots.shots import SHOTS

PICTURES = ROOT / "docs" / "pictures"
MOST_BYTES = 2_500_000
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]+\.webp)\)")


def test_every_picture_is_made_by_the_tour_and_is_small():
    found = sorted(each.relative_to(PICTURES).as_posix() for each in PICTURES.rglob("*") if each.is_file())
    assert found == sorted(f"{language}/{shot.name}.webp" for language in LANGUAGES for shot in SHOTS)
    assert sum((PICTURES / each).stat().st_size for each in found) < MOST_BYTES


def test_every_picture_is_shown_with_a_text():
    shown: set[str] = set()
    for file in files():
        for text, path in SHOWN.findall(file.read_text(encoding="utf-8")):
            assert len(text) > 10, (file.name, path)
            shown.add((file.parent / path).resolve().relative_to(PICTURES).as_posix())
    assert shown == {f"{language}/{shot.name}.webp" for language in LANGUAGES for shot in SHOTS}


def test_the_scene_is_the_same_in_both_languages():
    def describe(value):
        if isinstance(value, dict):
            return {key: describe(each) for key, each in value.items() if key != "files"}
        return [describe(each) for each in value] if isinstance(value, list) else type(value).__name__

    english, japanese = (read_texts(language) for language in LANGUAGES)
    assert describe(english) == describe(japanese)
    assert len(english["manual"]["files"]) == len(japanese["manual"]["files"])
