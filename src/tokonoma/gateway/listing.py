"""What a caller is offered of the shared index: its newest records, its namespaces, and collections such as manuals."""

from itertools import islice
from typing import NamedTuple

from tokonoma.core.desk import Desk, format_address, parse_address
from tokonoma.core.module import ModuleInfo
from tokonoma.core.records import is_allowed

_BATCH = 200  # rows of one statement
_MOST_ROWS = 4000  # rows read for one list: a long file has many
_SEEN = "{visible} and form > 0 and (expires_at is null or expires_at > :now)"
_RECENT = f"""select address, module, space, title, at, id from document where {_SEEN}
and (at < :at or (at = :at and id < :id))"""  # noqa: S608 - our own text
_INSIDE = "and (:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)"
_NAMESPACES = f"select distinct space from document where {_SEEN} and "  # noqa: S608 - our own text
_NEXT = f"""select address, space from document where {_SEEN} and address > :after and address < :end
order by address limit 1"""  # noqa: S608 - our own text

START = (2**62, 0, "")
"""The position before the newest record."""


class ListedRecord(NamedTuple):
    address: str  # of a whole file, where the index holds its parts
    module: str
    namespace: str
    title: str  # empty for a file, and where it must be masked: then the record has it
    at: int
    id: int


def list_readable(desk: Desk) -> dict[str, ModuleInfo]:
    """The modules whose records the caller may read: it sees one of their reading tools. A caller that may only
    write reads nothing here, either; nor does one for whom the policy has a rule about the tool that reads records."""
    modules = desk.server.visible_modules(desk.principal)
    return {info.name: info for info in modules if _may_read(desk, info)}


def _may_read(desk: Desk, info: ModuleInfo) -> bool:
    reading = [tool for tool in info.entries if tool.effect == "read"]
    named = [tool for tool in reading if tool.name == info.read_tool]
    return any(is_allowed(desk, tool) for tool in reading) and all(is_allowed(desk, tool) for tool in named)


def is_collection(info: ModuleInfo) -> bool:
    """Whether its records are parts of something that is listed instead of them: the files of a manual."""
    return "}/" in info.address


def list_recent(
    desk: Desk, most: int, after: tuple[int, int, str] = START, *, module: str = "", namespace: str = "/"
) -> list[ListedRecord]:
    """The newest records of one module, or of all that have no collections. `after`: `at`, `id` and address of the last
    one of the page before."""
    readable = list_readable(desk)
    names = [name for name, info in readable.items() if name == module or not (module or is_collection(info))]
    found: list[ListedRecord] = []
    if not names:
        return found
    listed, last = {f"m{number}": name for number, name in enumerate(names)}, after[2]
    sql = f"{_RECENT} and module in ({', '.join(f':{name}' for name in listed)}) {_INSIDE} order by at desc, id desc"
    space = {"space": namespace, "below": f"{namespace}/", "length": len(namespace) + 1}
    at, id = after[:2]
    for _ in range(_MOST_ROWS // _BATCH):
        rows = desk.rows(f"{sql} limit {_BATCH}", now=desk.now(), at=at, id=id, **listed, **space)
        for address, owner, place, title, at, id in rows:
            whole, part, _ = address.partition("#")
            if whole != last and _is_shown(desk, whole, place):
                shown = "" if part or desk.call.record_masks.covers(owner) else title
                found.append(ListedRecord(whole, owner, place, shown, at, id))
                if len(found) == most:
                    return found
            last = whole  # the parts of a file have one time
        if len(rows) < _BATCH:
            break
    return found


def list_namespaces(desk: Desk, most: int, inside: str = "/") -> list[str]:
    """Namespaces that hold records of these modules, by name."""
    names = {f"m{number}": name for number, name in enumerate(list_readable(desk))}
    if not names:
        return []
    sql = f"{_NAMESPACES} module in ({', '.join(f':{name}' for name in names)}) {_INSIDE} order by space"
    space = {"space": inside, "below": f"{inside}/", "length": len(inside) + 1}
    rows = desk.rows(sql, now=desk.now(), **names, **space)
    # Cut after masking: how many come before the others must not depend on what is hidden.
    shown = (place for (place,) in rows if all(mask_name(desk, place, each, place) == place for each in names.values()))
    return list(islice(shown, most))


def list_collections(desk: Desk, most: int) -> list[str]:
    """The addresses of collections: `tokonoma://manual/handbook`."""
    modules = [name for name, info in list_readable(desk).items() if is_collection(info)]
    return [each for module in modules for each in _list_parts(desk, format_address(module, ""), "/", "", most)]


def list_files(desk: Desk, prefix: str, start: str, most: int) -> list[str]:
    """The addresses of files that begin with `prefix` and then with `start`. The module must be readable."""
    return _list_parts(desk, prefix, "#", start, most)


def _list_parts(desk: Desk, prefix: str, end: str, start: str, most: int) -> list[str]:
    """The addresses that begin with a prefix, each up to the sign `end`, once. The index is sorted by address: one step
    for each, however many parts it has."""
    found: list[str] = []
    after = prefix + start
    last = prefix + start + "\U0010ffff"
    while len(found) < most:
        desk.check()
        row = desk.row(_NEXT, now=desk.now(), after=after, end=last)
        if row is None:
            break
        address = prefix + row[0][len(prefix) :].partition(end)[0]
        after = address + chr(ord(end) + 1)
        if _is_shown(desk, address, row[1]):
            found.append(address)
    return found


def mask_name(desk: Desk, name: str, module: str, namespace: str, path: str | None = None) -> str:
    """A namespace or a path as the caller may see it."""
    masks = desk.call.record_masks
    return masks.mask_text(name, module, namespace, path) if name and masks.covers(module) else name


def _is_shown(desk: Desk, address: str, namespace: str) -> bool:
    """An address whose own letters are hidden from the caller is not offered: masked, it would lead nowhere."""
    module, name = parse_address(address)
    return mask_name(desk, name, module, namespace, name) == name
