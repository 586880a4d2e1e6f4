"""memory: memos in namespaces, found again by their words and their meaning, related to each other (specs/000)."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.memory import hooks, read, relations, save, transfer
from tokonoma.modules.memory.tables import RECORDS, TABLES

MODULE = Module(
    name="memory",
    summary="Save, find and relate memos in namespaces.",
    tools=(
        Tool("save", save.save_memos, "Save memos", effect="write"),
        Tool("search", read.search_memos, "Search memos"),
        Tool("get", read.get_memo, "Read a memo"),
        Tool("list", read.list_memos, "List memos"),
        Tool("namespaces", read.list_namespaces, "List namespaces"),
        Tool("delete", save.delete_memo, "Delete a memo", effect="destroy"),
        Tool("restore", save.restore_memo, "Restore a memo", effect="write"),
        Tool("relation.save", relations.save_relation, "Relate two memos", effect="write", idempotent=True),
        Tool("relation.delete", relations.delete_relation, "Delete a relation", effect="destroy"),
        Tool("relation.list", relations.list_relations, "List relations"),
        Tool("relation.graph", relations.walk_relations, "Follow relations"),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    read=hooks.read_record,
    read_document=hooks.read_document,
    documents=hooks.list_documents,
    reclassify=hooks.reclassify,
    unindexed_documents=hooks.list_unindexed,
    owner_tools=(
        Tool("import", transfer.import_memos, "Import memos", effect="write", idempotent=True, time_limit=600),
        Tool("export", transfer.export_memos, "Export memos", time_limit=600),
        Tool("purge", save.purge_memos, "Purge deleted memos", effect="destroy", time_limit=600),
        Tool("forget", save.forget_memo, "Delete a memo by its address", effect="destroy"),
        Tool("export.relations", transfer.export_relations, "Export relations", time_limit=600),
    ),
)
