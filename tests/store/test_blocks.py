"""Reading and writing: one body on both databases."""

import threading

import pytest
from store.threads import run_aside

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Conflict, Invalid, Unavailable
from tokonoma.store.database import Database, open_database

INSERT = "insert into word (text, number) values (:text, :number)"


@pytest.fixture
def words(database: Database) -> Database:
    with database.writing() as tx:
        tx.run("create table word (id {identity}, text {text} not null unique, number {big}, share {real}, raw {blob})")
    return database


def texts(database: Database) -> list[str]:
    with database.reading() as tx:
        return [row[0] for row in tx.rows("select text from word order by id")]


def insert(database: Database, text: str) -> None:
    with database.writing() as tx:
        tx.run(INSERT, text=text, number=1)


def test_a_write_is_kept_and_read_back(words):
    with words.writing() as tx:
        assert tx.run(INSERT, text="床の間", number=1) == 1
        assert tx.rows("select text, number from word") == [("床の間", 1)]
    assert texts(words) == ["床の間"]


def test_an_exception_rolls_back(words):
    with pytest.raises(ZeroDivisionError), words.writing() as tx:
        tx.run(INSERT, text="a", number=1)
        raise ZeroDivisionError
    assert texts(words) == []
    with words.writing() as tx:  # and the next one is as good as new
        tx.run(INSERT, text="b", number=1)
    assert texts(words) == ["b"]


def test_row_counts_are_of_this_statement(words):
    with words.writing() as tx:
        tx.run_many(INSERT, [{"text": str(n), "number": n} for n in range(5)])
        assert tx.run("update word set number = number + 1 where number < :below", below=3) == 3
        assert tx.run("update word set number = 0 where number > 100") == 0
        assert tx.run("create table other (id {identity})") == 0
        assert tx.run("select * from word") == 0
        assert tx.run("insert into word (text) values ('0') on conflict (text) do nothing") == 0
        assert tx.run("delete from word") == 5


def test_many_is_all_or_nothing(words):
    with pytest.raises(Conflict), words.writing() as tx:
        tx.run_many(INSERT, [{"text": each, "number": 1} for each in ("a", "b", "a")])
    assert texts(words) == []


def test_many_of_none_is_nothing(words):
    with words.writing() as tx:
        tx.run_many(INSERT, [])
    assert texts(words) == []


def test_returning_gives_the_identity_which_is_never_given_twice(words):
    with words.writing() as tx:
        first = tx.row(INSERT + " returning id", text="a", number=1)
        tx.run("delete from word")
        second = tx.row(INSERT + " returning id", text="b", number=1)
    assert second[0] == first[0] + 1


def test_row_is_the_first_or_none(words):
    with words.reading() as tx:
        assert tx.row("select 1 from word") is None
        assert tx.row("select 1 union all select 2 order by 1") == (1,)


def test_values_have_the_same_types_on_both(words):
    big = 2**63 - 1
    with words.writing() as tx:
        insert = "insert into word (text, number, share, raw) values (:text, :number, :share, :raw)"
        tx.run(insert, text="a", number=big, share=0.1, raw=b"\0\xff")
        tx.run(insert, text="b", number=True, share=2.0, raw=None)
        tx.run(insert, text="c", number=None, share=None, raw=b"")
    with words.reading() as tx:
        assert tx.rows("select number, share, raw from word order by id") == [
            (big, 0.1, b"\0\xff"), (1, 2.0, None), (None, None, b""),
        ]  # fmt: skip
        found = tx.row(
            "select sum(id), avg(id), count(*), max(share), text = 'a' from word group by text having text = 'a'"
        )
        assert [type(each) for each in found] == [int, float, int, float, int]


def test_whole_numbers_do_not_overflow_on_the_way(words):
    with words.reading() as tx:
        assert tx.row("select :a + :b, :c * 1000", a=30_000, b=30_000, c=3_000_000_000) == (60_000, 3_000_000_000_000)


def test_a_number_beyond_64_bits_is_refused(words):
    with pytest.raises(Invalid) as refused, words.writing() as tx:
        tx.run(INSERT, text="a", number=2**63)
    assert refused.value.reason == "number"


def test_half_of_a_surrogate_pair_is_refused(words):
    with pytest.raises(Invalid) as refused, words.writing() as tx:
        tx.run(INSERT, text="\ud800", number=1)
    assert refused.value.reason == "text"


def test_text_sorts_by_code_point(words):
    with words.writing() as tx:
        tx.run_many(INSERT, [{"text": each, "number": 1} for each in ("b", "a", "B", "ä", "あ", "_")])
    with words.reading() as tx:
        found = [row[0] for row in tx.rows("select text from word order by text")]
    assert found == sorted(found)


def test_a_second_one_with_the_same_key_is_a_conflict(words):
    with words.writing() as tx:
        tx.run(INSERT, text="a", number=1)
    with pytest.raises(Conflict) as refused, words.writing() as tx:
        tx.run(INSERT, text="a", number=2)
    assert refused.value.reason == "exists"
    assert "word" not in refused.value.message  # the driver's text stays inside


def test_a_reference_to_nothing_is_a_conflict(words):
    with words.writing() as tx:
        tx.run("create table note (id {identity}, word {big} not null references word (id))")
    with pytest.raises(Conflict) as refused, words.writing() as tx:
        tx.run("insert into note (word) values (7)")
    assert refused.value.reason == "linked"


def test_a_failed_statement_spoils_the_block_even_if_its_error_was_caught(words):
    with words.writing() as tx:
        tx.run(INSERT, text="a", number=1)
    with pytest.raises(Conflict), words.writing() as tx:
        tx.run(INSERT, text="b", number=1)
        with pytest.raises(Conflict):
            tx.run(INSERT, text="a", number=1)
        with pytest.raises(Conflict):
            tx.run(INSERT, text="c", number=1)
    assert texts(words) == ["a"]


def test_mistakes_in_sql_are_not_refusals(words):
    for wrong in ("select * from nothing", "selec 1", "select :missing + 1", "select {unknown}", "select 1; select 2"):
        with pytest.raises(Exception) as raised, words.reading() as tx:
            tx.rows(wrong)
        assert not isinstance(raised.value, Conflict | Invalid | Unavailable)


def test_a_reading_block_cannot_write(words):
    with pytest.raises(RuntimeError, match="cannot write"), words.reading() as tx:
        tx.rows(INSERT, text="a", number=1)
    assert texts(words) == []


def test_writing_blocks_of_one_thread_do_not_nest(words):
    with words.writing() as tx:
        tx.run(INSERT, text="a", number=1)
        with pytest.raises(RuntimeError, match="inside"), words.writing():
            pass
    assert texts(words) == ["a"]


def test_a_handle_is_dead_once_its_block_was_left(words):
    with words.reading() as reading:
        pass
    with words.writing() as writing:
        pass
    for late in (lambda: writing.run(INSERT, text="a", number=1), lambda: writing.rows("select 1")):
        with pytest.raises((AttributeError, AssertionError)):
            late()
    if words.kind == "sqlite":
        with pytest.raises(AttributeError):
            reading.rows("select 1")
    assert texts(words) == []


def test_a_reader_sees_one_snapshot(words):
    with words.reading() as tx:
        assert tx.rows("select text from word") == []
        run_aside(insert, words, "a")
        assert tx.rows("select text from word") == []
    assert texts(words) == ["a"]


def test_writers_in_threads_lose_nothing(words):
    with words.writing() as tx:
        tx.run(INSERT, text="counter", number=0)

    def count(times: int) -> None:
        for _ in range(times):
            with words.writing() as tx:
                row = tx.row("select number from word where text = 'counter' {for_update}")
                tx.run("update word set number = :number where text = 'counter'", number=row[0] + 1)

    threads = [threading.Thread(target=count, args=(25,)) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with words.reading() as tx:
        assert tx.row("select number from word") == (150,)


def test_more_readers_at_once_than_connections(words):
    together = threading.Barrier(6)
    found: list[list[tuple[int]]] = []

    def read() -> None:
        with words.reading() as tx:
            tx.rows("select 1")
            together.wait()
            found.append(tx.rows("select 2"))

    threads = [threading.Thread(target=read) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [[(2,)]] * 6


def test_check_and_size(words):
    with words.writing() as tx:
        tx.run_many(INSERT, [{"text": str(n), "number": n} for n in range(100)])
    assert words.find_problems() == []
    assert words.size() > 4_000


def test_a_closed_database_refuses(words):
    words.close()
    words.close()
    for block in (words.reading, words.writing):
        with pytest.raises(Unavailable) as refused, block() as tx:
            tx.rows("select 1")
        assert refused.value.reason == "closed"


def test_spans_wrap_the_blocks(database_url):
    from contextlib import contextmanager

    seen = []

    @contextmanager
    def span(name):
        seen.append(f"+{name}")
        yield
        seen.append(f"-{name}")

    database = open_database(database_url, durable=False, span=span)
    with database.writing() as tx:
        assert tx.rows("select 1") == [(1,)]
    with database.reading() as rows:
        assert rows.rows("select 1") == [(1,)]
    database.close()
    assert seen == ["+store.write", "-store.write", "+store.read", "-store.read"]


def test_a_stop_that_was_set_before_stops_at_once(words):
    stop = CancelToken()
    stop.cancel("cancelled")
    for block in (words.reading, words.writing):
        with pytest.raises(Unavailable) as refused, block(stop) as tx:
            tx.rows("select 1")
        assert refused.value.reason == "cancelled"


@pytest.mark.parametrize(
    "use",
    [
        lambda tx: tx.run(INSERT, text="a\0b", number=1),
        lambda tx: tx.run_many(INSERT, [{"text": "a", "number": 1}, {"text": "\0", "number": 2}]),
        lambda tx: tx.rows("select text from word where text = :text", text="\0"),
    ],
    ids=["run", "many", "rows"],
)
def test_nul_is_refused_in_words_and_nothing_is_kept(words, use):
    def caught(tx):
        tx.run(INSERT, text="before", number=0)
        with pytest.raises(Invalid):
            use(tx)

    with pytest.raises(Invalid) as refused, words.writing() as tx:
        caught(tx)
    assert refused.value.reason == "text"
    assert "NUL" in refused.value.message
    assert texts(words) == []


def test_nul_is_refused_by_readers(words):
    with pytest.raises(Invalid) as refused, words.reading() as rows:
        rows.rows("select text from word where text = :text", text="a\0")
    assert refused.value.reason == "text"
