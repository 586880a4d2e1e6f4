"""`{visible}` and `{everyone}`: every record table of a statement needs a filter of its own."""

import pytest

from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.policy import UNRESTRICTED_VIEW
from tokonoma.core.reach import Reach
from tokonoma.pipeline.row_filter import CallerRowFilter, expand_visible, find_unfiltered_table

TABLES = frozenset({"memo", "memo_relation", "item"})
TEAM = Principal("key:team", "key", Reach(root="/team", default="/team"))


@pytest.mark.parametrize(
    "sql",
    [
        "select * from memo where {visible}",
        "select * from memo m where {visible:m}",
        "select memo.id, memo.title from memo where {visible}",
        "select * from memo where {everyone}",
        "select count(*) from note",
        "insert into memo (id, space) values (:id, :space)",
        "insert into note (id, memo, item) values (:id, :memo, :item)",
        "insert into memo (id) values (:id) on conflict (id) do update set revision = memo.revision + 1",
        "delete from memo where {visible} and id = :id",
        "update memo set title = 'from item' where {visible}",
        "select * from memo m join memo_relation r on r.source = m.id where {visible:m} and {visible:r}",
        "select * from memo m, memo_relation as r where {visible:m} and {everyone:r}",
        "select * from memo where {visible:memo} and id in (select a from memo_relation where {visible:memo_relation})",
        "select 1 from memo a left join memo b on a.id = b.id where {visible:a} and {visible:b}",
    ],
)
def test_statements_that_filter_every_record_table(sql):
    assert find_unfiltered_table(sql, TABLES) is None


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("select * from memo", "memo"),
        ("delete from memo where id = :id", "memo"),
        ("update memo set title = 1 where id = :id", "memo"),
        ("insert into note select * from memo", "memo"),
        ("select * from memo m, item i where {visible:m}", "item"),
        ("select * from memo m, item i where {visible:i}", "memo"),
        ("select * from memo m join item on item.id = m.id where {visible:m}", "item"),
        ("select * from memo where {visible} and id in (select id from item)", "memo"),
        ("select * from memo where {visible:memo} and id in (select id from item)", "item"),
        ("select * from memo a, memo b where {visible:a}", "memo"),
        ("select * from note n, memo where {visible:n}", "memo"),
        ("select * from memo a,item where {visible:a}", "item"),
        ('select * from"memo"', "memo"),
        ('select * from main."memo"', "memo"),
        ("select * from (memo)", "memo"),
        (
            "select memo from note",
            "memo",
        ),  # a column must not be named like a record table unless a filter stands there
        ("with m as materialized (table memo) select * from m", "memo"),
        ("select 1 from memo where {visible:memo} union select 1 from memo", "memo"),
        ("SELECT * FROM Memo AS m CROSS JOIN Item WHERE {visible:m}", "item"),
    ],
)
def test_a_record_table_without_a_filter_is_found(sql, table):
    assert find_unfiltered_table(sql, TABLES) == table


def test_everyone_reads_past_the_walls_and_visible_does_not():
    both, params = expand_visible("select 1 from a, b where {visible:a} and {everyone:b}", TEAM, CLASSIFICATIONS)
    assert "a.space = :visible_root" in both
    assert both.endswith("and 1 = 1")
    assert params == {"visible_root": "/team", "visible_below": "/team/", "visible_length": 6}
    assert expand_visible("select {everyone}", TEAM, ("public",)) == ("select 1 = 1", {})
    assert expand_visible("{visible:a}", OWNER, ("public",)) == ("a.label in ('public')", {})


def test_a_statement_without_a_filter_is_not_run():
    call = Call("memory", "list", {}, Caller("stdio"), identified=TEAM, view=UNRESTRICTED_VIEW)
    rows = CallerRowFilter(call, lambda: TABLES, lambda: frozenset(), lambda: frozenset())
    with pytest.raises(RuntimeError, match="'memo'"):
        rows.expand("select * from memo")
    assert rows.expand("select * from memo where {visible}")[1]["visible_root"] == "/team"
