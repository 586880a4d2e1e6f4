"""The links of an item, and the items that refer to a record of any module, for `fetch` and `system.related`."""

from tokonoma.core.desk import Desk, RecordLink, format_address, parse_address
from tokonoma.modules.items.model import MODULE_NAME

_MOST = 50
_LINKS = """select l.kind, l.other_id, i.title from item_link l join item i on i.id = l.other_id
where l.item_id = :id and i.state >= 0 and {visible:i} order by l.kind, l.other_id limit :most"""
_REFERENCES = """select r.address from item_reference r join item i on i.id = r.item_id
where r.item_id = :id and i.state >= 0 and {visible:i} order by r.address limit :most"""
_REFERRING = """select r.item_id, i.title from item_reference r join item i on i.id = r.item_id
where r.address in (:address, :file) and i.state >= 0 and {visible:i} order by r.item_id limit :most"""


def list_links(desk: Desk, address: str, thorough: bool) -> list[RecordLink]:
    module, name = parse_address(address)
    links: list[RecordLink] = []
    if module == MODULE_NAME and name.isascii() and name.isdigit() and len(name) < 19:
        rows = desk.rows(_LINKS, id=int(name), most=_MOST)
        links += [RecordLink(kind, format_address(MODULE_NAME, str(other)), title) for kind, other, title in rows]
        references = desk.rows(_REFERENCES, id=int(name), most=_MOST)
        links += [RecordLink("references", other) for (other,) in references]
    # What refers to a whole file refers to its lines, too.
    referring = desk.rows(_REFERRING, address=address, file=address.partition("#")[0], most=_MOST)
    links += [
        RecordLink("references", format_address(MODULE_NAME, str(item)), title, incoming=True)
        for item, title in referring
    ]
    return links
