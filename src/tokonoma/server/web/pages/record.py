"""`/admin/record?id=ADDRESS`: any record by its address. Modules with pages of their own get the reader there."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.addresses import RECORD, link_record
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [Route(RECORD, PageHandler(pages, show_record, needs_session=True))]


def show_record(request: PageRequest) -> PageResponse:
    address = request.get_parameter("id")
    own = link_record(address)
    if not own.startswith(RECORD):
        return redirect(own)
    fetch = partial(request.call, "gateway", "fetch")
    offset = request.get_parameter("offset")
    record = fetch(id=address, offset=int(offset) if offset.isdigit() else None)
    return PageResponse("record.html", {"record": record, "address": address})
