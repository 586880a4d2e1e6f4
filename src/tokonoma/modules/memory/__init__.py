"""memory: memos in namespaces, found again by their words and their meaning, related to each other (specs/000)."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.memory.export import hand_out, hand_out_relations
from tokonoma.modules.memory.graph import relation_graph
from tokonoma.modules.memory.import_memos import take_in
from tokonoma.modules.memory.labels import relabel
from tokonoma.modules.memory.purge import purge
from tokonoma.modules.memory.read import documents, get, list_memos, namespaces, read
from tokonoma.modules.memory.relations import relation_delete, relation_list, relation_save
from tokonoma.modules.memory.save import save
from tokonoma.modules.memory.search import search
from tokonoma.modules.memory.tables import RECORDS, TABLES
from tokonoma.modules.memory.trash import delete, restore, shelved

MODULE = Module(
    name="memory",
    summary="Save, find and relate memos in namespaces.",
    tools=(
        Tool("save", save, "Save memos", effect="write"),
        Tool("search", search, "Search memos"),
        Tool("get", get, "Read a memo"),
        Tool("list", list_memos, "List memos"),
        Tool("namespaces", namespaces, "List namespaces"),
        Tool("delete", delete, "Delete a memo", effect="destroy"),
        Tool("restore", restore, "Restore a memo", effect="write"),
        Tool("relation.save", relation_save, "Relate two memos", effect="write", idempotent=True),
        Tool("relation.delete", relation_delete, "Delete a relation", effect="destroy"),
        Tool("relation.list", relation_list, "List relations"),
        Tool("relation.graph", relation_graph, "Walk relations"),
    ),
    tables=TABLES,
    records=RECORDS,
    read=read,
    documents=documents,
    relabel=relabel,
    shelved=shelved,
    unlisted=(
        Tool("import", take_in, "Take memos in", effect="write", idempotent=True, time_limit=600),
        Tool("export", hand_out, "Hand memos out", time_limit=600),
        Tool("purge", purge, "Forget memos for good", effect="destroy", time_limit=600),
        Tool("export.relations", hand_out_relations, "Hand relations out", time_limit=600),
    ),
)
