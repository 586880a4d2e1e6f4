"""Migrations: once each, in order, by whoever comes first, and never backwards."""

import subprocess
import sys
import threading

import pytest
from store.threads import run_aside

from tokonoma.core.errors import Unready
from tokonoma.core.module import Migration
from tokonoma.store.database import open_database
from tokonoma.store.migrate import migrate, read_applied

FIRST = Migration(
    "001_word", ("create table word (id {identity}, text {text} not null)", "create index word_text on word (text)")
)
SECOND = Migration("002_number", ("alter table word add column number {big}",))
THIRD = Migration("003_upper", ("update word set text = upper(text)",), rewrites=True)
FOURTH = Migration("004_count", ("update word set number = length(text)",), rewrites=True)


def never(reason: str) -> None:
    raise AssertionError(f"no backup was due: {reason}")


def records(database) -> list[tuple[str, str]]:
    with database.reading() as tx:
        return tx.rows("select module, name from migration order by applied_at, module")


def test_steps_are_applied_once_and_in_order(database):
    assert migrate(database, "words", [FIRST, SECOND], never) == ["001_word", "002_number"]
    assert migrate(database, "words", [FIRST, SECOND], never) == []
    assert records(database) == [("words", "001_word"), ("words", "002_number")]
    with database.writing() as tx:
        tx.run("insert into word (text, number) values ('a', 1)")


def test_sets_do_not_know_of_each_other(database):
    other = Migration("001_word", ("create table other (id {identity})",))
    migrate(database, "words", [FIRST], never)
    migrate(database, "others", [other], never)
    with database.reading() as tx:
        assert read_applied(database, tx) == {"words": ["001_word"], "others": ["001_word"]}


def test_a_step_that_fails_leaves_nothing_behind(database):
    broken = Migration("002_broken", ("alter table word add column number {big}", "insert into nowhere values (1)"))
    with pytest.raises(Exception, match="nowhere"):
        migrate(database, "words", [FIRST, broken], never)
    assert records(database) == [("words", "001_word")]
    assert migrate(database, "words", [FIRST, SECOND], never) == ["002_number"]  # the column was not kept


def test_a_newer_schema_is_refused_and_untouched(database):
    migrate(database, "words", [FIRST, SECOND], never)
    before = records(database)
    with pytest.raises(Unready) as refused:
        migrate(database, "words", [FIRST], never)
    assert refused.value.reason == "newer_schema"
    assert refused.value.details == {"set": "words", "migration": "002_number"}
    for word in ("words", "002_number", "tokonoma restore"):
        assert word in refused.value.message
    assert records(database) == before


def test_another_order_is_refused(database):
    migrate(database, "words", [FIRST, SECOND], never)
    for steps in ([SECOND, FIRST], [FIRST, THIRD, SECOND], [THIRD, FIRST, SECOND]):
        with pytest.raises(Unready) as refused:
            migrate(database, "words", steps, never)
        assert refused.value.reason == "schema_order"


def test_a_backup_is_made_before_the_first_step_that_rewrites_rows(database):
    migrate(database, "words", [FIRST], never)
    with database.writing() as tx:
        tx.run("insert into word (text) values ('a')")
    seen: list[tuple[str, list[tuple[str]]]] = []

    def read_words() -> list[tuple[str]]:
        with database.reading() as tx:
            return tx.rows("select text from word")

    def backup(reason: str) -> None:
        seen.append((reason, run_aside(read_words)))

    assert migrate(database, "words", [FIRST, SECOND, THIRD, FOURTH], backup) == [
        "002_number",
        "003_upper",
        "004_count",
    ]
    assert seen == [("words-003_upper", [("a",)])]
    with database.reading() as tx:
        assert tx.rows("select text, number from word") == [("A", 1)]


def test_an_empty_database_needs_no_backup(database):
    assert migrate(database, "words", [FIRST, SECOND, THIRD], never) == ["001_word", "002_number", "003_upper"]


def test_without_its_backup_a_step_is_not_taken(database):
    migrate(database, "words", [FIRST], never)
    with database.writing() as tx:
        tx.run("insert into word (text) values ('a')")

    def fails(reason: str) -> None:
        raise OSError("no space")

    with pytest.raises(OSError):
        migrate(database, "words", [FIRST, SECOND, THIRD], fails)
    assert records(database)[-1] == ("words", "002_number")
    with database.reading() as tx:
        assert tx.rows("select text from word") == [("a",)]


def test_several_that_start_at_once_share_the_work(database_url):
    steps = [FIRST, SECOND, *(Migration(f"{n:03d}", (f"create table t{n} (id {{identity}})",)) for n in range(10, 20))]
    databases = [open_database(database_url, durable=False) for _ in range(4)]
    together, made, failed = threading.Barrier(4), [], []

    def start(database) -> None:
        together.wait()
        try:
            made.extend(migrate(database, "words", steps, never))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=start, args=(each,)) for each in databases]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert sorted(made) == sorted(step.name for step in steps)
    assert [name for _, name in records(databases[0])] == [step.name for step in steps]
    for each in databases:
        each.close()


def test_processes_that_start_at_once_share_the_work(database_url):
    script = (
        "import sys\n"
        "from tokonoma.core.module import Migration; from tokonoma.store.migrate import migrate\n"
        "from tokonoma.store.database import open_database\n"
        "sys.stdin.read()\n"
        "steps = [Migration(str(n), (f'create table t{n} (id {{identity}})',)) for n in range(10, 30)]\n"
        "database = open_database(sys.argv[1], durable=False)\n"
        "print(len(migrate(database, 'words', steps, print)))\n"
    )
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", script, database_url], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        for _ in range(3)
    ]
    for each in processes:
        each.stdin.close()  # go
    answers = [(each.stdout.read(), each.stderr.read(), each.wait()) for each in processes]
    for each in processes:
        each.stdout.close()
        each.stderr.close()
    assert [code for _, _, code in answers] == [0, 0, 0], answers
    assert sum(int(out) for out, _, _ in answers) == 20
