"""items: a graph of typed items with status, tags and links, shared by an agent and a person (specs/004)."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.items.errors import CODES
from tokonoma.modules.items.graph import find_path, get_related_items
from tokonoma.modules.items.hooks import list_documents, list_unindexed, read_record, reclassify
from tokonoma.modules.items.lifecycle import change_item_type, delete_item, get_item_history, purge_items, restore_item
from tokonoma.modules.items.read import (
    get_item_detail,
    get_items,
    get_ready_items,
    get_stats,
    get_statuses,
    get_tags,
    search_items_by_tag,
)
from tokonoma.modules.items.relations import add_relation, remove_relation
from tokonoma.modules.items.search import search_items, search_suggest
from tokonoma.modules.items.state import get_current_state, update_current_state
from tokonoma.modules.items.tables import RECORDS, TABLES
from tokonoma.modules.items.transfer import export_items, import_items, import_links
from tokonoma.modules.items.write import bulk_update, create_item, update_item

MODULE = Module(
    name="items",
    summary="A graph of typed items (issues, docs, decisions): status, tags, links, paths.",
    tools=(
        Tool("create_item", create_item, "Create an item", effect="write", listed="create_item"),
        Tool("get_item_detail", get_item_detail, "Read an item", listed="get_item_detail"),
        Tool("get_items", get_items, "List items", listed="get_items"),
        Tool("update_item", update_item, "Update an item", effect="write", listed="update_item"),
        Tool("delete_item", delete_item, "Delete an item", effect="destroy", listed="delete_item"),
        Tool("restore_item", restore_item, "Restore an item", effect="write", listed="restore_item"),
        Tool("add_relation", add_relation, "Link two items", effect="write", idempotent=True, listed="add_relation"),
        Tool("remove_relation", remove_relation, "Remove a link", effect="destroy", listed="remove_relation"),
        Tool("search_items", search_items, "Search items", listed="search_items"),
        Tool("search_suggest", search_suggest, "Complete a query", listed="search_suggest"),
        Tool("get_related_items", get_related_items, "List related items", listed="get_related_items"),
        Tool("find_path", find_path, "Find paths between items", listed="find_path"),
        Tool("get_tags", get_tags, "List tags", listed="get_tags"),
        Tool("search_items_by_tag", search_items_by_tag, "List items with a tag", listed="search_items_by_tag"),
        Tool("get_statuses", get_statuses, "List statuses", listed="get_statuses"),
        Tool("get_ready_items", get_ready_items, "List ready items", listed="get_ready_items"),
        Tool("get_stats", get_stats, "Count items", listed="get_stats"),
        Tool("get_current_state", get_current_state, "Read the current state", listed="get_current_state"),
        Tool(
            "update_current_state", update_current_state, "Write the current state", effect="write",
            listed="update_current_state",
        ),
        Tool("change_item_type", change_item_type, "Change a type", effect="write", listed="change_item_type"),
        Tool("bulk_update", bulk_update, "Update many items", effect="write", listed="bulk_update"),
        Tool("get_item_history", get_item_history, "Read the history of an item", listed="get_item_history"),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    read=read_record,
    documents=list_documents,
    reclassify=reclassify,
    unindexed_documents=list_unindexed,
    unclassified_tables=frozenset({"item_change"}),
    codes=CODES,
    owner_tools=(
        Tool("import", import_items, "Import items", effect="write", idempotent=True, time_limit=600),
        Tool("import.links", import_links, "Import links", effect="write", idempotent=True, time_limit=600),
        Tool("export", export_items, "Export items", time_limit=600),
        Tool("purge", purge_items, "Purge deleted items", effect="destroy", time_limit=600),
    ),
)  # fmt: skip
