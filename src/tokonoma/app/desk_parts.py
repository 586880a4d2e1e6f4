"""What every desk is made from."""

from functools import partial
from typing import TYPE_CHECKING

from tokonoma.pipeline.desk_tx import DeskParts, get_statements
from tokonoma.policy.cursors import CursorSealer
from tokonoma.policy.desk_policy import CallDeskPolicy

if TYPE_CHECKING:
    from tokonoma.app import App


def build_desk_parts(app: "App") -> DeskParts:
    return DeskParts(
        server=app.server_info,
        addresses=app.registry,
        record_tables=app.registry.record_tables,
        textless_tables=app.registry.textless_tables,
        unclassified_tables=app.registry.unclassified_tables,
        database=app.database,
        open_write=app.journal.write,
        index_document=app.policies.put_document,
        index_documents=app.policies.put_documents,
        unindex_document=app.search.index.drop,
        hold_vectors=app.search.hold_vectors,
        queue_vectors=app.search.queue_vectors,
        find=app.search.find,
        find_near=app.search.find_near,
        find_successors=app.search.find_successors,
        find_like=app.search.find_like,
        compare=app.search.compare,
        lock_policy=app.policies.lock_active,
        build_policy=partial(CallDeskPolicy, app.policies, app.reclassifier.run_until_done, get_statements),
        cursors=CursorSealer(app.database.reading),
        start_job=app.jobs.start_step,
        connect=lambda call, account: app.services.connect(call, account),  # opened by the first that asks
        now=app.clock,
        spans=app.spans,
    )
