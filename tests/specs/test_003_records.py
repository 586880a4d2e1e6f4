"""Every module that keeps records says how they get another class: no table of theirs is forgotten by a policy."""

import random
import re

import pytest
from policy.houses import enforce
from policy.world import World
from talk import Lines

from tokonoma import catalogue

MODULES = {
    name: catalogue.load_module(source) for name, source in catalogue.BUILT_IN_MODULES.items() if name != "gateway"
}
KEEPING = {name: module for name, module in MODULES.items() if module.tables}
HOLDS_NO_TEXT = {
    "claim_feedback", "active_context",  # who said which signal when; ids of claims, which are read anew
    "item_gate", "item_tag", "item_link", "item_reference", "item_alias", "item_hint",  # joined to items
    "item_mention", "item_gram",  # names of items that do not exist yet; bits of texts, which never leave
    "manual_stamp", "manual_file", "manual_state", "manual_trace", "manual_run", "manual_past",  # names, figures
    "vault_ledger", "vault_trail", "vault_gain",  # the same; the first is part of files/ now
}  # fmt: skip
"""Tables without a class of their own whose rows are no text of a record, or never leave without their record."""


def created(module) -> dict[str, str]:
    """The tables of a module with what creates them."""
    statements = [each for step in module.tables for each in step.statements]
    found = (re.match(r"\s*create table (\w+) \((.*)", each, re.DOTALL) for each in statements)
    return {match[1]: match[2] for match in found if match}


@pytest.mark.parametrize("name", KEEPING)
def test_a_table_has_a_class_or_is_said_to_have_none(name):
    module = KEEPING[name]
    tables = created(module)
    classed = {table for table, columns in tables.items() if re.search(r"\blabel text not null", columns)}
    assert classed <= module.record_tables, "a row with a class is read through {visible} only"
    assert module.unclassified_tables <= tables.keys()
    assert tables.keys() - classed - module.unclassified_tables <= HOLDS_NO_TEXT, (
        "say where its texts get their class from"
    )
    if module.record_tables:
        assert module.reclassify is not None
    leaves = re.compile(r"\b(deleted_at|superseded_by|forgotten_at)\b")
    if any(leaves.search(tables.get(table, "")) for table in module.record_tables):
        assert module.unindexed_documents is not None, "records that left the index follow a policy, too"


def test_no_row_of_any_record_table_keeps_the_class_of_the_old_policy(app):
    world = World(app, random.Random(3), Lines(app))
    world.fill()
    world.talk.call("manual", "list")
    rules = ", ".join(f"{{ module: {name}, class: secret }}" for name in MODULES)
    enforce(app, f"version: 1\nlabels: [{rules}]")
    records = {table for module in MODULES.values() for table in module.record_tables}
    with app.database.reading() as rows:
        kept = {table: rows.rows(f"select label, count(*) from {table} group by label") for table in records}
        documents = rows.rows("select distinct label from document")
    assert {table for table, found in kept.items() if not found} == set(), "the world has a row of each"
    milder = {table: found for table, found in kept.items() if [label for label, _ in found] != ["secret"]}
    assert milder == {}
    assert documents == [("secret",)]
