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
from tokonoma.search.index import _PAGE
from tokonoma.search.reindex import reindex, restart_reindex
from tokonoma.search.text.term_index import read_corpus
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated

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

    def rebuild(self, stop=None, pages=None, module=MODULE, mark=lambda _document: "internal"):
        steps = reindex(self.database, self.index, [module], mark, stop or CancelToken())
        return list(itertools.islice(steps, pages))

    def delete(self, name):
        with self.database.writing() as tx:
            tx.run("delete from note where name = :name", name=name)
            self.index.drop(tx, address(name))


@pytest.fixture
def notes(database) -> Notes:
    return Notes(database)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    for name in ("FIRST", "SMALLEST", "LARGEST"):
        monkeypatch.setattr(rebuilding, name, 4)


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
    notes = Notes(database, enqueue=lambda _statements, numbers, _is_part: asked.extend(numbers))
    notes.save("n", "tea")
    notes.save("lost", "tea", index=False)
    asked.clear()
    notes.rebuild()
    assert len(asked) == 1, "only of what the index had lost"


def test_records_are_scanned_before_the_transaction(notes):
    """Others can write meanwhile; a block inside of a block would be refused."""
    for number in range(6):
        notes.save(f"n{number}", f"tea {number}")

    marked = []

    def mark(document):
        with notes.database.writing() as tx:
            marked.append(tx.run("delete from note where name = 'nothing'"))
        return "internal"

    notes.rebuild(mark=mark)
    assert marked == [0] * 6


def interfere(change):
    """A module whose records change between the two times that each page is read."""
    pages = []

    def listing(rows, after, most):
        found = listed(rows, after, most)
        pages.append(found)
        return found

    def mark(document):
        if document.address == pages[-1][-1].address:
            change(len(pages))
        return "internal"

    return Module("memory", "Notes.", (), NOTES, documents=listing), mark


def test_a_record_that_changes_after_it_was_prepared_is_prepared_again(notes):
    for number in range(10):
        notes.save(f"n{number}", "tea")
    module, mark = interfere(lambda page: notes.save("n1", "coffee") if page == 1 else None)
    notes.rebuild(module=module, mark=mark)
    assert notes.find("coffee") == ["n1"]
    assert len(notes.find("tea", limit=50)) == 9


def test_no_record_is_passed_over_when_its_page_shrinks_or_grows(notes):
    """A page of four loses one, or gets another, after it was prepared: the next one begins at the right place."""
    for number in range(10):
        notes.save(f"n{number}", "tea")
        notes.put(f"n{number}gone", "tea of the past")
    with notes.database.writing() as tx:  # what the index holds of these must be made anew
        tx.run("delete from words") if notes.database.kind == "postgresql" else None
        tx.run("update document set form = 0")

    def change(page):
        if page == 1:
            notes.delete("n2")
        elif page == 3:
            notes.save("n4extra", "tea")

    module, mark = interfere(change)
    assert notes.rebuild(module=module, mark=mark)[-1].finished
    assert sorted(notes.find("tea", limit=50)) == [
        "n0", "n1", "n3", "n4", "n4extra", "n5", "n6", "n7", "n8", "n9"
    ]  # fmt: skip
    assert notes.rows("select count(*) from document where form = 0") == [(0,)]


def test_the_total_is_that_of_the_records(notes):
    for number in range(11):
        notes.save(f"n{number:02}", "tea", index=number == 0)
    counted = Module(
        "memory", "Notes.", (), NOTES, documents=listed,
        count_documents=lambda rows: rows.rows("select count(*) from note")[0][0],
    )  # fmt: skip
    assert [(step.done, step.total) for step in notes.rebuild(module=counted)] == [(4, 11), (8, 11), (11, 11)]


def test_what_is_done_is_not_done_again_until_all_is(notes):
    """Of two modules, the second is interrupted."""
    for number in range(6):
        notes.save(f"n{number}", "tea")
    other = Module("items", "Notes.", (), NOTES, documents=lambda _rows, after, _most: [] if after else ITEMS)
    ran = reindex(notes.database, notes.index, [MODULE, other], lambda _document: "internal", CancelToken())
    assert [(step.module, step.done) for step in itertools.islice(ran, 3)] == [
        ("memory", 4), ("memory", 6), ("items", 4)
    ]  # fmt: skip
    del ran
    again = reindex(notes.database, notes.index, [MODULE, other], lambda _document: "internal", CancelToken())
    assert [(step.module, step.done) for step in again] == [("memory", 6), ("items", 4)]
    assert notes.rows("select * from progress") == []


ITEMS = [Document(f"tokonoma://items/{number}", "/", "tea", at=7) for number in range(4)]


def test_a_page_is_found_by_the_index_of_addresses(sqlite_database):
    """Sorting all rows of the module for each page would take hours in a large store."""
    fixture = IndexFixture(sqlite_database)
    with sqlite_database.reading() as rows:
        sql = f"explain query plan {_PAGE}".replace("{upto}", "<=")
        plan = [row[-1] for row in rows.rows(sql, after="a", last="b")]
    assert fixture.find("tea") == []
    assert plan == ["SEARCH document USING COVERING INDEX sqlite_autoindex_document_1 (address>? AND address<?)"]


def test_terms_are_merged_in_small_steps_and_into_one_part(sqlite_database):
    """FTS5 itself would do it inside the saves of others, without a limit."""
    notes = Notes(sqlite_database)
    for number in range(40):
        notes.save(f"n{number:02}", f"tea {word(number)}")
    settings = "select k, v from words_config where k in ('automerge', 'deletemerge') order by k"
    notes.rebuild(pages=2)
    assert notes.rows(settings) == [("automerge", 0), ("deletemerge", 0)]
    assert len(notes.find("tea", limit=50)) == 40
    notes.rebuild()
    assert notes.rows(settings) == [("automerge", 4), ("deletemerge", 10)]
    assert notes.rows("select count(distinct segid) from words_idx") == [(1,)]
    assert len(notes.find("tea", limit=50)) == 40
