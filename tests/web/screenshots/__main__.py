"""Writes `docs/pictures/LANGUAGE/NAME.webp`. `--png FOLDER` keeps the pictures as Chromium made them, too."""

import argparse
import base64
import contextlib
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from conformance.node import ROOT
from playwright.sync_api import Browser, Page
from web.browser import launch_chromium
from web.screenshots.fonts import find_fonts
from web.screenshots.scene import LANGUAGES, Scene, build_scene, read_texts
from web.screenshots.shots import PHONE, SHOTS, Shot
from web.site import Site
from web.test_tour import sign_in

from tokonoma.app import App
from tokonoma.core import clock

PICTURES = ROOT / "docs" / "pictures"
SHOWN_HOME = "~/.local/share/tokonoma"
SHOWN_ORIGIN = "http://127.0.0.1:8722"
QUALITY = 0.72
# The places of this run mean nothing to a reader, and would differ in each run.
HIDE_PLACES = """pairs => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    for (const [old, shown] of pairs) text.data = text.data.replaceAll(old, shown);
  }
}"""
# Chromium itself makes WebP, which is a third as large as its PNG.
TO_WEBP = """async ([png, quality]) => {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
  canvas.getContext("2d").drawImage(picture, 0, 0);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


@contextlib.contextmanager
def open_server(folder: str) -> Generator[Site]:
    app = App({"home": folder, "oauth": "on", "log_level": "warning"}, {})
    try:
        yield Site(app)
    finally:
        app.close()


@contextlib.contextmanager
def open_scene(language: str) -> Generator[tuple[Site, Scene]]:
    """A server of its own with the scene of this language, on a port."""
    real = clock.read_nanoseconds
    ahead = 0

    def set_time(milliseconds: int) -> None:
        nonlocal ahead
        ahead = milliseconds * 1_000_000 - real()

    clock.read_nanoseconds = lambda: real() + ahead
    try:
        with tempfile.TemporaryDirectory(prefix="tokonoma-") as folder:
            set_time(clock.parse_time("2026-05-01"))
            with open_server(folder) as site:
                scene = build_scene(site, read_texts(language), set_time)
            with open_server(folder) as site, site.serve() as origin:
                site.origin = origin
                while site.call("system", "status")["sizes"].get("embedding_queue"):
                    time.sleep(0.05)
                yield site, scene
    finally:
        clock.read_nanoseconds = real


def take(browser: Browser, site: Site, scene: Scene, shot: Shot) -> bytes:
    """As PNG."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        device_scale_factor=2 if shot.width == PHONE else 1.5,
        locale=scene.texts["language"],
        color_scheme=shot.scheme,
        timezone_id="Asia/Tokyo",
    )
    page = context.new_page()
    sign_in(page, site)
    page.goto(site.origin + shot.find(scene))
    if shot.act is not None:
        shot.act(page)
    page.evaluate(HIDE_PLACES, [(site.app.server_info.locations()["home"], SHOWN_HOME), (site.origin, SHOWN_ORIGIN)])
    png = page.screenshot(animations="disabled", caret="hide")
    context.close()
    return png


def make_webp(page: Page, png: bytes) -> bytes:
    return base64.b64decode(page.evaluate(TO_WEBP, [base64.b64encode(png).decode(), QUALITY]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="make screenshots", description="Pictures of the pages, for the documentation."
    )
    parser.add_argument("--png", type=Path, help="a folder for the pictures as PNG")
    parser.add_argument("--only", action="append", help="name of a picture; may be repeated")
    parser.add_argument("--language", action="append", choices=LANGUAGES)
    chosen = parser.parse_args(arguments)
    begin, total = time.monotonic(), 0
    with launch_chromium(find_fonts()) as browser:
        converter = browser.new_page()
        for language in chosen.language or LANGUAGES:
            with open_scene(language) as (site, scene):
                for shot in SHOTS:
                    if chosen.only and shot.name not in chosen.only:
                        continue
                    png = take(browser, site, scene, shot)
                    webp = make_webp(converter, png)
                    total += len(webp)
                    _write(PICTURES / language / f"{shot.name}.webp", webp)
                    if chosen.png:
                        _write(chosen.png / language / f"{shot.name}.png", png)
    print(f"{total / 1e6:.2f} MB in {time.monotonic() - begin:.0f} s")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as error:  # npm is missing
        raise SystemExit(str(error)) from None
