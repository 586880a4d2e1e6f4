"""memory: memos in namespaces, found again by their words and their meaning, related to each other (specs/000)."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.memory.hooks import list_documents, list_unindexed, read_record, reclassify
from tokonoma.modules.memory.read import get_memo, list_memos, list_namespaces, search_memos
from tokonoma.modules.memory.relations import delete_relation, list_relations, save_relation, walk_relations
from tokonoma.modules.memory.save import delete_memo, purge_memos, restore_memo, save_memos
from tokonoma.modules.memory.tables import RECORDS, TABLES
from tokonoma.modules.memory.transfer import export_memos, export_relations, import_memos

MODULE = Module(
    name="memory",
    summary="Save, find and relate memos in namespaces.",
    tools=(
        Tool("save", save_memos, "Save memos", effect="write"),
        Tool("search", search_memos, "Search memos"),
        Tool("get", get_memo, "Read a memo"),
        Tool("list", list_memos, "List memos"),
        Tool("namespaces", list_namespaces, "List namespaces"),
        Tool("delete", delete_memo, "Delete a memo", effect="destroy"),
        Tool("restore", restore_memo, "Restore a memo", effect="write"),
        Tool("relation.save", save_relation, "Relate two memos", effect="write", idempotent=True),
        Tool("relation.delete", delete_relation, "Delete a relation", effect="destroy"),
        Tool("relation.list", list_relations, "List relations"),
        Tool("relation.graph", walk_relations, "Follow relations"),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    read=read_record,
    documents=list_documents,
    reclassify=reclassify,
    unindexed_documents=list_unindexed,
    owner_tools=(
        Tool("import", import_memos, "Import memos", effect="write", idempotent=True, time_limit=600),
        Tool("export", export_memos, "Export memos", time_limit=600),
        Tool("purge", purge_memos, "Purge deleted memos", effect="destroy", time_limit=600),
        Tool("export.relations", export_relations, "Export relations", time_limit=600),
    ),
)
