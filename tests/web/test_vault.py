"""Pages of the vault: folders, reading, writing against a version, moving, deleting, restoring, audits."""

import re
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from talk import Http
from web.site import Site

from tokonoma.auth.api_keys import create_key

NAME = "notes/深い/返品 #1?&%.md"
HERE = f"/admin/vault/file/{quote(NAME)}"


@pytest.fixture
def filled(site) -> Site:
    site.sign_in()
    site.call("vault", "create", path=NAME, content="# Memo\n\nRefunds take 30 days.\n")
    site.call("vault", "create", path="index.md", content=f"# Index\n\nSee [memo]({quote(NAME)}).\n")
    return site


def find_text(page) -> str:
    main = page.text.partition("<main")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def read(site: Site, path: str = NAME) -> str:
    return site.call("vault", "read", path=path, full=True)["text"]


def read_hidden(page, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found is not None
    return found[1]


def send(site: Site, page: str, /, **fields: str):
    return site.post(page, {"token": site.find_token(), **fields})


def test_folders_are_browsed_one_by_one(filled):
    top = filled.get("/admin/vault")
    assert 'href="/admin/vault?dir=notes"' in top.text
    assert 'href="/admin/vault/file/index.md"' in top.text
    assert "返品" not in top.text
    assert f'href="{HERE}"' in filled.get(f"/admin/vault?dir={quote('notes/深い')}").text


def test_an_empty_vault_says_how_to_begin(open_site):
    site = open_site()
    site.sign_in()
    assert "vault_create" in site.get("/admin/vault").text


def test_a_file_is_shown_formatted_by_lines_and_plain_with_its_backlinks(filled):
    page = filled.get(HERE)
    assert '<h3 id="L1">Memo</h3>' in page.text
    assert "Index" in find_text(page).partition("Links to this file")[2]
    assert 'id="L3" class="line read marked"' in filled.get(f"{HERE}?view=lines&line=3").text
    assert "# Memo" in filled.get(f"{HERE}?view=raw").text
    sent = filled.get("/admin/record?id=" + quote(f"tokonoma://vault/{NAME}#L3-L3", safe=""))
    assert filled.get(sent.headers["location"]).headers["location"] == f"{HERE}?view=lines&line=3#L3"


def test_names_may_be_written_decomposed(filled):
    root = Path(filled.app.server_info.locations()["vault"])
    (root / unicodedata.normalize("NFD", "がぎぐ.md")).write_text("# Kana\n")
    for form in ("NFC", "NFD"):
        assert "Kana" in find_text(filled.get("/admin/vault/file/" + quote(unicodedata.normalize(form, "がぎぐ.md"))))


def test_files_that_are_no_text_are_named_with_the_reason(filled):
    root = Path(filled.app.server_info.locations()["vault"])
    (root / "a.bin").write_bytes(b"\x00\x01\x02")
    (root / "b.txt").write_bytes("返品は三十日以内に受け付ける。例外はない。".encode("shift_jis"))
    (root / ".hidden").write_text("x")
    page = find_text(filled.get("/admin/vault"))
    assert "It is not a text." in page
    assert "Not listed Files: 1 · Its name begins with a dot." in page
    assert "This file cannot be shown. It is not a text." in find_text(filled.get("/admin/vault/file/a.bin"))
    assert "Shift_JIS" in filled.get("/admin/vault/file/b.txt").text
    assert "Saving stores it in UTF-8." in filled.get("/admin/vault/edit/b.txt").text


def test_a_file_is_created_previewed_and_never_replaced(filled):
    form = {"path": "new/a.md", "content": "# New <b>\n"}
    preview = send(filled, "/admin/vault/new", **form, action="preview")
    assert "<h3>New &lt;b&gt;</h3>" in preview.text
    sent = send(filled, "/admin/vault/new", **form, action="save")
    assert sent.headers["location"] == "/admin/vault/file/new/a.md?notice=saved"
    again = send(filled, "/admin/vault/new", path="new/a.md", content="other", action="save")
    assert again.status_code in (400, 409)
    assert ">\nother</textarea>" in again.text
    assert read(filled, "new/a.md") == "# New <b>\n"
    wrong = send(filled, "/admin/vault/new", path="../a.md", content="typed", action="save")
    assert (wrong.status_code, "typed" in wrong.text) == (400, True)


def test_an_edit_is_saved_against_the_version_that_was_read(filled):
    page = filled.get(f"/admin/vault/edit/{quote(NAME)}")
    version = read_hidden(page, "version")
    fields = {"version": version, "line_end": "lf", "content": "# Memo\r\n\r\nmine\r\n", "action": "save"}
    filled.call("vault", "write", path=NAME, content="# Memo\n\ntheirs\n", mode="overwrite")
    conflict = send(filled, f"/admin/vault/edit/{quote(NAME)}", **fields)
    assert conflict.status_code == 409
    assert "<del>− theirs</del>" in conflict.text
    assert "<ins>+ mine</ins>" in conflict.text
    assert "mine\n</textarea>" in conflict.text
    assert read(filled) == "# Memo\n\ntheirs\n"
    again = {**fields, "version": read_hidden(conflict, "version")}
    sent = send(filled, f"/admin/vault/edit/{quote(NAME)}", **again)
    assert sent.headers["location"] == f"{HERE}?notice=saved"
    assert read(filled) == "# Memo\n\nmine\n"


def test_line_ends_stay_as_they_were(filled):
    root = Path(filled.app.server_info.locations()["vault"])
    (root / "dos.md").write_bytes(b"one\r\ntwo\r\n")
    page = filled.get("/admin/vault/edit/dos.md")
    fields = {"version": read_hidden(page, "version"), "line_end": read_hidden(page, "line_end")}
    send(filled, "/admin/vault/edit/dos.md", **fields, content="one\r\nthree\r\n", action="save")
    assert (root / "dos.md").read_bytes() == b"one\r\nthree\r\n"


def test_a_form_without_a_version_overwrites_nothing(filled):
    assert send(filled, f"/admin/vault/edit/{quote(NAME)}", content="x", action="save").status_code == 409
    assert read(filled).startswith("# Memo")


def test_versions_are_compared_and_restored(filled):
    first = filled.call("vault", "read", path=NAME, full=True)["version"]
    filled.call("vault", "write", path=NAME, content="# Memo\n\nRefunds take 20 days.\n", mode="overwrite")
    now = filled.call("vault", "read", path=NAME, full=True)["version"]
    page = filled.get(f"/admin/vault/history/{quote(NAME)}?older={first}&newer={now}")
    assert "<del>− Refunds take 30 days.</del>" in page.text
    assert "<ins>+ Refunds take 20 days.</ins>" in page.text
    assert "This is an earlier version of the file." in find_text(filled.get(f"{HERE}?version={first}"))
    restore = f"/admin/vault/restore/{quote(NAME)}"
    asked = filled.get(f"{restore}?version={first}")
    assert read(filled) == "# Memo\n\nRefunds take 20 days.\n"
    fields = {"version": first, "expected_version": read_hidden(asked, "expected_version")}
    filled.call("vault", "write", path=NAME, content="meanwhile\n", mode="overwrite")
    assert send(filled, restore, **fields).status_code == 409
    asked = filled.get(f"{restore}?version={first}")
    sent = send(filled, restore, version=first, expected_version=read_hidden(asked, "expected_version"))
    assert sent.headers["location"] == f"{HERE}?notice=restored"
    assert read(filled) == "# Memo\n\nRefunds take 30 days.\n"


def test_a_deleted_file_comes_back_from_the_list_of_deleted_files(filled):
    asked = filled.get(f"/admin/vault/delete/{quote(NAME)}")
    assert read(filled)
    fields = {"version": read_hidden(asked, "version")}
    sent = send(filled, f"/admin/vault/delete/{quote(NAME)}", **fields)
    assert sent.headers["location"] == "/admin/vault/trash?notice=deleted"
    gone = filled.get(HERE)
    assert gone.status_code == 404
    assert "Its versions are kept." in find_text(gone)
    link = re.search(r'href="([^"]+)" aria-label="Restore notes', filled.get("/admin/vault/trash").text)
    assert link is not None
    path = link[1].replace("&amp;", "&")
    page = filled.get(path)
    send(filled, path, version=read_hidden(page, "version"), expected_version="")
    assert read(filled) == "# Memo\n\nRefunds take 30 days.\n"
    assert "No file was deleted." in find_text(filled.get("/admin/vault/trash"))


def test_a_moved_file_takes_its_links_with_it(filled):
    asked = filled.get(f"/admin/vault/move/{quote(NAME)}")
    assert "1 sections link to this file." in find_text(asked)
    fields = {"version": read_hidden(asked, "version"), "update_links": "1"}
    taken = send(filled, f"/admin/vault/move/{quote(NAME)}", **fields, to_path="index.md")
    assert taken.status_code == 400
    assert 'value="index.md"' in taken.text
    moved = send(filled, f"/admin/vault/move/{quote(NAME)}", **fields, to_path="memo.md")
    assert "index.md" in find_text(moved).partition("Links were changed in")[2]
    assert "memo.md" in read(filled, "index.md")


def test_an_audit_judges_every_element_and_leads_to_what_it_cites(filled):
    text = "# Refunds\n\n- Refunds take 30 days. (source_lines: 3)\n- Refunds take 90 days. (source_lines: 3)\n"
    filled.call("vault", "create", path="artifacts/a.md", content=text)
    where = "/admin/vault/audit/artifacts/a.md"
    assert "Run the audit" in filled.get(where).text
    unread = filled.get(f"{where}?sources={quote(NAME)}")
    assert "cited lines unread" in find_text(unread).partition("Elements")[2]
    filled.get(HERE)
    page = filled.get(f"{where}?sources={quote(NAME)}")
    listed = find_text(page).partition("Elements")[2]
    assert "supported" in listed
    assert "Numbers are not in the cited lines." in listed
    assert f'href="{HERE}?view=lines&amp;line=3#L3"' in page.text
    only = filled.get(f"{where}?sources={quote(NAME)}&only=unsupported")
    assert "Refunds take 30 days." not in find_text(only).partition("Cited lines")[2]
    wrong = filled.get(f"{where}?sources=nothing.md")
    assert wrong.status_code == 404
    assert ">\nnothing.md</textarea>" in wrong.text


def test_coverage_of_every_file_leads_to_what_is_unread(filled):
    page = filled.get("/admin/vault/coverage?dir=notes")
    assert "0 % read" in find_text(page)
    filled.get(HERE)
    assert "100 % read" in find_text(filled.get("/admin/vault/coverage?dir=notes"))


def test_searches_find_lines_and_everything(filled):
    assert f'href="{HERE}?view=lines&amp;line=3#L3"' in filled.get("/admin/vault/search?q=REFUNDS").text
    sent = filled.get("/admin/vault/find?q=refunds")
    page = filled.get(sent.headers["location"])
    assert "Sections found: 1" in find_text(page)
    assert "Files searched 2" in find_text(page)
    copied = send(filled, sent.headers["location"], to_path="found.md", mode="create", min_score="0")
    assert copied.headers["location"] == "/admin/vault/file/found.md?notice=copied"
    assert "Refunds take 30 days." in read(filled, "found.md")


def test_a_file_with_hidden_parts_is_shown_but_not_edited(filled):
    """What the policy masks would be lost by saving the masked text."""
    root = Path(filled.app.server_info.locations()["vault"])
    (root / "login.md").write_text("# Login\n\npassword: hunter2hunter2\n")
    assert "hunter2hunter2" not in filled.get("/admin/vault/file/login.md").text
    page = filled.get("/admin/vault/edit/login.md")
    assert "The policy hides parts of this file from you." in find_text(page)
    assert 'value="save"' not in page.text


def test_a_file_that_is_too_long_is_read_in_parts_and_not_edited(filled):
    root = Path(filled.app.server_info.locations()["vault"])
    (root / "long.txt").write_text("".join(f"line {number} of a long file\n" for number in range(20_000)))
    page = filled.get("/admin/vault/file/long.txt")
    more = re.search(r'href="([^"]+)" data-key="n"', page.text)
    assert more is not None
    last = max(map(int, re.findall(r'id="L(\d+)"', page.text)))
    assert f'id="L{last + 1}"' in filled.get(more[1].replace("&amp;", "&")).text
    assert 'id="L19000" class="line read marked"' in filled.get("/admin/vault/file/long.txt?line=19000").text
    edit = filled.get("/admin/vault/edit/long.txt")
    assert "This file is too long to be edited here." in find_text(edit)
    assert 'value="save"' not in edit.text


def test_the_owner_sees_what_each_caller_has_read_and_others_only_their_own(filled):
    with filled.app.database.writing() as statements:
        secret = create_key(statements, "agent")
    Http(filled.app, secret).call("vault", "read", path=NAME, full=True)
    where = "/admin/vault/coverage?dir=notes"
    page = filled.get(where)
    assert "0 % read" in find_text(page)
    assert '<option value="key:agent">' in page.text
    assert "100 % read" in find_text(filled.get(f"{where}&caller=key:agent"))
    assert "100 % read" in find_text(filled.get(f"{where}&caller=*"))
    filled.add_person("ada")
    filled.cookies.clear()
    filled.sign_in("ada")
    assert "key:agent" not in filled.get(where).text
    refused = filled.get(f"{where}&caller=key:agent")
    assert "100 % read" not in refused.text
