"""All items that match a query, in an order that is not a ranking: conditions in SQL, texts by the filters of
`item_gram`, and what passes both is read through the desk and compared, a page at a time."""
# ruff: noqa: S608 - SQL is built from our own texts and names of parameters; what callers send is a parameter

from collections.abc import Iterator, Sequence
from typing import Any

from tokonoma.core.desk import Desk, Row
from tokonoma.core.query import AllOf
from tokonoma.modules.items.alternatives import QueryAlternative
from tokonoma.modules.items.conditions import compile_predicate
from tokonoma.modules.items.exact import GramFilter
from tokonoma.modules.items.model import MODULE_NAME
from tokonoma.modules.items.pages import ItemOrder
from tokonoma.modules.items.rows import fetch_items
from tokonoma.modules.items.tables import COLUMNS, SUMMARY_COLUMNS

_PAGE = 2000  # rows of numbers and filters
_READ = 100  # items that are compared at a time


def find_exact(desk: Desk, alternatives: Sequence[QueryAlternative], order: ItemOrder, most: int) -> list[int]:
    """The numbers of the first `most` items that match one of the alternatives."""
    filters = [GramFilter(each.must) for each in alternatives]
    addressed = {test.item_id or 0 for each in alternatives for test in each.must}
    has_texts = any(each.must or each.without for each in alternatives)
    found: list[int] = []
    for page in _read_pages(desk, alternatives, order, most):
        rows: list[tuple[int, bytes | None]] = [(row[-2], row[-1]) for row in page]
        passed = [id for id, grams in rows if id in addressed or any(each.may_pass(grams) for each in filters)]
        for start in range(0, len(passed), _READ):
            desk.check()
            some = passed[start : start + _READ]
            items = fetch_items(desk, some, COLUMNS if has_texts else SUMMARY_COLUMNS)
            found += [id for id in some if id in items and any(each.matches(items[id]) for each in alternatives)]
            if len(found) >= most:
                return found[:most]
    return found


def _read_pages(
    desk: Desk, alternatives: Sequence[QueryAlternative], order: ItemOrder, most: int
) -> Iterator[list[Row]]:
    """The keys of the order, of which the number is the last, and the filters of the items that hold the conditions."""
    params: dict[str, Any] = {}
    # Where texts may be masked for this caller, the database must not compare them: all items are read and compared.
    wanted = ["1 = 1"] if desk.call.record_masks.covers(MODULE_NAME) else [
        compile_predicate(AllOf(each.predicates), f"a{number}", params) for number, each in enumerate(alternatives)
    ]  # fmt: skip
    sql = f"""select {", ".join(order.keys)}, g.grams from item left join item_gram g on g.item_id = item.id
        where item.state >= 0 and ({" or ".join(wanted)}) and {{visible:item}}%AFTER%
        order by {order.sql} limit :most"""
    if order.is_masked(desk):  # the keys are masked, and sorted as the caller sees them
        rows = desk.rows(sql.replace("%AFTER%", ""), most=2**62, **params)
        yield sorted(rows, key=lambda row: row[:-1], reverse=order.direction == "desc")
        return
    size, after = min(_PAGE, max(_READ, most)), ""
    while True:
        page = desk.rows(sql.replace("%AFTER%", after), most=size, **params)
        yield page
        if len(page) < size:
            return
        condition, keys = order.continue_after(page[-1][:-1])
        after, size = f" and {condition}", _PAGE
        params |= keys
