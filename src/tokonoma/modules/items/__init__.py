"""items: a graph of typed items with status, tags and links, shared by an agent and a person (specs/004)."""

from collections.abc import Callable
from typing import Any

from tokonoma.core.module import Module, Tool
from tokonoma.modules.items import (
    bulk,
    claim,
    graph,
    hooks,
    lifecycle,
    links,
    portable,
    read,
    relations,
    search,
    state,
    state_transfer,
    stats,
    suggest,
    sync,
    tags,
    transfer,
    write,
)
from tokonoma.modules.items.errors import CODES
from tokonoma.modules.items.tables import RECORDS, TABLES


def _build_tool(run: Callable[..., Any], title: str, **more: Any) -> Tool:
    """Tools of specs/004 are listed under their own names, without the module's."""
    return Tool(run.__name__, run, title, listed=run.__name__, **more)


MODULE = Module(
    name="items",
    summary="What has a status: tasks, issues, decisions, docs, with tags, links, paths.",
    tools=(
        _build_tool(write.create_item, "Create an item", effect="write"),
        _build_tool(read.get_item_detail, "Read an item"),
        _build_tool(read.get_items, "List items"),
        _build_tool(write.update_item, "Update an item", effect="write"),
        _build_tool(lifecycle.delete_item, "Delete an item", effect="destroy"),
        _build_tool(lifecycle.restore_item, "Restore an item", effect="write"),
        _build_tool(relations.add_relation, "Link two items", effect="write", idempotent=True),
        _build_tool(relations.remove_relation, "Remove a link", effect="destroy"),
        _build_tool(search.search_items, "Search items"),
        _build_tool(suggest.search_suggest, "Complete a query"),
        _build_tool(graph.get_related_items, "List related items"),
        _build_tool(graph.find_path, "Find paths between items"),
        _build_tool(tags.get_tags, "List tags"),
        _build_tool(tags.search_items_by_tag, "List items with a tag"),
        _build_tool(tags.rename_tag, "Rename or merge tags", effect="write"),
        _build_tool(stats.get_statuses, "List statuses"),
        _build_tool(read.get_ready_items, "List ready items"),
        _build_tool(claim.claim_item, "Claim an item", effect="write"),
        _build_tool(stats.get_stats, "Count items"),
        _build_tool(state.get_current_state, "Read the current state"),
        _build_tool(state.update_current_state, "Write the current state", effect="write"),
        _build_tool(lifecycle.change_item_type, "Change a type", effect="write"),
        _build_tool(bulk.bulk_update, "Update many items", effect="write"),
        _build_tool(lifecycle.get_item_history, "Read the history of an item"),
    ),
    tables=TABLES,
    address="{id}",
    record_tables=RECORDS,
    read=hooks.read_record,
    read_document=hooks.read_document,
    documents=hooks.list_documents,
    count_documents=hooks.count_documents,
    reclassify=hooks.reclassify,
    unindexed_documents=hooks.list_unindexed,
    search_tool="search_items",
    read_tool="get_item_detail",
    list_links=links.list_links,
    unclassified_tables=frozenset({"item_change"}),
    codes=CODES,
    owner_tools=(
        Tool("import", transfer.import_items, "Import items", effect="write", idempotent=True, time_limit=600),
        Tool("import.links", transfer.import_links, "Import links", effect="write", idempotent=True, time_limit=600),
        Tool("export", portable.export_items, "Export items", time_limit=600),
        Tool("export.states", state_transfer.export_states, "Export the current state", time_limit=600),
        Tool("import.states", state_transfer.import_states, "Import the current state", effect="write", time_limit=600),
        Tool("sync", sync.sync_items, "Store merged items", effect="write", idempotent=True, time_limit=600),
        Tool("sync.links", sync.sync_links, "Store merged links", effect="write", idempotent=True, time_limit=600),
        Tool("forget", lifecycle.forget_item, "Delete an item by its address", effect="destroy"),
        Tool("purge", lifecycle.purge_items, "Purge deleted items", effect="destroy", time_limit=600),
    ),
)
