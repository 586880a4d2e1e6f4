"""What Supabase has no request for: the tables of a database, and the source of a function as text."""

import base64
from typing import Any

from tokonoma.connectors.model import Params
from tokonoma.core.service import ServiceResponse

_MAX_BYTES = 1024 * 1024
_TABLES = """select table_schema as "schema", table_name as "table",
 json_agg(json_build_object('name', column_name, 'type', data_type, 'nullable', is_nullable = 'YES',
 'default', column_default) order by ordinal_position) as "columns"
from information_schema.columns where table_schema in ({schemas}) group by 1, 2 order by 1, 2"""


def list_columns(params: Params) -> Params:
    """A fixed statement. The names of schemas are its parameters and never part of its text."""
    given = dict(params)
    schemas: list[str] = given.pop("schemas", None) or ["public"]
    places = ", ".join(f"${number}" for number in range(1, len(schemas) + 1))
    return {**given, "query": _TABLES.format(schemas=places), "parameters": schemas}


def read_source(response: ServiceResponse, params: Params) -> Any:
    """The source as text. An archive is bytes: returned in base64, unless it is very long."""
    content = response.content
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        facts = {"bytes": len(content), "content_type": response.headers.get("content-type", "")}
        is_short = len(content) <= _MAX_BYTES
        return {**facts, "encoding": "base64", "content": base64.b64encode(content).decode()} if is_short else facts
