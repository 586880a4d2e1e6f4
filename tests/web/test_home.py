"""Home: the state of the server, the newest records, what waits, and the lines that connect a client."""

import json
import re

import pytest
from policy.houses import enforce

from tokonoma.core.call import OWNER, Caller
from tokonoma.core.errors import Denied
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.connect_lines import list_connect_lines

ASK = "version: 1\ntools:\n  - { tool: memory.save, verdict: ask }\n"


def test_home_shows_the_state_and_the_newest_records(site):
    site.sign_in()
    assert "Nothing yet." in site.get("/admin/").text
    for number in range(10):
        site.call("memory", "save", content=f"Content {number}", title=f"Memo {number}")
    text = site.get("/admin/").text
    assert re.findall(r">(Memo \d)</a>", text) == [f"Memo {number}" for number in range(9, 1, -1)]
    assert "All is well." in text
    assert re.search(r"<dt>records in memory</dt><dd>10</dd>", text)
    assert "No call waits for your approval." in text
    assert "Where you are signed in" in text


def test_the_owner_sees_how_many_calls_wait_and_others_do_not(open_site):
    site = open_site()
    site.sign_in()
    enforce(site.app, ASK)
    with pytest.raises(Denied):  # an agent asks; what the owner does on a page needs no approval
        site.run_tool(Caller("http", principal=OWNER), "memory", "save", {"content": "x"})
    text = site.get("/admin/").text
    assert re.search(r'<a href="/admin/approvals"[^>]*>Calls that wait for your approval: 1</a>', text)
    site.add_person("ada")
    site.cookies.clear()
    site.sign_in("ada")
    assert "for your approval" not in site.get("/admin/").text


def test_a_person_without_the_system_module_has_a_home(site):
    site.call("memory", "save", content="secret", title="Of the owner")
    site.add_person("ada", reach=Reach("/a", "/a", frozenset({"memory"}), frozenset(), frozenset()))
    site.sign_in("ada")
    page = site.get("/admin/")
    assert page.status_code == 200
    assert "State of the server" not in page.text
    assert "Of the owner" not in page.text


def find_lines(origin: str, *, oauth: bool) -> dict[str, str]:
    return {line.client: line.code for line in list_connect_lines(origin, oauth=oauth)}


CLIENTS = ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "ChatGPT"]


def test_lines_for_a_published_server():
    lines = find_lines("https://home.example", oauth=True)
    assert list(lines) == CLIENTS
    assert lines["Claude Code"] == "claude mcp add --transport http tokonoma https://home.example/mcp"
    assert lines["Claude Desktop"] == lines["ChatGPT"] == "https://home.example/mcp"
    assert json.loads(lines["Cursor"])["mcpServers"]["tokonoma"]["url"] == "https://home.example/mcp"
    assert json.loads(lines["VS Code"])["servers"]["tokonoma"] == {"type": "http", "url": "https://home.example/mcp"}


def test_what_comes_from_the_internet_is_not_sent_to_this_machine():
    lines = find_lines("http://127.0.0.1:8722", oauth=True)
    assert list(lines) == CLIENTS
    assert lines["Claude Desktop"] == "tokonoma install claude-desktop"
    assert "--public-url" in lines["ChatGPT"]
    assert "127.0.0.1:8722/mcp" in lines["Cursor"]


def test_without_oauth_the_lines_start_the_server():
    lines = find_lines("http://127.0.0.1:8722", oauth=False)
    assert list(lines) == CLIENTS
    assert [lines[name] for name in CLIENTS[:4]] == [
        f"tokonoma install {name}" for name in ("claude-code", "claude-desktop", "cursor", "vscode")
    ]


@pytest.mark.parametrize(
    ("oauth", "says"), [("on", "Give this address to a client"), ("off", "tokonoma install cursor")]
)
def test_home_has_the_lines_that_fit(open_site, oauth, says):
    site = open_site(oauth=oauth)
    site.sign_in()
    text = site.get("/admin/").text
    assert says in text
    assert all(f"<summary>{name}</summary>" in text for name in CLIENTS)
