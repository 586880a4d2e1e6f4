"""The texts of records, which the index does not store, for those who embed them."""

import json
from collections.abc import Callable, Sequence

from tokonoma.core.desk import Record, Rows, parse_address
from tokonoma.search.vectors.search import ReadTexts
from tokonoma.store.database import Database


def build_text_reader(
    database: Database, read_record: Callable[[Rows, str], Record | None], load_module: Callable[[str], object]
) -> ReadTexts:
    """From the records of the modules: the index stores no text. A module is loaded outside of a transaction, because
    its tables may have to be migrated."""

    def read_texts(document_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        sql = "select id, address from document where id in ({numbers})"
        with database.reading() as rows:
            found = rows.rows(sql, numbers=json.dumps(list(document_ids)))
        for module in {parse_address(address)[0] for _, address in found}:
            load_module(module)
        with database.reading() as rows:
            records = [(document_id, read_record(rows, address)) for document_id, address in found]
        return {document_id: (each.title, each.text) for document_id, each in records if each is not None}

    return read_texts
