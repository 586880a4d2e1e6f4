"""memory: memos in namespaces, found again by their words and their meaning, related to each other (specs/000)."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.memory.export import export_memos, export_relations
from tokonoma.modules.memory.graph import relation_graph
from tokonoma.modules.memory.import_memos import import_memos
from tokonoma.modules.memory.labels import reclassify
from tokonoma.modules.memory.purge import purge_memos
from tokonoma.modules.memory.read import get_memo, list_documents, list_memos, list_namespaces, read_record
from tokonoma.modules.memory.relations import relation_delete, relation_list, relation_save
from tokonoma.modules.memory.save import save_memos
from tokonoma.modules.memory.search import search_memos
from tokonoma.modules.memory.tables import RECORDS, TABLES
from tokonoma.modules.memory.trash import delete_memo, list_unindexed, restore_memo

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
        Tool("relation.save", relation_save, "Relate two memos", effect="write", idempotent=True),
        Tool("relation.delete", relation_delete, "Delete a relation", effect="destroy"),
        Tool("relation.list", relation_list, "List relations"),
        Tool("relation.graph", relation_graph, "Walk relations"),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    read=read_record,
    documents=list_documents,
    reclassify=reclassify,
    unindexed_documents=list_unindexed,
    owner_tools=(
        Tool("import", import_memos, "Take memos in", effect="write", idempotent=True, time_limit=600),
        Tool("export", export_memos, "Hand memos out", time_limit=600),
        Tool("purge", purge_memos, "Forget memos for good", effect="destroy", time_limit=600),
        Tool("export.relations", export_relations, "Hand relations out", time_limit=600),
    ),
)
