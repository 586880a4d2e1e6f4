"""What the owner's pages about access need, joined."""

from typing import TYPE_CHECKING

from tokonoma.app.owner_pages.approvals import build_approval_parts
from tokonoma.app.owner_pages.credentials import build_credential_parts
from tokonoma.app.owner_pages.servers import build_server_parts
from tokonoma.app.owner_pages.services import build_service_parts
from tokonoma.server.web.access_parts import AccessParts

if TYPE_CHECKING:
    from tokonoma.app import App


def build_access_parts(app: "App") -> AccessParts:
    return AccessParts(
        servers=build_server_parts(app),
        services=build_service_parts(app),
        approvals=build_approval_parts(app),
        credentials=build_credential_parts(app),
    )
