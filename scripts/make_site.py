"""Build the documentation site from the Markdown files of the repository: `make docs`.

    python scripts/make_site.py [FOLDER]          # build into FOLDER (build/site)
    python scripts/make_site.py --serve PORT      # build, then serve it on 127.0.0.1

Zensical builds each language from a copy of the pages (site_pages.py). A broken link, a page that no index names, or
something that a browser would fetch from another host ends the build with an error.
"""

import argparse
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from site_pages import (
    LANGUAGES,
    ROOT,
    LinkMap,
    Page,
    SiteError,
    build_navigation,
    collect_pages,
    list_sources,
    widen_lists,
)

SITE = ROOT / "build" / "site"
PROGRAM = Path(sys.executable).with_name("zensical")
SETTINGS = ROOT / "docs" / "site"
DESCRIPTIONS = {
    "en": "Long-term memory and context for AI agents, on your own machine.",
    "ja": "AIエージェントの長期記憶とコンテキストを、自分のマシンで管理します。",
}
PALETTES = {
    "en": {"TO_DARK": "Switch to dark mode", "TO_LIGHT": "Switch to light mode"},
    "ja": {"TO_DARK": "ダークモードに切り替える", "TO_LIGHT": "ライトモードに切り替える"},
}
# What a browser fetches by itself: anything but a link that a reader follows.
_TAG = re.compile(r"<(?:script|link|img|source|iframe|video|audio|object|embed)\b[^>]*>", re.IGNORECASE)
_OUTSIDE = re.compile(r"(?:src|href|srcset|data)\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]+)", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STYLE_URL = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


def build_site(target: Path, work: Path, address: str = "") -> None:
    """Both languages into `target`; `work` is a folder for copies, emptied first."""
    sources = list_sources()
    sites = collect_pages(sources)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copytree(SETTINGS / "theme", work / "theme")
    for language in LANGUAGES:
        navigation = build_navigation(language, sites[language], frozenset(sources))
        write_pages(work / f"pages-{language}", sites[language], LinkMap(sites, language))
        settings = work / f"zensical-{language}.toml"
        settings.write_text(write_settings(language, navigation, address), encoding="utf-8")
        run_zensical(settings)
    if outside := list(find_outside(work / "site")):
        raise SiteError("a browser would fetch from other hosts: " + ", ".join(sorted(set(outside))))
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(work / "site", target)
    shutil.rmtree(work)


def write_pages(folder: Path, pages: dict[str, Page], links: LinkMap) -> None:
    """Copies of the pages with the links of the site, and the pictures that they show."""
    for own in ("stylesheets", "javascripts"):
        shutil.copytree(SETTINGS / own, folder / own)
    for page in pages.values():
        text = widen_lists(links.rewrite(page, (ROOT / page.source).read_text(encoding="utf-8")))
        target = folder / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"---\nlanguage: {page.language}\n---\n\n{text}", encoding="utf-8")
    for source in sorted(links.assets):
        target = folder / source.removeprefix("docs/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target)


def write_settings(language: str, navigation: list[dict[str, Any]], address: str) -> str:
    """The settings of Zensical for one language."""
    english = language == "en"
    values = {
        "LANGUAGE": language,
        "DESCRIPTION": DESCRIPTIONS[language],
        "SITE_URL": address if english or not address else f"{address.rstrip('/')}/{language}/",
        "SITE_DIR": "site" if english else f"site/{language}",
        "NAVIGATION": format_toml(navigation),
        **PALETTES[language],
    }
    template = (SETTINGS / "zensical.toml").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], template)


def format_toml(value: str | list[Any] | dict[str, Any]) -> str:
    """A list of tables as TOML. Its strings are those of JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {format_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(format_toml, value)) + "]"
    return json.dumps(value)


def run_zensical(settings: Path, program: Path = PROGRAM) -> None:
    if not program.exists():
        raise SiteError(f"there is no {program}: run `make docs`, which installs requirements-docs.lock")
    command = [str(program), "build", "--strict", "--clean", "--config-file", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        report = _COLOUR.sub("", done.stdout + done.stderr).partition("Traceback (most recent call last)")[0]
        raise SiteError(f"zensical failed for {settings.name}:\n{report}")


def find_outside(site: Path) -> Iterator[str]:
    """Addresses of other hosts that a browser would fetch while it shows a page."""
    for file in sorted(site.rglob("*.html")):
        for tag in _TAG.findall(file.read_text(encoding="utf-8")):
            if "canonical" not in tag and "alternate" not in tag:
                yield from (f"{file.relative_to(site)}: {each}" for each in _OUTSIDE.findall(tag))
    for file in sorted(site.rglob("*.css")):
        text = file.read_text(encoding="utf-8")
        yield from (f"{file.relative_to(site)}: {each}" for each in _STYLE_URL.findall(text))


def serve_site(site: Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}/ (Ctrl+C ends it)\n")
        sys.stdout.flush()
        server.serve_forever()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", nargs="?", type=Path, default=SITE)
    parser.add_argument("--url", default="", help="where the site will be published, for its map and canonical links")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve the site on 127.0.0.1 after building it")
    given = parser.parse_args(arguments)
    site = given.folder.resolve()
    try:
        build_site(site, site.with_name(f"{site.name}-work"), given.url)
    except SiteError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return 1
    pages = len(list(site.rglob("*.html")))
    sys.stdout.write(f"{site}: {pages} pages\n")
    if given.serve is not None:
        try:
            serve_site(site, given.serve)
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
