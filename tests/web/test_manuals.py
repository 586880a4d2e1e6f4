"""Pages of manuals: what they show of files, coverage and searches, and what their forms do."""

import re
from urllib.parse import quote

import pytest
from web.seeds.manuals import add_manual

TERMS = """# Refunds

Refunds take 30 days. Unless the goods are fresh, see [appendix](appendix.md).

## Steps

1. Call us by e-mail.
2. Send it back.

# Exchange

An exchange follows the rules of refunds.
"""


@pytest.fixture
def filled(site):
    site.sign_in()
    add_manual(site, "rules", {"terms.md": TERMS, "appendix.md": "# Appendix\n\nFresh goods.\n", "note.txt": "x"})
    return site


def find_text(page) -> str:
    """The words of the page's main part."""
    main = page.text.partition("<main")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_the_list_names_every_manual_with_its_figures(filled):
    text = find_text(filled.get("/admin/manuals"))
    assert "rules Files: 2 Sections: 4" in text
    assert 'href="/admin/manuals/in/rules"' in filled.get("/admin/manuals").text


def test_without_manuals_the_page_says_how_to_add_one(open_site):
    site = open_site()
    site.sign_in()
    assert "tokonoma where" in site.get("/admin/manuals").text


def test_the_reader_shows_one_section_beside_the_outline(filled):
    first = filled.get("/admin/manuals/read/rules/terms.md")
    assert "Refunds take 30 days" in find_text(first)
    assert "Send it back" not in find_text(first)
    outline = re.search(r'<nav class="outline".*?</nav>', first.text, re.DOTALL)
    assert outline is not None
    assert re.findall(r">([^<]+)</a>", outline[0]) == ["Refunds", "Steps", "Exchange"]
    following = re.search(r'href="([^"]+)" rel="next"', first.text)
    assert following is not None
    second = filled.get(following[1].replace("&amp;", "&"))
    assert "Send it back" in find_text(second)
    assert 'rel="prev"' in second.text
    assert 'id="L5"' in second.text


def test_a_line_is_shown_with_its_number_and_marked(filled):
    page = filled.get("/admin/manuals/read/rules/terms.md?view=lines&line=8")
    assert 'id="L8" class="line read marked"' in page.text
    assert "2. Send it back." in page.text
    assert "<pre" in filled.get("/admin/manuals/read/rules/terms.md?view=raw").text


def test_a_section_that_is_longer_than_a_page_goes_on(filled):
    text = "".join(f"line {number} of many words\n" for number in range(2_000))
    add_manual(filled, "long", {"a.md": f"# Long\n{text}"})
    page = filled.get("/admin/manuals/read/long/a.md?view=lines")
    shown = set(re.findall(r'id="L(\d+)"', page.text))
    while rest := re.search(r'href="([^"]+)" data-key="m"', page.text):
        page = filled.get(rest[1].replace("&amp;", "&"))
        found = set(re.findall(r'id="L(\d+)"', page.text))
        assert not shown & found
        shown |= found
    assert len(shown) == 2_001
    far = filled.get("/admin/manuals/read/long/a.md?view=lines&line=1990")
    assert 'id="L1990" class="line read marked"' in far.text


def test_coverage_leads_to_what_is_unread_until_all_was_read(filled):
    before = filled.get("/admin/manuals/in/rules")
    assert "terms.md: 0 % read, 0 % cited, 1 parts unread" in before.text
    cited = [{"start_line": 3, "end_line": 6}]
    filled.get("/admin/manuals/read/rules/terms.md")
    filled.call("manual", "coverage", manual_id="rules", path="terms.md", cited_ranges=cited)
    page = filled.get("/admin/manuals/in/rules").text
    assert 'class="strip-cited"' in page
    assert 'class="strip-unread"' in page
    unread = re.findall(r'href="([^"]*terms\.md\?view=lines&amp;line=\d+#L\d+)"', page)
    while unread:
        filled.get(unread[0].partition("#")[0].replace("&amp;", "&"))
        page = filled.get("/admin/manuals/in/rules").text
        unread = re.findall(r'href="([^"]*terms\.md\?view=lines&amp;line=\d+#L\d+)"', page)
    assert "terms.md: 100 % read" in page


def test_a_search_shows_its_account_its_lists_and_goes_on(filled):
    sent = filled.get("/admin/manuals/find?q=refunds&most=1&seconds=30")
    assert sent.status_code == 303
    page = filled.get(sent.headers["location"])
    text = find_text(page)
    assert "The search stopped early. The search had as many hits as it was allowed to have." in text
    assert "Files left out: It is neither a Markdown nor a JSON file. 1" in text
    resume = re.search(r'href="([^"]*resume=[^"]*)"', page.text)
    assert resume is not None
    again = filled.get(resume[1].replace("&amp;", "&"))
    assert again.status_code == 303
    assert "round 2" in find_text(filled.get(again.headers["location"]))
    unscanned = filled.get(sent.headers["location"] + "&list=unscanned")
    assert (
        "The search had as many hits as it was allowed to have." in find_text(unscanned).partition("What was found")[2]
    )
    assert "note.txt" in unscanned.text


def test_hits_have_their_lines_and_lead_to_them(filled):
    location = filled.get("/admin/manuals/find?q=refunds").headers["location"]
    page = filled.get(location)
    assert "Refunds take 30 days." in page.text
    link = re.search(r'<a class="number" href="([^"]+)">3</a>', page.text)
    assert link is not None
    assert 'id="L3" class="line read marked"' in filled.get(link[1].partition("#")[0].replace("&amp;", "&")).text
    assert "Unless the goods are fresh" in filled.get(location + "&list=exceptions").text


def test_an_expired_search_says_so_and_keeps_the_query(filled):
    page = filled.get("/admin/manuals/found/tr_0000000000000000?q=my+topic")
    assert page.status_code == 404
    assert 'value="my topic"' in page.text
    assert "expire after 30 minutes" in page.text


def test_all_hits_are_copied_into_the_vault(filled):
    location = filled.get("/admin/manuals/find?q=refunds").headers["location"]
    form = {"token": filled.find_token(), "to_path": "found/返品.md", "mode": "create", "min_score": "0"}
    sent = filled.post(location, form)
    assert sent.headers["location"] == f"/admin/vault/file/{quote('found/返品.md')}?notice=copied"
    assert "Refunds take 30 days" in filled.call("vault", "read", path="found/返品.md", full=True)["text"]
    again = filled.post(location, form)
    assert again.status_code == 400
    assert 'value="found/返品.md"' in again.text


SEARCHES = [
    ("plain", "REFUNDS TAKE", "Refunds take 30 days"),
    ("loose", "email", "Call us by e-mail"),
    ("regex", "take .0", "Refunds take 30 days"),
]


@pytest.mark.parametrize(("mode", "query", "shown"), SEARCHES)
def test_lines_are_searched_in_three_ways(filled, mode, query, shown):
    page = filled.get(f"/admin/manuals/search?q={quote(query)}&mode={mode}")
    assert "rules/terms.md" in page.text
    assert shown in page.text


def test_a_wrong_expression_is_explained_and_kept(filled):
    page = filled.get("/admin/manuals/search?q=%28&mode=regex")
    assert page.status_code == 400
    assert 'role="alert"' in page.text
    assert 'value="("' in page.text


def test_addresses_of_searches_and_graphs_lead_to_the_line(filled):
    sent = filled.get("/admin/record?id=" + quote("tokonoma://manual/rules/terms.md#L5", safe=""))
    location = filled.get(sent.headers["location"]).headers["location"]
    assert location == "/admin/manuals/read/rules/terms.md?view=lines&line=5#L5"


def test_odd_names_and_files_that_are_no_text_are_shown_with_the_reason(filled):
    name = "深い/か\u3099 #1?&%.md"
    add_manual(filled, "odd", {name: "# Odd\n\ntext\n", "bad.md": b"\x00\x01\x02"})
    listed = filled.get("/admin/manuals/in/odd")
    href = re.search(r'href="(/admin/manuals/read/odd/%E6[^"?]+)"', listed.text)
    assert href is not None
    assert "Odd" in find_text(filled.get(href[1]))
    assert "It is not a text." in find_text(listed)
    shown = filled.get("/admin/manuals/read/odd/bad.md")
    assert "This file cannot be shown. It is not a text." in find_text(shown)
