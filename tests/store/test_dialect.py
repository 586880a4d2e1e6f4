"""One SQL text for both databases: what is translated, and what is left alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer

from tokonoma.store.dialect import POSTGRESQL, SQLITE

# Pieces of SQL, each with what PostgreSQL's driver and SQLite must get for it.
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
# No quote, no dollar, no brace, colon, percent or semicolon, nor what starts a comment: those have pieces of their own.
plain = st.text(st.sampled_from("abc xyz019 \n\t=<>(),.*+床[]|&@#!?~"), min_size=1, max_size=12)
inner = st.text(st.sampled_from("ab:{}%;床 \n?$*/-"), max_size=12)


def same(text: str) -> tuple[str, str, str]:
    return text, text.replace("%", "%%"), text


pieces = st.one_of(
    plain.map(same),
    names.map(lambda name: (f" :{name} ", f" %({name})s ", f" :{name} ")),
    st.just(same(" a::text ")),
    st.just(same(" a % b ")),
    inner.map(lambda text: same("'" + text + "'")),
    inner.map(lambda text: same("'" + text + "''" + text + "'")),
    inner.map(lambda text: same('"' + text + '"')),
    inner.map(lambda text: same("--" + text.replace("\n", " ") + "\n")),
    inner.map(lambda text: same("/*" + text.replace("*/", "") + " */")),
    inner.map(lambda text: same("$tag$" + text.replace("$", "") + "$tag$")),
    st.sampled_from([
        (" {big} ", " bigint ", " integer "),
        (" {blob} ", " bytea ", " blob "),
        (" {real} ", " double precision ", " real "),
        (" {text} ", ' text collate "C" ', " text "),
        (" {for_update} ", " for no key update ", "  "),
    ]),
)  # fmt: skip


@given(st.lists(pieces, max_size=12))
def test_every_piece_is_translated_by_itself(parts):
    text = " ".join(part[0] for part in parts)
    assert POSTGRESQL.translate(text) == " ".join(part[1] for part in parts)
    assert SQLITE.translate(text) == " ".join(part[2] for part in parts)


@given(st.lists(pieces, max_size=12))
def test_the_driver_finds_the_same_parameters_and_percent_signs(parts):
    text = POSTGRESQL.translate(" ".join(part[0] for part in parts))
    asked = {part[0].strip()[1:] for part in parts if part[0].startswith(" :")}
    query = PostgresQuery(Transformer())
    query.convert(text.encode(), dict.fromkeys(asked, "x"))
    # What reaches the server has the percent signs of the original, and numbers for names.
    assert query.query.count(b"%") == sum(part[0].count("%") for part in parts)
    assert len(query.types or ()) == len(asked)


@given(st.text(max_size=60))
def test_any_text_is_translated_or_refused_in_words(text):
    for dialect in (SQLITE, POSTGRESQL):
        try:
            dialect.translate(text)
        except ValueError as error:
            assert "SQL" in str(error)


@given(st.lists(pieces, max_size=12))
def test_translation_is_remembered(parts):
    text = " ".join(part[0] for part in parts)
    assert SQLITE.translate(text) is SQLITE.translate(text)


def test_an_unknown_token_is_refused():
    for dialect in (SQLITE, POSTGRESQL):
        with pytest.raises(ValueError, match="visible"):
            dialect.translate("select 1 where {visible}")


@pytest.mark.parametrize("text", ["select 1; select 2", "select 1;\n--x\n drop table t", "a; /* x */ b"])
def test_two_statements_are_refused(text):
    for dialect in (SQLITE, POSTGRESQL):
        with pytest.raises(ValueError, match="one statement"):
            dialect.translate(text)


@pytest.mark.parametrize("text", ["select 1;", "select 1 ; \n", "select ';' ; -- the end", "select 1;/* ; */;"])
def test_one_statement_may_end_in_a_semicolon(text):
    assert SQLITE.translate(text) == text


def test_a_trigger_has_statements_of_its_own():
    text = "create trigger t after insert on a begin delete from b; delete from c; end"
    assert SQLITE.translate(text) == text


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_translated_sql_means_the_same(kind, request):
    database = request.getfixturevalue("sqlite_database" if kind == "sqlite" else "postgres_database")
    with database.writing() as tx:
        tx.run('create table t (id {identity}, a {text}, n {big}, r {real}, b {blob}, j text default \'{"%": ":x"}\')')
        tx.run("insert into t (a, n, r, b) values (:a, :n % 7, :r, :b)", a="100 % :n {big}", n=9, r=1.5, b=b"x")
    with database.reading() as tx:
        assert tx.rows("select a, n, r, b, j from t where a like '%:n%' and a = :a", a="100 % :n {big}") == [
            ("100 % :n {big}", 2, 1.5, b"x", '{"%": ":x"}')
        ]


def test_a_list_of_numbers_is_one_parameter(database):
    with database.writing() as tx:
        tx.run("create table t (n {big} not null)")
        tx.run_many("insert into t (n) values (:n)", [{"n": n} for n in (1, 2, 3, 2**62)])
        told = tx.rows("select n from t where n in ({numbers}) order by n", numbers=f"[3, 9, {2**62}]")
        assert told == [(3,), (2**62,)]
        assert tx.rows("select n from t where n in ({numbers})", numbers="[]") == []


def test_a_list_of_texts_is_one_parameter_and_a_column_is_sorted_by_code_point(database):
    texts = ["/a", "/a-b", "/a/b", "/a0", "/B", "床's", 'qu"ote']
    with database.writing() as tx:
        tx.run("create table t (word text not null)")
        tx.run_many("insert into t (word) values (:word)", [{"word": word} for word in texts])
        told = tx.rows("select word from t where word in ({texts})", texts=json.dumps(["床's", 'qu"ote', "none"]))
        assert {word for (word,) in told} == {"床's", 'qu"ote'}
        told = tx.rows("select word from t where word {by_code_point} >= '/a' order by word {by_code_point}")
        assert [word for (word,) in told] == ["/a", "/a-b", "/a/b", "/a0", 'qu"ote', "床's"]
