"""The built-in model is loaded late: who only saves does without, and who searches catches up."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.embed import batches, worker
from tokonoma.embed.builtin import MODEL_NAME, BuiltinEmbedder
from tokonoma.embed.worker import SHORT_QUEUE, EmbedWorker

pytestmark = pytest.mark.migrated

RENT, CAT = "家賃は毎月二十五日に大家さんへ振り込む", "The cat sleeps on the warm roof all afternoon"
ASKED = "when do I pay the rent"

SAVES_ONLY = """
import sys
from talk import Lines
from tokonoma.app import App

app = App({"home": sys.argv[1], "durable": False}, {})
talk = Lines(app)
talk.call("memory", "save", content="a memo")
app.warm()
talk.call("memory", "search", query="memo", mode="text")
assert "numpy" not in sys.modules, "saving has loaded numpy"
talk.call("memory", "search", query="memo")
assert "numpy" in sys.modules
app.close()
"""


@pytest.fixture
def opened(database_url, tmp_path):
    houses: list[App] = []

    def open_one(**flags: str) -> Lines:
        place = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}
        houses.append(App({**place, **flags}, {}))
        return Lines(houses[-1])

    yield open_one, houses
    for house in houses:
        house.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """What is a moment on an idle machine may take seconds on a busy one."""
    monkeypatch.setattr(worker, "_MAX_WAIT", 60)


def test_who_only_saves_loads_no_model(tmp_path):
    tests = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", SAVES_ONLY, str(tmp_path)], cwd=tests, check=True)


def test_what_a_process_that_has_ended_saved_is_found_by_its_meaning(opened):
    open_one, houses = opened
    saved = open_one().call("memory", "save", memos=[{"content": RENT}, {"content": CAT}])["items"]
    houses.pop().close()
    told = open_one().call("memory", "search", query=ASKED, mode="vector")
    assert told["items"][0]["memo_id"] == saved[0]["memo_id"]
    assert "not_yet_embedded" not in told


def test_what_was_saved_a_moment_ago_is_found_by_its_meaning(opened):
    open_one, _ = opened
    talk = open_one()
    for number in range(20):
        saved = talk.call("memory", "save", content=f"{RENT} {number}", namespace=f"n{number}")
        told = talk.call("memory", "search", query=ASKED, namespace=f"n{number}", mode="vector")
        assert [item["memo_id"] for item in told["items"]] == [saved["memo_id"]]


def test_a_long_queue_holds_up_no_search_and_is_worked_off(opened):
    open_one, _ = opened
    memos = [{"content": f"note number {number} about gardens"} for number in range(4 * SHORT_QUEUE)]
    open_one(embed_provider="none").call("memory", "save", memos=[*memos, {"content": RENT}])
    talk = open_one()
    told = talk.call("memory", "search", query="家賃")
    assert told["items"][0]["content"] == RENT
    until = time.monotonic() + 60
    while "not_yet_embedded" in told and time.monotonic() < until:
        told = talk.call("memory", "search", query=ASKED)
    assert told["items"][0]["content"] == RENT
    assert told["mode"] == "hybrid"


def test_what_was_saved_does_not_wait_behind_the_parts_of_a_file(opened, monkeypatch):
    """Nothing is embedded in the background here: a search does it, of what a caller has saved alone."""
    monkeypatch.setattr(EmbedWorker, "run_step", lambda self: 60.0)
    open_one, houses = opened
    talk = open_one()
    talk.call("memory", "save", content=CAT)
    talk.call("memory", "search", query=ASKED)
    folder = Path(houses[0].server_info.locations()["manuals"]) / "book"
    folder.mkdir(parents=True)
    parts = [f"# Part {number}\n\nNote {number} about gardens.\n\n" for number in range(2 * SHORT_QUEUE)]
    (folder / "long.md").write_text("".join(parts))
    talk.call("manual", "find", query="gardens")
    saved = talk.call("memory", "save", content=RENT)
    told = talk.call("memory", "search", query=ASKED, mode="vector", k=2)
    assert told["items"][0]["memo_id"] == saved["memo_id"]
    assert told["not_yet_embedded"] >= len(parts)


def test_a_thread_with_a_long_batch_makes_way_for_a_search(opened, monkeypatch):
    """It is embedding the first of many groups when the search begins, and leaves the others."""
    monkeypatch.setattr(EmbedWorker, "run_step", lambda self: 60.0)
    monkeypatch.setattr(batches, "_FIRST", 512)
    monkeypatch.setattr(BuiltinEmbedder, "batch_size", 4)
    open_one, houses = opened
    talk = open_one()
    talk.call("memory", "save", content=CAT)
    talk.call("memory", "search", query=ASKED)
    found: EmbedWorker = houses[0].search.worker
    folder = Path(houses[0].server_info.locations()["manuals"]) / "book"
    folder.mkdir(parents=True)
    (folder / "long.md").write_text("".join(f"# {number}\n\nA note.\n\n" for number in range(2 * SHORT_QUEUE)))
    talk.call("manual", "find", query="note")
    began, embed = threading.Event(), BuiltinEmbedder.embed

    def embed_slowly(embedder, *params):
        if threading.current_thread().name == "long":
            began.set()
            found._hurry.wait(60)
        return embed(embedder, *params)

    monkeypatch.setattr(BuiltinEmbedder, "embed", embed_slowly)
    thread = threading.Thread(target=found.run_batch, name="long")
    thread.start()
    began.wait(60)
    saved = talk.call("memory", "save", content=RENT)
    told = talk.call("memory", "search", query=ASKED, mode="vector", k=2)
    thread.join()
    assert told["items"][0]["memo_id"] == saved["memo_id"]
    assert told["not_yet_embedded"] > SHORT_QUEUE


def test_the_first_search_after_an_update_finds_by_the_new_model(opened):
    open_one, houses = opened
    talk = open_one()
    saved = talk.call("memory", "save", content=RENT)
    talk.call("memory", "save", content=CAT)
    talk.call("memory", "search", query=ASKED)
    with houses[0].database.writing() as statements:  # as if an earlier version had made these vectors
        statements.run("update embedding_model set name = 'builtin:of-old', recipe = replace(recipe, '-2', '-0')")
    found = open_one().call("memory", "search", query=ASKED, detail="full")
    assert (found["mode"], found["items"][0]["memo_id"]) == ("hybrid", saved["memo_id"])
    assert found["items"][0]["similarity"] > 0.3
    with houses[1].database.reading() as rows:
        assert rows.rows("select name from embedding_model") == [(f"builtin:{MODEL_NAME}",)]


def test_a_title_and_each_piece_have_a_vector_that_knows_the_language_of_the_text(opened):
    open_one, houses = opened
    talk = open_one()
    talk.call("memory", "save", title="The rent", content=RENT)
    talk.call("memory", "save", content=CAT)
    talk.call("memory", "search", query=ASKED)
    with houses[0].database.reading() as rows:
        found = rows.rows("select piece, language from embedding order by document_id, piece")
    assert found == [(-1, "ja"), (0, "ja"), (0, "en")]


def test_a_title_that_several_share_is_known_as_such(opened):
    open_one, _ = opened
    talk = open_one()
    for content in (RENT, CAT, "Soup on Monday, fish on Tuesday, rice every day."):
        talk.call("memory", "save", title="Household", content=content)
    talk.call("memory", "save", title="The cellar", content="Two bottles are left.")
    items = talk.call("memory", "search", query="the household and the cellar", explain=True)["items"]
    told = {item["title"]: item["score_details"]["vector"]["namesakes"] for item in items}
    assert told == {"Household": 3, "The cellar": 1}


def test_a_title_in_the_language_of_the_question_brings_the_record(opened):
    open_one, _ = opened
    talk = open_one()
    saved = talk.call(
        "memory", "save", title="解約の手順", content="Open the account page, then choose the last entry."
    )
    talk.call("memory", "save", title="献立", content="Soup on Monday, fish on Tuesday, rice every day.")
    told = talk.call("memory", "search", query="how to cancel a contract", explain=True)
    assert told["items"][0]["memo_id"] == saved["memo_id"]
    details = told["items"][0]["score_details"]
    assert details["vector"]["title"] > 0.2
    assert details["signs"]["vector"]["value"] > 0.2


def test_a_name_finds_records_in_both_languages(opened):
    open_one, _ = opened
    talk = open_one()
    contents = [
        "nginxの設定を変えたら再起動する",
        "restart nginx after a change of its settings",
        CAT,
        "猫は屋根で昼寝をする",
    ]
    talk.call("memory", "save", memos=[{"content": content} for content in contents])
    told = talk.call("memory", "search", query="nginx")
    assert {item["content"] for item in told["items"][:2]} == set(contents[:2])
    assert all(item["score"] > 0.3 for item in told["items"][:2])
