"""Plugins: found by their entry point, checked when they are enabled, used like every other module."""

import json
import os
import subprocess
from dataclasses import replace

import pytest

from tokonoma import catalogue
from tokonoma.catalogue import plugins
from tokonoma.catalogue.plugins.enable import PluginOffer, check_unique, describe_plugin, find_problem, list_offers
from tokonoma.core.errors import Conflict, Invalid, Unready


def offer(attribute: str, name: str | None = None) -> PluginOffer:
    return PluginOffer(name or attribute.lower(), f"cli.broken_modules:{attribute}", "some-package", "1")


@pytest.fixture
def offered(site, monkeypatch):
    """The example is installed in this process."""
    monkeypatch.syspath_prepend(str(site))


def test_an_installed_package_is_found_by_its_entry_point(offered, value, run):
    (found,) = list_offers()
    assert found == PluginOffer("guestbook", "tokonoma_guestbook:MODULE", "tokonoma-guestbook", "0.1.0")
    (told,) = value("plugins", "list", "--json")
    assert told["state"] == "available"
    assert "guestbook" in run("plugins", "list").stdout
    assert "guestbook" not in run("modules").stdout


def test_without_any_the_list_says_so(run, value):
    assert "No installed package" in run("plugins", "list").stderr
    assert value("plugins", "list", "--json") == []


def test_from_pip_to_an_entry_in_processes_of_their_own(site, spawned):
    def ran(*words: str) -> str:
        path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
        ended = subprocess.run(**spawned(*words, PYTHONPATH=path), check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    ran("plugins", "enable", "guestbook")
    assert "sign(name: str 1..80, words: str 1..2000, namespace?: str)" in ran("schema", "guestbook")
    signed = json.loads(ran("call", "guestbook", "sign", '{"name": "花子", "words": "静かな部屋"}'))
    (entry,) = json.loads(ran("call", "guestbook", "entries"))["items"]
    assert entry["address"] == signed["address"] == f"tokonoma://guestbook/{signed['id']}"
    assert (entry["name"], entry["words"]) == ("花子", "静かな部屋")
    assert json.loads(ran("call", "system", "status"))["sizes"]["records_guestbook"] == 1
    ran("plugins", "disable", "guestbook")
    assert "guestbook" not in ran("modules")
    ran("plugins", "enable", "guestbook")
    assert len(json.loads(ran("call", "guestbook", "entries"))["items"]) == 1


def test_enabling_twice_is_enabling_once(offered, run, value, home):
    assert run("plugins", "enable", "guestbook").exit_code == 0
    before = (home / "plugins.json").read_bytes()
    assert run("plugins", "enable", "guestbook").exit_code == 0
    assert (home / "plugins.json").read_bytes() == before
    assert (home / "plugins.json").stat().st_mode & 0o777 == 0o600
    assert [each["state"] for each in value("plugins", "list", "--json")] == ["enabled"]


@pytest.mark.parametrize(("verb", "name"), [("enable", "guestbok"), ("disable", "guestbook")])
def test_what_is_not_there_is_refused(offered, run, home, verb, name):
    result = run("plugins", verb, name)
    assert result.exit_code == 1
    assert "guestbook" in result.stderr
    assert not (home / "plugins.json").exists()


def test_a_start_reads_no_entry_points(offered, run, spawned):
    run("plugins", "enable", "guestbook")
    how = spawned("stdio")
    how["args"][1:1] = ["-X", "importtime"]
    ended = subprocess.run(**how, input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n', check=False)
    assert '"id":1' in ended.stdout
    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "tokonoma.catalogue.plugins" in loaded
    late = {"importlib.metadata", "tokonoma_guestbook", "click", "rich", "pydantic", "asyncio", "starlette", "uvicorn"}
    assert not loaded & late


def test_a_package_that_is_gone_is_told_and_hangs_nothing(offered, run, home, monkeypatch, site):
    run("plugins", "enable", "guestbook")
    shelf = json.loads((home / "plugins.json").read_text())
    shelf[0]["source"] = "tokonoma_guestbook_that_was:MODULE"
    (home / "plugins.json").write_text(json.dumps(shelf))
    monkeypatch.undo()  # the folder is not on the path any more
    result = run("call", "guestbook", "entries")
    assert result.exit_code == 1
    assert "cannot be loaded" in result.stderr
    seen = run("doctor", "--port", "0")
    assert seen.exit_code == 1
    assert "no longer installed" in seen.stdout
    assert "tokonoma plugins disable guestbook" in seen.stdout
    assert run("call", "system", "status").exit_code == 0


def test_code_that_has_changed_since_is_told(offered, run, home):
    run("plugins", "enable", "guestbook")
    shelf = json.loads((home / "plugins.json").read_text())
    shelf[0]["entries"][0]["description"] = "as it was before the update"
    (home / "plugins.json").write_text(json.dumps(shelf))
    seen = run("doctor", "--port", "0")
    assert seen.exit_code == 1
    assert "Run `tokonoma plugins enable guestbook` again." in seen.stdout
    assert "code has changed" in run("plugins", "list").stdout
    run("plugins", "enable", "guestbook")
    assert run("doctor", "--port", "0").exit_code == 0


DAMAGED = [
    "",
    "[",
    '{"a": 1}',
    "[1]",
    '[{"name": "x"}]',
    '[{"name": "x", "summary": "", "source": "", "entries": [{}]}]',
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_leaves_the_rest_of_the_house_open(run, home, content):
    home.mkdir()
    (home / "plugins.json").write_text(content)
    result = run("call", "system", "status")
    assert result.exit_code == 0
    assert "is damaged" in result.stderr
    assert run("plugins", "list").exit_code == 1
    assert "is damaged" in run("doctor", "--port", "0").stdout
    with pytest.raises(Unready):
        plugins.read_plugins(home)


def test_a_name_that_is_built_in_by_now_is_left_out(run, home, value):
    home.mkdir()
    shelf = next(each for each in catalogue.read_catalogue(catalogue.CATALOGUE_FILE) if each.name == "system")
    (home / "plugins.json").write_bytes(catalogue.dump_catalogue([shelf]))
    result = run("modules")
    assert "a built-in module has that name" in result.stderr
    assert result.stdout.count("system ") == 1


@pytest.mark.parametrize(
    ("offered", "says"),
    [
        (offer("NOTHING"), "AttributeError"),
        (PluginOffer("x", "no_such_package:MODULE", "p", "1"), "ModuleNotFoundError"),
        (offer("NUMBER"), "is not a tokonoma.core.module.Module"),
        (offer("OTHER"), "its entry point is called 'other', its module 'another'"),
        (offer("SHOUT", "Shout"), "lower-case letters"),
        (offer("JOURNAL"), "reserves that name"),
        (offer("KEYRING"), "reserves that name"),
        (offer("MEMO"), "the server has a table 'memo'"),
        (offer("TAKES"), "'api_key' is a table of the server"),
        (offer("STRAYS"), "table or index 'note' does not begin with 'strays_'"),
        (offer("DROPS"), "'journal' is a table of the server"),
        (offer("CLAIMS_ROWS"), "'memo' is a table of the server"),
        (offer("UNCLASSED"), "it has records (record_tables, read or documents) but no `reclassify`"),
        (offer("INDEXES"), "it has records (record_tables, read or documents) but no `reclassify`"),
        (offer("EMPTY"), "no tools"),
        (offer("ODD"), "'Fine Tool' cannot be a tool's name"),
        (offer("SILENT"), "no docstring"),
        (offer("UNTYPED"), "return"),
        (offer("BARE"), "must return an object"),
        (offer("WAITS"), "must be a plain `def`"),
        (offer("NOT_OUTSIDE"), "must be an `async def`"),
    ],
    ids=lambda each: each.name if isinstance(each, PluginOffer) else "",
)
def test_a_module_that_cannot_be_used_is_refused_in_words(offered, says):
    with pytest.raises(Invalid) as refused:
        describe_plugin(offered)
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("CLASH", "a tool of system"),
        ("ALIAS", "a tool of good"),
        ("TWICE", "a tool of twice"),
        ("GOOD", "already a module"),
    ],
)
def test_no_name_leads_to_two_tools(attribute, says):
    others = [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), describe_plugin(offer("GOOD"))]
    with pytest.raises(Conflict) as refused:
        check_unique(describe_plugin(offer(attribute)), others)
    assert says in refused.value.message


def test_a_table_belongs_to_the_longest_name():
    assert describe_plugin(offer("NOTE")).name == "note"
    with pytest.raises(Invalid, match="belongs to the module 'note_book'"):
        describe_plugin(offer("NOTE"), ["note_book"])


def test_a_plugin_whose_name_is_reserved_by_now_is_left_out(run, home):
    home.mkdir()
    info = describe_plugin(offer("GOOD"))
    (home / "plugins.json").write_bytes(catalogue.dump_catalogue([replace(info, name="keyring")]))
    result = run("modules")
    assert "The plugin 'keyring' is ignored: the server reserves that name." in result.stderr
    assert "keyring" not in result.stdout


def test_a_name_that_clients_refuse_is_refused():
    with pytest.raises(Invalid):
        check_unique(describe_plugin(offer("LONG")), [])


def test_a_plugin_that_broke_in_an_update_is_told():
    shelf = describe_plugin(offer("GOOD"))
    assert find_problem(shelf, [offer("GOOD")]) == ("", "")
    what, remedy = find_problem(shelf, [PluginOffer("good", "cli.broken_modules:GONE", "some-package", "2")])
    assert "AttributeError" in what
    assert "Update the package some-package" in remedy
