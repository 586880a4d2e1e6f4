"""Rebuilding the index from the modules' own records, interrupted, resumed, and while others write."""

import itertools
import threading

import pytest
from search.fixture import EVERYWHERE, IndexFixture, address, names

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Document
from tokonoma.core.errors import Unavailable
from tokonoma.core.module import Migration, Module
from tokonoma.core.query import Query, SearchFilter
from tokonoma.search import reindex as rebuilding
from tokonoma.search.reindex import reindex, restart_reindex
from tokonoma.search.text.term_index import read_corpus
from tokonoma.store.migrate import migrate

NOTES = (Migration("001_note", ("create table note (name {text} primary key, words text not null)",)),)


def listed(rows, after, most):
    found = rows.rows(
        "select name, words from note where name > :after order by name limit :most",
        after=(after or address("")).removeprefix(address("")),
        most=most,
    )
    return [Document(address(name), "/", words, at=7) for name, words in found]


def word(number):
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


MODULE = Module("memory", "Notes.", (), NOTES, documents=listed)


class Notes(IndexFixture):
    def __init__(self, database, **options):
        super().__init__(database, **options)
        migrate(database, "notes", NOTES, lambda _reason: None)

    def save(self, name, words, index=True):
        with self.database.writing() as tx:
            tx.run(
                """insert into note (name, words) values (:name, :words)
                on conflict (name) do update set words = excluded.words""",
                name=name,
                words=words,
            )
            if index:
                self.index.put(tx, Document(address(name), "/", words, at=7), "internal")

    def rebuild(self, stop=None, pages=None):
        steps = reindex(self.database, self.index, [MODULE], lambda _document: "internal", stop or CancelToken())
        return list(itertools.islice(steps, pages))


@pytest.fixture
def notes(database) -> Notes:
    return Notes(database)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(rebuilding, "PAGE", 4)


def test_an_index_that_was_lost_comes_back(notes):
    for number in range(11):
        notes.save(f"n{number:02}", f"tea number {number}", index=number % 3 == 0)
    assert len(notes.find("tea", limit=50)) == 4
    steps = notes.rebuild()
    assert [step.done for step in steps] == [4, 8, 11]
    assert steps[-1].finished
    assert len(notes.find("tea", limit=50)) == 11
    with notes.database.reading() as rows:
        figures = read_corpus(rows)
        assert (figures.documents, figures.length) == rows.row("select count(*), sum(length) from document")


def test_what_is_no_longer_there_goes(notes):
    for number in range(6):
        notes.save(f"n{number}", "tea")
    for name in ("n1x", "a", "zz"):
        notes.put(name, "tea of the past")
    notes.put("tokonoma://items/1", "tea of another module")
    notes.rebuild()
    assert sorted(notes.find("tea", limit=50)) == ["n0", "n1", "n2", "n3", "n4", "n5", "tokonoma://items/1"]


def test_rows_of_an_older_form_are_made_anew(notes):
    notes.save("n", "tea")
    with notes.database.writing() as tx:
        tx.run("delete from terms")
        tx.run("update document set form = 0, length = 0")
        tx.run("update corpus set documents = 0, length = 0")
    assert notes.find("tea") == []
    notes.rebuild()
    assert notes.find("tea") == ["n"]


def test_interrupted_it_goes_on_where_it_was(notes):
    for number in range(10):
        notes.save(f"n{number}", f"tea {number}", index=False)
    notes.rebuild(pages=1)
    assert len(notes.find("tea", limit=50)) == 4
    read = []

    def counted(rows, after, most):
        read.append(after)
        return listed(rows, after, most)

    module = Module("memory", "Notes.", (), NOTES, documents=counted)
    steps = list(reindex(notes.database, notes.index, [module], lambda _document: "internal", CancelToken()))
    assert [step.done for step in steps] == [8, 10]
    assert None not in read
    assert len(notes.find("tea", limit=50)) == 10
    assert notes.rebuild()[0].done == 4, "the next one begins at the first record"


def test_it_can_be_told_to_begin_anew(notes):
    for number in range(6):
        notes.save(f"n{number}", "tea")
    notes.rebuild(pages=1)
    restart_reindex(notes.database, [MODULE])
    assert [step.done for step in notes.rebuild()] == [4, 6]


def test_a_stop_in_the_middle_of_a_page_takes_the_page_back(notes):
    for number in range(10):
        notes.save(f"n{number}", f"tea {number}", index=False)
    stop = CancelToken()

    def stopping(rows, after, most):
        if after is not None:
            stop.cancel("cancelled")
        return listed(rows, after, most)

    module = Module("memory", "Notes.", (), NOTES, documents=stopping)
    with pytest.raises(Unavailable) as refused:
        list(reindex(notes.database, notes.index, [module], lambda _document: "internal", stop))
    assert refused.value.reason == "cancelled"
    assert len(notes.find("tea", limit=50)) == 4
    notes.rebuild()
    assert len(notes.find("tea", limit=50)) == 10


def test_searches_and_saves_go_on_meanwhile(notes):
    """Whatever is saved during a rebuild is what the index holds afterwards."""
    for number in range(40):
        notes.save(f"n{number:02}", f"tea {word(number)}old")
    problems: list[BaseException] = []
    running = threading.Event()

    def save() -> None:
        try:
            running.set()
            for number in range(40):
                notes.save(f"n{number:02}", f"tea {word(number)}new")
                notes.save(f"x{number:02}", f"tea {word(number)}extra")
        except BaseException as error:
            problems.append(error)

    def search() -> None:
        try:
            while saver.is_alive():
                with notes.database.reading() as rows:
                    found = notes.index.find(rows, Query("tea", limit=100), SearchFilter(), EVERYWHERE)
                assert len(names(found)) >= 40
        except BaseException as error:
            problems.append(error)

    saver, seeker = threading.Thread(target=save), threading.Thread(target=search)
    saver.start()
    seeker.start()
    running.wait()
    while saver.is_alive():
        notes.rebuild()
    saver.join()
    seeker.join()
    assert problems == []
    notes_held = dict(notes.rows("select name, words from note"))
    assert len(notes_held) == 80
    for name, words in notes_held.items():
        assert notes.find(words.split()[1], limit=1) == [name]
    assert not any(notes.find(f"{word(number)}old") for number in range(40))


def test_a_module_without_documents_is_left_alone(notes):
    notes.put("tokonoma://other/1", "tea")
    steps = reindex(
        notes.database, notes.index, [Module("other", "…", ())], lambda _document: "internal", CancelToken()
    )
    assert list(steps) == []
    assert notes.find("tea") == ["tokonoma://other/1"]


def test_vectors_are_not_made_again(database):
    asked: list[int] = []
    notes = Notes(database, enqueue=lambda _statements, number: asked.append(number))
    notes.save("n", "tea")
    notes.save("lost", "tea", index=False)
    asked.clear()
    notes.rebuild()
    assert len(asked) == 1, "only of what the index had lost"
