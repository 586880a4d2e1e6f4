"""Putting and dropping: in the caller's transaction, only what has changed, and nothing left behind."""

import threading

import psycopg
import pytest
from search.fixture import ANYTHING, EVERYWHERE, IndexFixture, address

from tokonoma.core.desk import Document
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Condition, Query
from tokonoma.search.index import MarkedDocument, count_by_module
from tokonoma.search.text.term_index import read_corpus

pytestmark = pytest.mark.migrated


@pytest.fixture
def shelf(database) -> IndexFixture:
    return IndexFixture(database)


def test_what_is_put_is_found_and_what_is_dropped_is_not(shelf):
    shelf.put("a", "green tea")
    assert shelf.find("tea") == ["a"]
    shelf.drop("a")
    assert shelf.find("tea") == []
    assert shelf.find("") == []
    shelf.drop("a")  # nothing there: nothing happens


def test_a_new_text_replaces_the_old_one(shelf):
    shelf.put("a", "green tea", title="Sencha")
    shelf.put("a", "black coffee", title="Sencha")
    assert shelf.find("tea") == []
    assert shelf.find("coffee") == ["a"]
    assert shelf.find("sencha") == ["a"]
    shelf.put("a", "black coffee", title="Mocha")
    assert shelf.find("sencha") == []
    assert shelf.find("mocha") == ["a"]


def test_a_transaction_that_fails_leaves_nothing(shelf):
    shelf.put("a", "green tea", facts=[("k", "v")])
    before = shelf.state()
    with pytest.raises(RuntimeError), shelf.database.writing() as tx:
        shelf.index.put(tx, Document(address("a"), "/elsewhere", "black coffee"), "internal")
        shelf.index.put(tx, Document(address("b"), "/", "milk"), "internal")
        raise RuntimeError
    assert shelf.state() == before
    assert shelf.find("coffee") == []
    assert shelf.find("tea") == ["a"]


def test_what_is_written_is_found_inside_the_same_transaction(shelf):
    with shelf.database.writing() as tx:
        shelf.index.put(tx, Document(address("a"), "/", "green tea"), "internal")
        assert [hit.address for hit in shelf.index.find(tx, Query("tea"), ANYTHING, EVERYWHERE).items] == [address("a")]


def test_the_same_again_writes_nothing(shelf):
    shelf.put("a", "green tea", at=5, facts=[("k", "v"), ("n", 1.0)])
    before = shelf.rows("select changed_at from document"), shelf.rows("select sum(changes) from corpus")
    shelf.put("a", "green tea", at=5, facts=[("n", 1.0), ("k", "v"), ("k", "v")])
    assert (shelf.rows("select changed_at from document"), shelf.rows("select sum(changes) from corpus")) == before


def test_many_documents_put_together_are_as_if_put_one_by_one(database):
    asked: list[int] = []
    shelf = IndexFixture(database, enqueue=lambda _statements, numbers, _is_part: asked.extend(numbers))
    texts = {"a": "green tea", "b": "black coffee", "c": "oolong tea 烏龍茶"}
    shelf.put("b", "hot milk")
    documents = [Document(address(name), "/", text, facts=[("kind", name)], at=5) for name, text in texts.items()]
    with database.writing() as tx:
        labels = shelf.index.put_all(tx, [(each, "internal", "me") for each in documents])
    assert labels == ["internal"] * 3
    assert sorted(shelf.find("tea")) == ["a", "c"]
    assert shelf.find("coffee") == ["b"]
    assert shelf.find("milk") == []
    together = shelf.state()
    assert len(asked) == 4
    with database.reading() as rows:
        assert read_corpus(rows).documents == 3
    for each in documents:
        with database.writing() as tx:
            shelf.index.put(tx, each, "internal", "me")
    assert shelf.state() == together
    shelf.put("d", "after them")  # numbers go on
    assert shelf.find("after") == ["d"]


def test_two_that_put_the_same_documents_together_make_one_of_each(postgres_database, postgres_at):
    """The second waits for the first, and finds its rows."""
    shelf = IndexFixture(postgres_database)
    first = [MarkedDocument(Document(address(name), "/", "green tea"), "internal") for name in "ab"]
    second = [MarkedDocument(Document(address(name), "/", "black tea"), "internal") for name in "bc"]

    def put_second() -> None:
        with postgres_database.writing() as tx:
            shelf.index.put_all(tx, second)

    thread = threading.Thread(target=put_second)
    with postgres_database.writing() as tx:
        shelf.index.put_all(tx, first)
        thread.start()
        waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        with psycopg.connect(postgres_at, autocommit=True) as beside:
            while thread.is_alive() and beside.execute(waiting).fetchone() is None:
                pass
    thread.join()
    assert sorted(shelf.find("black")) == ["b", "c"]
    assert sorted(shelf.find("tea")) == ["a", "b", "c"]
    with postgres_database.reading() as rows:
        assert read_corpus(rows).documents == 3


def test_vectors_are_asked_for_when_the_text_is_new_and_only_then(database):
    asked: list[int] = []
    shelf = IndexFixture(database, enqueue=lambda _statements, numbers, _is_part: asked.extend(numbers))
    shelf.put("a", "green tea")
    (number,) = asked
    shelf.put("a", "green tea", namespace="/moved", facts=[("k", "v")], at=77)
    assert asked == [number]
    shelf.put("a", "black tea", namespace="/moved")
    shelf.put("a", "black tea", namespace="/moved", title="A title")
    assert asked == [number] * 3


def test_place_and_class_can_change_alone(shelf):
    shelf.put("a", "green tea", namespace="/one")
    shelf.put("a", "green tea", namespace="/two/three", label="public")
    assert shelf.find("tea", namespace="/one") == []
    assert shelf.find("tea", namespace="/two") == ["a"]
    assert shelf.rows("select label from document") == [("public",)]


def test_facts_are_replaced(shelf):
    shelf.put("a", "note", facts=[("k", "old"), ("gone", 1.0)])
    shelf.put("a", "note", facts=[("k", "new")])
    assert shelf.find("", Condition("k", "is", ("old",))) == []
    assert shelf.find("", Condition("gone", "exists", (True,))) == []
    assert shelf.find("", Condition("k", "is", ("new",))) == ["a"]


def test_nothing_is_left_of_what_was_dropped(shelf):
    for number in range(5):
        shelf.put(f"m{number}", f"tea number {number}", facts=[("n", float(number))])
    for number in range(5):
        shelf.drop(f"m{number}")
    for table in ("document", "terms", "fact", "words"):
        assert shelf.rows(f"select count(*) from {table}") == [(0,)], table
    with shelf.database.reading() as rows:
        assert read_corpus(rows).documents == read_corpus(rows).length == 0
        assert shelf.index.term_index.count_documents(rows, ["tea"], 1).get("tea", 0) == 0


def test_figures_stay_right_whatever_is_done(shelf):
    for number in range(200):  # enough that PostgreSQL folds its changes
        shelf.put(f"m{number % 70}", f"tea {number} " * (number % 7 + 1))
        if number % 5 == 0:
            shelf.drop(f"m{(number * 3) % 70}")
    with shelf.database.reading() as rows:
        figures = read_corpus(rows)
        assert (figures.documents, figures.length) == rows.row("select count(*), sum(length) from document")
        assert shelf.index.term_index.count_documents(rows, ["tea"], figures.documents) == {"tea": figures.documents}


def test_records_are_counted_by_module(shelf):
    for name in ("tokonoma://items/1", "tokonoma://items/2", "tokonoma://memory/1"):
        shelf.put(name, "note")
    with shelf.database.reading() as rows:
        assert count_by_module(rows) == {"items": 2, "memory": 1}


def test_an_address_must_be_one(shelf):
    with pytest.raises(Invalid), shelf.database.writing() as tx:
        shelf.index.put(tx, Document("nowhere", "/", "text"), "internal")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "。、！？", "\0", "\ufeff", "😀", "a" * 100_000, "鍵" * 50_000])
def test_any_text_can_be_put(shelf, text):
    shelf.put("a", text)
    shelf.put("b", "tea")
    assert shelf.find("tea") == ["b"]
    shelf.put("a", "tea")
    assert sorted(shelf.find("tea")) == ["a", "b"]


def test_several_writers_and_readers_at_once(shelf):
    """Nobody fails, whoever reads sees whole documents, and at the end everything is there once."""
    problems: list[BaseException] = []
    writers, each = 4, 15

    def write(who: int) -> None:
        try:
            for number in range(each):
                shelf.put(f"w{who}-{number}", f"common word{who}n{number}", facts=[("who", float(who))], at=number)
                shelf.put("shared", f"common shared{who}x{number}", at=number)
        except BaseException as error:
            problems.append(error)

    def read() -> None:
        try:
            while any(thread.is_alive() for thread in threads):
                hits = shelf.hits("common", limit=100, explain=True)
                assert len({hit.address for hit in hits.items}) == len(hits.items)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(writers)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in [*threads, *readers]:
        thread.start()
    for thread in [*threads, *readers]:
        thread.join()
    assert problems == []
    assert len(shelf.find("common", limit=100)) == writers * each + 1
    with shelf.database.reading() as rows:
        figures = read_corpus(rows)
        assert (figures.documents, figures.length) == rows.row("select count(*), sum(length) from document")
