"""The documentation site: which pages it has, where their links lead, and that a strict build of it succeeds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import make_site
import pytest
import site_pages
from docs.markdown import ROOT, files, links
from docs.site_tools import find_tool
from site_pages import LinkMap, Page, SiteError, build_navigation, collect_pages, list_sources, widen_lists

SOURCES = list_sources()
SITES = collect_pages(SOURCES)
NEW = "docs/guides/a-new-guide.md"


def walk(navigation: list[dict[str, Any]]) -> Iterator[str]:
    for entry in navigation:
        for value in entry.values():
            if isinstance(value, str):
                yield value
            else:
                yield from walk(value)


@pytest.mark.parametrize("language", site_pages.LANGUAGES)
def test_the_navigation_names_every_page_once(language):
    named = list(walk(build_navigation(language, SITES[language], frozenset(SOURCES))))
    assert sorted(named) == sorted(SITES[language])
    guides = {f"guides/{each.relative_to(ROOT / 'docs/guides')}" for each in (ROOT / "docs/guides").rglob("*.md")}
    assert guides <= set(named)
    for path in (
        "architecture.md",
        "changelog.md",
        "security.md",
        "contributing.md",
        "benchmarks.md",
        "reference/tools.md",
    ):
        assert path in named


def test_both_languages_have_the_same_pages_and_every_guide_is_translated():
    assert SITES["en"].keys() == SITES["ja"].keys()
    english = {path for path, page in SITES["ja"].items() if page.language == "en"}
    assert [path for path in english if path.startswith("guides/")] == []
    assert {"index.md", "contents.md", "benchmarks.md", "examples/batches/index.md"} & english == set()


@pytest.mark.parametrize("language", site_pages.LANGUAGES)
def test_a_page_that_the_index_does_not_name_is_named_by_an_error(language):
    sources = [*SOURCES, NEW]
    with pytest.raises(SiteError, match=rf"{site_pages.INDEXES[language]} does not name {NEW}: add a line to it"):
        build_navigation(language, collect_pages(sources)[language], frozenset(sources))


def test_a_translation_without_an_original_is_an_error():
    with pytest.raises(SiteError, match=r"docs/ja/left-over.md translates neither"):
        collect_pages([*SOURCES, "docs/ja/left-over.md"])


@pytest.mark.parametrize(
    ("language", "source", "link", "leads_to"),
    [
        ("en", "docs/guides/memory.md", "keys.md#namespaces", "keys.md#namespaces"),
        ("en", "docs/guides/memory.md", "../../SECURITY.md", "../security.md"),
        ("en", "docs/guides/memory.md", "../ja/memory.md", "../ja/guides/memory.html"),
        ("en", "README.md", "docs/README.md#services", "contents.md#services"),
        ("en", "README.md", "LICENSE", f"{site_pages.CODE_HOST}/blob/main/LICENSE"),
        ("en", "README.md", "docs/adr/", f"{site_pages.CODE_HOST}/tree/main/docs/adr"),
        ("en", "README.md", "https://example.com/a.md", "https://example.com/a.md"),
        ("en", "README.md", "#limits", "#limits"),
        ("ja", "docs/ja/memory.md", "../guides/memory.md", "../../guides/memory.html"),
        ("ja", "docs/ja/memory.md", "../reference/tools.md", "../reference/tools.md"),
        ("ja", "docs/ja/services/jira.md", "../accounts.md", "../accounts.md"),
        ("ja", "README.ja.md", "docs/ja/README.md", "contents.md"),
        # An English page among the Japanese ones: the translation, unless an anchor is meant, which is another there.
        ("ja", "SECURITY.md", "docs/guides/policy.md", "guides/policy.md"),
        ("ja", "SECURITY.md", "docs/guides/policy.md#masks", "../guides/policy.html#masks"),
    ],
)  # fmt: skip
def test_links_lead_where_they_lead_in_the_repository(language, source, link, leads_to):
    page = next(each for each in SITES[language].values() if each.source == source)
    assert LinkMap(SITES, language).rewrite(page, f"see [`it`]({link}).") == f"see [`it`]({leads_to})."


def test_links_in_code_stay_and_a_missing_file_is_an_error():
    page = SITES["en"]["guides/memory.md"]
    code = "`[a](nowhere.md)`\n\n```md\n[a](nowhere.md)\n```\n"
    assert LinkMap(SITES, "en").rewrite(page, code) == code
    with pytest.raises(SiteError, match=r"docs/guides/memory.md links to nowhere.md, which does not exist"):
        LinkMap(SITES, "en").rewrite(page, "[a](nowhere.md)")


def test_pictures_come_along(tmp_path, monkeypatch):
    (tmp_path / "docs/pictures").mkdir(parents=True)
    (tmp_path / "docs/guides").mkdir()
    (tmp_path / "docs/pictures/home.png").write_bytes(b"picture")
    (tmp_path / "docs/guides/pages.md").write_text("![Home](../pictures/home.png)\n")
    for module in (make_site, site_pages):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    page = Page("docs/guides/pages.md", "guides/pages.md", "en")
    sites = {"en": {page.path: page}}
    make_site.write_pages(tmp_path / "out", sites["en"], LinkMap(sites, "en"))
    assert (tmp_path / "out/pictures/home.png").read_bytes() == b"picture"
    assert "![Home](../pictures/home.png)" in (tmp_path / "out/guides/pages.md").read_text()


def test_lists_are_written_as_the_site_reads_them():
    text = "- one\n  - below\n\n  more\n- two\n\n```sh\n  left as it is\n```\n"
    assert widen_lists(text) == "- one\n    - below\n\n    more\n\n- two\n\n```sh\n  left as it is\n```\n"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', ["a.html: https://cdn.example/x.js"]),
        ("a.html", "<link rel=stylesheet href=//fonts.example/css>", ["a.html: //fonts.example/css"]),
        ("a.html", '<img src="pictures/a.png"> <a href="https://example.com/">a link</a>', []),
        ("a.html", '<link rel="canonical" href="https://docs.example/a.html">', []),
        ("a.css", "@import 'https://fonts.example/css'; a { background: url(//cdn.example/a.png) }",
         ["a.css: https://fonts.example/css", "a.css: //cdn.example/a.png"]),
        ("a.css", "a { background: url(data:image/png;base64,AA) }", []),
    ],
)  # fmt: skip
def test_what_a_browser_would_fetch_from_other_hosts_is_found(tmp_path, name, text, found):
    (tmp_path / name).write_text(text)
    assert list(make_site.find_outside(tmp_path)) == found


def test_every_page_of_the_documentation_is_in_the_site():
    """Whatever the index says, no Markdown file under docs/ is left out."""
    below = {each.relative_to(ROOT).as_posix() for each in files() if (ROOT / "docs") in each.parents}
    assert below <= {page.source for pages in SITES.values() for page in pages.values()}


def test_a_strict_build_has_every_page_in_both_languages(built: Path):
    for path in SITES["en"]:
        page = Path(path).with_suffix(".html")
        assert (built / page).is_file()
        assert (built / "ja" / page).is_file()
    text = (built / "ja" / "guides" / "services" / "jira.html").read_text(encoding="utf-8")
    assert 'lang="ja"' in text
    assert 'href="../../../guides/services/jira.html" hreflang="en"' in text
    assert '<link rel="canonical" href="https://docs.example/ja/guides/services/jira.html">' in text
    assert not built.with_name("site-work").exists()


@pytest.mark.parametrize("text", ["[a](#nowhere)", "[a](other.md)", "[a](b.md#nowhere)"])
def test_a_broken_link_fails_the_build(tmp_path, text):
    program = find_tool("zensical")
    (tmp_path / "pages-en").mkdir()
    (tmp_path / "theme").mkdir()
    (tmp_path / "pages-en" / "index.md").write_text(f"# Home\n\n{text}\n")
    (tmp_path / "pages-en" / "b.md").write_text("# B\n")
    settings = tmp_path / "zensical-en.toml"
    settings.write_text(make_site.write_settings("en", [{"Home": "index.md"}, {"B": "b.md"}], ""))
    with pytest.raises(SiteError, match="does not exist"):
        make_site.run_zensical(settings, program)


def test_both_indexes_name_the_same_pages_in_the_same_sections():
    shapes: list[list[list[str]]] = []
    for language in site_pages.LANGUAGES:
        sections = site_pages.read_sections(site_pages.INDEXES[language])
        shapes.append(
            [
                sorted(site_pages.find_path(source, frozenset(SOURCES))[0] for _, source in section.pages)
                for section in sections
                if section.title != site_pages.DECISIONS["en"]
            ]
        )
    assert shapes[0] == shapes[1]


def test_the_index_names_no_page_twice():
    for index in site_pages.INDEXES.values():
        text = (ROOT / index).read_text(encoding="utf-8")
        rows = [line.split("](")[1].partition(")")[0] for line in text.splitlines() if line.startswith(("| [", "- ["))]
        assert len(rows) == len(set(rows))
        assert set(rows) <= set(links(text))
