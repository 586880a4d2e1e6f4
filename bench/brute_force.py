"""`python -m bench.brute_force`: does `manual_find` overlook a section? A plain search of the files says so.

The manual sets are written out as Markdown pages in both languages, with files among them that a search could overlook:
other encodings, decomposed names, links, names that nobody can type, files that are too large. For random words of the
texts, every section that contains the word must be a hit, or it must be listed as not searched, with a reason. The data
lie beside the project (`../shared/eval`, or EVAL=folder) and never enter it.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokonoma.core.normalize import normalize

from .library import Library
from .quality import EVAL, House, lines

Place = tuple[str, str, int]
"""manual, path, first line"""
_LATIN = re.compile(r"[a-z][a-z0-9]{2,}")
_JAPANESE = re.compile(r"[\u30a1-\u30faー]{3,10}|[\u4e00-\u9fff]{2,6}")
_SECTIONS_PER_PAGE = 3
_ENCODINGS = ("cp932", "euc_jp", "utf-16", "iso2022_jp")


def _split_pages(corpus: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Pages of three sections, so that there are thousands of files."""
    counts: dict[tuple[str, str], int] = {}
    for record in corpus:
        meta = record["meta"]
        key = record["lang"], meta["path"]
        number = counts[key] = counts.get(key, -1) + 1
        stem = meta["path"].removesuffix(".md")
        yield {**record, "meta": {**meta, "path": f"{stem}-{number // _SECTIONS_PER_PAGE}.md"}}


class Shelf(Library):
    """All sets in one house. `texts` are the normalized sections, `readable` says which a search can read."""

    def __init__(self, home: Path, sets: list[str], rng: random.Random) -> None:
        self.home, self.characters, self.rng = home, 0, rng
        self.ids: dict[Place, str] = {}
        self.sizes: dict[str, int] = {}
        self.lines: dict[str, list[str]] = {}
        for name in sets:
            self._write(_split_pages(lines(f"{name}.corpus")))
        self.manuals = home / "workspace" / "manuals"
        self.texts: dict[Place, str] = {}
        self.left_out: set[str] = set()
        self.starts: dict[tuple[str, str], list[int]] = {}
        self._read_back()
        self._make_odd()
        self.app = House(home, embed_provider="none").app

    def _read_back(self) -> None:
        """The sections from the files themselves; where each starts is known from writing them."""
        starts: dict[tuple[str, str], list[int]] = {}
        for manual, path, line in self.ids:
            starts.setdefault((manual, path), []).append(line)
        for (manual, path), first in starts.items():
            own = (self.manuals / manual / path).read_text(encoding="utf-8").split("\n")
            for start, end in zip(sorted(first), [*sorted(first)[1:], len(own) + 1], strict=True):
                self.texts[manual, path, start] = " ".join(normalize("\n".join(own[start - 1 : end - 1])).split())

    def _make_odd(self) -> None:
        """Every twentieth page gets another encoding or name, or becomes one that cannot be read."""
        files = sorted({place[:2] for place in self.texts})
        for number, (manual, path) in enumerate(self.rng.sample(files, len(files) // 20)):
            file = self.manuals / manual / path
            if number % 8 < 4:
                self._encode(file, _ENCODINGS[number % 8])
            elif number % 8 == 4:
                self._rename(manual, path, unicodedata.normalize("NFD", "ガイドé") + file.name)
            elif number % 8 == 5:
                os.link(file, self.home / f"{number}.link")
                self.left_out.add(f"{manual}/{path}")
            elif number % 8 == 6:
                file.write_bytes(file.read_bytes() + b"\xff\xe9 ")
                self.left_out.add(f"{manual}/{path}")
            else:
                file.rename(file.with_name(f" {file.name}"))
                odd = f"{manual}/{Path(path).with_name(' ' + file.name)}"
                self._move(manual, path, str(Path(path).with_name(f" {file.name}")))
                self.left_out.add(odd)

    def _encode(self, file: Path, encoding: str) -> None:
        try:
            data = file.read_text(encoding="utf-8").encode(encoding)
        except UnicodeEncodeError:  # it stays as it is
            return
        file.write_bytes(data)

    def _rename(self, manual: str, path: str, name: str) -> None:
        (self.manuals / manual / path).rename((self.manuals / manual / path).with_name(name))
        self._move(manual, path, unicodedata.normalize("NFC", str(Path(path).with_name(name))))

    def _move(self, manual: str, old: str, new: str) -> None:
        for place in [each for each in self.texts if each[:2] == (manual, old)]:
            self.texts[manual, new, place[2]] = self.texts.pop(place)

    def grep(self, term: str) -> set[Place]:
        """The sections with the word, by a plain search of their normalized text."""
        pattern = re.escape(term)
        if term.isascii():
            pattern = rf"(?<![a-z0-9]){pattern}(?![a-z0-9])"
        found = re.compile(pattern)
        return {place for place, text in self.texts.items() if term in text and found.search(text)}

    def locate(self, place: Place) -> Place:
        """The section of the index that holds this one: a fence that is not closed swallows the headings after it."""
        manual, path, line = place
        if not self.starts:
            with self.app.database.reading() as rows:
                for name, inside, first in rows.rows("select manual, path, line from manual_section"):
                    self.starts.setdefault((name, inside), []).append(first)
        starts = self.starts.get((manual, path), [line])
        return manual, path, max((first for first in starts if first <= line), default=line)

    def draw(self, count: int) -> list[str]:
        """Random words of random sections, half of them English."""
        places, terms = sorted(self.texts), dict[str, None]()
        for words in (_LATIN, _JAPANESE):
            wanted = len(terms) + count // 2
            while len(terms) < wanted:
                found = words.findall(self.texts[self.rng.choice(places)])
                if found:
                    terms[self.rng.choice(found)] = None
        return list(terms)

    def search(self, term: str) -> tuple[set[Place], set[Place], set[str], int]:
        """Hits, sections and files that are listed as not searched, and rounds: as far as `next_actions` lead."""
        hits: set[Place] = set()
        params: dict[str, Any] = {"query": term}
        for rounds in range(1, 100):
            params["budget"] = {"max_candidates": 1000}
            told = self.call("find", "manual", **params)
            hits.update(place for place in self.pages(told["trace_id"], "candidates") if isinstance(place, tuple))
            resume = [
                each["params"] for each in told["next_actions"] if "only_unscanned_from_trace_id" in each["params"]
            ]
            if not resume:
                listed = list(self.pages(told["trace_id"], "unscanned"))
                sections = {place for place in listed if isinstance(place, tuple)}
                return hits, sections, {each for each in listed if isinstance(each, str)}, rounds
            params = resume[0]
        raise AssertionError(f"{term}: resuming does not end")

    def pages(self, trace_id: str, kind: str) -> Iterator[Place | str]:
        offset, total = 0, 1
        while offset < total:
            page = self.call("hits", trace_id=trace_id, kind=kind, offset=offset, limit=200)
            offset, total = offset + len(page["items"]), page["total"]
            for item in page["items"]:
                ref = item.get("ref")
                yield (ref["manual_id"], ref["path"], ref["start_line"]) if ref else item["title"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.brute_force", description=__doc__)
    parser.add_argument("--sets", default="k8s,fastapi")
    parser.add_argument("--terms", type=int, default=200)
    parser.add_argument("--seed", type=int, default=16)
    options = parser.parse_args()
    if not (EVAL / "dev").is_dir():
        sys.exit(f"The evaluation sets are not here: {EVAL} (EVAL=folder says where they are)")
    with tempfile.TemporaryDirectory(prefix="tokonoma-brute-force-") as home:
        shelf = Shelf(Path(home), options.sets.split(","), random.Random(options.seed))
        before = time.process_time()
        shelf.index_all()
        walked = sum(len(files) for _, _, files in os.walk(shelf.manuals))
        print(f"{walked} files, {len(shelf.texts)} sections: {time.process_time() - before:.0f} s CPU", flush=True)
        _report(shelf, options.terms, walked)
        shelf.app.close()


def _report(shelf: Shelf, count: int, walked: int) -> None:
    summary = shelf.call("find", query="settle")["summary"]
    accounted = (
        summary["scanned_files"] + summary.get("unscanned_files", 0) + sum(summary.get("left_out_files", {}).values())
    )
    print(f"accounted for: {accounted} of {walked} files; left out: {summary.get('left_out_files')}")
    expected = found = listed = rounds = 0
    missed: list[tuple[str, Place]] = []
    for term in shelf.draw(count):
        hits, sections, files, needed = shelf.search(term)
        places = {shelf.locate(place) for place in shelf.grep(term)}
        expected, rounds = expected + len(places), max(rounds, needed)
        found += len(places & hits)
        named = {place for place in places - hits if place in sections or _is_listed(f"{place[0]}/{place[1]}", files)}
        listed += len(named)
        missed += [(term, place) for place in sorted(places - hits - named)]
    print(f"{count} terms in {expected} sections: {found} hits, {listed} listed with a reason, {len(missed)} missed")
    print(f"rounds at most: {rounds}")
    for term, place in missed[:20]:
        print(f"  missed: {term!r} in {place}")


def _is_listed(path: str, files: set[str]) -> bool:
    """Whether a file is named, also by a name of which the policy masks a part."""
    masked = (re.split(r"\[masked:\w+\]", each) for each in files if "[masked:" in each)
    return path in files or any(re.fullmatch(".*".join(map(re.escape, parts)), path) for parts in masked)


if __name__ == "__main__":
    main()
