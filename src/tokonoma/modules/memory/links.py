"""The relations of a memo, for `fetch` and `system.related`."""

from tokonoma.core.desk import Desk, RecordLink, format_address, parse_address
from tokonoma.modules.memory.model import MODULE_NAME

_MOST = 50
_RELATED = """select tag, source, target from memo_relation where (source = :id or target = :id) and {visible}
order by weight desc, tag, source, target limit :most"""


def list_links(desk: Desk, address: str, thorough: bool) -> list[RecordLink]:
    module, memo_id = parse_address(address)
    if module != MODULE_NAME:
        return []
    return [
        RecordLink(
            tag, format_address(MODULE_NAME, source if target == memo_id else target), incoming=target == memo_id
        )
        for tag, source, target in desk.rows(_RELATED, id=memo_id, most=_MOST)
    ]
