"""Confluence: spaces, pages, comments and labels."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.model import PageRule, Params, Service, ServiceTool

_PAGES = PageRule("token", send="cursor", size="limit", most=250, next="_links.next", in_address=True)


def ask_for_body(params: Params) -> Params:
    """Without a format Confluence leaves the body out."""
    return {"body_format": "storage", **params}


# fmt: off
TOOLS = (
    ServiceTool(
        "list_spaces", "GET /wiki/api/v2/spaces", "Spaces.",
        takes="keys?: [str], type?: global|collaboration|knowledge_base|personal, status?: current|archived",
        fields="id key name type status homepageId", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "get_space", "GET /wiki/api/v2/spaces/{id}", "One space.",
        fields="id key name type status description homepageId",
    ),
    ServiceTool(
        "list_pages", "GET /wiki/api/v2/pages", "Pages by space or title.",
        takes="space_id?: [str], title?, status?: [str], sort?: "
        "id|-id|created-date|-created-date|modified-date|-modified-date|title|-title, body_format?: "
        "storage|atlas_doc_format", fields="id title spaceId status version.number", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "get_page", "GET /wiki/api/v2/pages/{id}", "One page with its body.",
        takes="body_format?: storage|atlas_doc_format|view|export_view|anonymous_export_view|styled_view|editor, "
        "version?: int, include_labels?: bool",
        fields="id title spaceId parentId status version.number version.createdAt body",
        prepare=ask_for_body,
    ),
    ServiceTool(
        "list_children", "GET /wiki/api/v2/pages/{id}/children", "Child pages.", takes="sort?",
        fields="id title status spaceId childPosition", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "create_page", "POST /wiki/api/v2/pages", "New page.",
        takes="spaceId, title?, parentId?, body?: Body, "
        "status?: current|draft", fields="id title status version.number _links.webui",
    ),
    ServiceTool(
        "update_page", "PUT /wiki/api/v2/pages/{id}", "Replace a page; version: the current one + 1.",
        takes="status: current|draft, title, body: Body, version: {number: int, message?}",
        fields="id title status version.number _links.webui", effect="destroy", repeats="id",
    ),
    ServiceTool(
        "delete_page", "DELETE /wiki/api/v2/pages/{id}", "Move a page to the trash.",
        takes="purge?: bool, draft?: bool", fields="",
    ),
    ServiceTool(
        "search", "GET /wiki/rest/api/search", "Content by CQL.",
        takes="cql, excerpt?: highlight|indexed|none|highlight_unescaped|indexed_unescaped",
        fields="content.id title content.type excerpt url lastModified", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "list_comments", "GET /wiki/api/v2/pages/{id}/footer-comments", "Comments under a page.",
        takes="body_format?: storage|atlas_doc_format", fields="id title version.authorId version.createdAt body",
        rows="results", page=_PAGES,
    ),
    ServiceTool(
        "add_comment", "POST /wiki/api/v2/footer-comments", "Comment or reply.",
        takes="pageId?, parentCommentId?, body: {representation: storage, value}", fields="id version.number",
    ),
    ServiceTool(
        "list_labels", "GET /wiki/api/v2/pages/{id}/labels", "Labels of a page.",
        takes="prefix?: my|team|global|system", fields="id name prefix", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "add_labels", "POST /wiki/rest/api/content/{id}/label", "Add labels.",
        takes="labels: [{prefix?: global, name}]", fields="results.name", body_of="labels",
    ),
    ServiceTool(
        "remove_label", "DELETE /wiki/rest/api/content/{id}/label", "Remove a label.", takes="name", fields="",
        extra=True,
    ),
    ServiceTool(
        "list_attachments", "GET /wiki/api/v2/pages/{id}/attachments", "Attachments of a page.",
        takes="filename?", fields="id title mediaType fileSize version.number downloadLink", rows="results",
        page=_PAGES, extra=True,
    ),
    ServiceTool(
        "list_versions", "GET /wiki/api/v2/pages/{id}/versions", "History of a page.",
        takes="body_format?: storage|atlas_doc_format", fields="number message createdAt authorId minorEdit",
        rows="results", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "list_ancestors", "GET /wiki/api/v2/pages/{id}/ancestors", "Path from the space root.", fields="id type",
        rows="results", extra=True,
    ),
    ServiceTool(
        "list_inline_comments", "GET /wiki/api/v2/pages/{id}/inline-comments", "Inline comments.",
        takes="body_format?: storage|atlas_doc_format", fields="id resolutionStatus version.createdAt body",
        rows="results", page=_PAGES, extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="confluence",
    title="Confluence",
    summary="Spaces, pages, comments and labels in Confluence.",
    api_version="2 (search and labels: 1)",
    tools=TOOLS,
    wire={"space_id": "space-id", "body_format": "body-format", "include_labels": "include-labels"},
    types={"Body": "{representation: storage|wiki|atlas_doc_format, value}"},
)
MODULE = declare_module(SERVICE)
