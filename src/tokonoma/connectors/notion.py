"""Notion: pages, blocks, databases and comments."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.model import PageRule, Service, ServiceTool
from tokonoma.connectors.notion_names import add_names, check_place, spread_content

_PAGES = PageRule("token", send="start_cursor", size="page_size", most=100, next="next_cursor")
_MARKDOWN = {"Notion-Version": "2026-03-11"}  # older versions have no Markdown

# fmt: off
TOOLS = (
    ServiceTool(
        "search", "POST /v1/search", "Pages and data sources by title.",
        takes="query?, filter?: {property: object, value: page|data_source}, sort?: {timestamp: last_edited_time, "
        "direction: Order}", fields="object id name url last_edited_time parent", rows="results",
        page=_PAGES, effect="read", read=add_names,
    ),
    ServiceTool(
        "get_page", "GET /v1/pages/{page_id}", "Properties of a page, not its body.",
        takes="filter_properties?: [str]", fields="id name url last_edited_time in_trash parent properties",
        read=add_names,
    ),
    ServiceTool(
        "get_page_markdown", "GET /v1/pages/{page_id}/markdown",
        "Body of a page as Markdown; the cheapest way to read.",
        takes="include_transcript?: bool", fields="markdown truncated unknown_block_ids", headers=_MARKDOWN,
    ),
    ServiceTool(
        "create_page", "POST /v1/pages", "New page under a page or data source.",
        takes="parent: {page_id} | {data_source_id}, properties: {title: RichText, *: property value}, "
        "children?: [Block], markdown?, icon?: Icon, cover?: File", fields="id url",
    ),
    ServiceTool(
        "update_page", "PATCH /v1/pages/{page_id}", "Change properties, trash or restore a page.",
        takes="properties?: {*: property value}, in_trash?: bool, icon?: Icon, cover?: File",
        fields="id url in_trash last_edited_time",
    ),
    ServiceTool(
        "update_page_markdown", "PATCH /v1/pages/{page_id}/markdown",
        "Replace parts of a body, or all of it.",
        takes="type: replace_content|update_content, update_content?: {content_updates: [{old_str, new_str: "
        "str}], allow_deleting_content?: bool}, replace_content?: {new_str, allow_deleting_content?: "
        "bool}", fields="id markdown", effect="destroy", headers=_MARKDOWN,
    ),
    ServiceTool(
        "get_blocks", "GET /v1/blocks/{block_id}/children", "Blocks of a page or block.",
        rows="results", page=_PAGES,
    ),
    ServiceTool(
        "append_blocks", "PATCH /v1/blocks/{block_id}/children", "Append blocks.",
        takes="children: [Block], after?", fields="id type", rows="results",
    ),
    ServiceTool("delete_block", "DELETE /v1/blocks/{block_id}", "Move a block to the trash.", fields="id in_trash"),
    ServiceTool(
        "get_database", "GET /v1/databases/{database_id}", "A database with its data sources.",
        fields="id name data_sources url", read=add_names,
    ),
    ServiceTool(
        "get_data_source", "GET /v1/data_sources/{data_source_id}", "Properties of a data source.",
        fields="id name properties parent", read=add_names,
    ),
    ServiceTool(
        "query_data_source", "POST /v1/data_sources/{data_source_id}/query",
        "Rows of a data source.",
        takes="filter?: {property, *: condition} | {and: […]} | {or: […]}, sorts?: [{property, "
        "direction: Order}]", query="filter_properties?: [str]",
        fields="id name url last_edited_time properties", rows="results", page=_PAGES, effect="read", read=add_names,
    ),
    ServiceTool(
        "list_comments", "GET /v1/comments", "Open comments.", takes="block_id",
        fields="id discussion_id created_time created_by.id rich_text.plain_text", rows="results", page=_PAGES,
    ),
    ServiceTool(
        "add_comment", "POST /v1/comments", "Comment on a page or in a discussion.",
        takes="parent?: {page_id} | {block_id}, discussion_id?, rich_text: RichText",
        fields="id discussion_id", prepare=check_place,
    ),
    ServiceTool(
        "get_user", "GET /v1/users/{user_id}", "One user; me: the integration itself.",
        fields="id name type person.email bot.workspace_name",
    ),
    ServiceTool(
        "list_users", "GET /v1/users", "Users of the workspace.", fields="id name type person.email", rows="results",
        page=_PAGES, extra=True,
    ),
    ServiceTool("get_block", "GET /v1/blocks/{block_id}", "One block.", extra=True),
    ServiceTool(
        "update_block", "PATCH /v1/blocks/{block_id}", "Replace the content of one block.",
        takes="content?: {paragraph|to_do|…: {…}}, archived?: bool", fields="id type", extra=True,
        prepare=spread_content,
    ),
    ServiceTool(
        "move_page", "POST /v1/pages/{page_id}/move", "Move a page under another parent.",
        takes="parent: {type: page_id, page_id} | {type: data_source_id, data_source_id} | {type: "
        "workspace}", fields="id parent", extra=True,
    ),
    ServiceTool(
        "get_page_property", "GET /v1/pages/{page_id}/properties/{property_id}", "A long property value, paged.",
        rows="results", page=_PAGES, or_record=True, extra=True,
    ),
    ServiceTool(
        "create_data_source", "POST /v1/data_sources", "New data source in a database.",
        takes="parent: {database_id}, properties: {*: property schema}, title?: RichText",
        fields="id url", extra=True,
    ),
    ServiceTool(
        "update_data_source", "PATCH /v1/data_sources/{data_source_id}", "Change title or property schema.",
        takes="title?: RichText, properties?: {*: property schema | null}",
        fields="id name properties", extra=True, read=add_names,
    ),
)
# fmt: on

SERVICE = Service(
    name="notion",
    title="Notion",
    summary="Pages, blocks, databases and comments in Notion.",
    api_version="2025-09-03",
    tools=TOOLS,
    types={
        "Order": "ascending|descending",
        "RichText": "[{text: {content}}]",
        "Block": "{type, *: {rich_text: [{text: {content}}]}}",
        "Icon": "{emoji} | {external: {url}}",
        "File": "{external: {url}}",
    },
)
MODULE = declare_module(SERVICE)
