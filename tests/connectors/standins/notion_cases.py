"""Requests to Notion, one for each tool."""

from .cases import Case

TEXT = [{"text": {"content": "Soil"}}]
TITLE = {"title": {"title": TEXT}}

CASES = [
    Case(
        "notion.search",
        "POST /v1/search",
        "object id url last_edited_time parent",
        "results",
        {
            "query": "garden",
            "filter": {"property": "object", "value": "page"},
            "sort": {"timestamp": "last_edited_time", "direction": "ascending"},
            "page_size": 10,
        },
    ),
    Case(
        "notion.get_page",
        "GET /v1/pages/{page}?filter_properties=title",
        "id url last_edited_time in_trash parent properties.title.title.0.plain_text",
    ),
    Case(
        "notion.get_page_markdown",
        "GET /v1/pages/{page}/markdown?include_transcript=false",
        "markdown truncated unknown_block_ids",
        version="2026-03-11",
    ),
    Case(
        "notion.create_page",
        "POST /v1/pages",
        "id url",
        body={
            "properties": {"title": TEXT},
            "parent": {"page_id": "{page}"},
            "children": [{"type": "paragraph", "paragraph": {"rich_text": TEXT}}],
            "icon": {"emoji": "🌱"},
            "cover": {"external": {"url": "https://example.org/a.png"}},
        },
    ),
    Case("notion.update_page", "PATCH /v1/pages/{page}", "id url in_trash last_edited_time", body={"in_trash": True}),
    Case(
        "notion.update_page_markdown",
        "PATCH /v1/pages/{page}/markdown",
        "id markdown",
        body={
            "type": "update_content",
            "update_content": {"content_updates": [{"old_str": "April", "new_str": "May"}]},
        },
        version="2026-03-11",
    ),
    Case("notion.get_blocks", "GET /v1/blocks/{page}/children?page_size=50", "id type has_children", "results"),
    Case(
        "notion.append_blocks",
        "PATCH /v1/blocks/{page}/children",
        "id type",
        "results",
        {"children": [{"type": "to_do", "to_do": {"rich_text": TEXT, "checked": False}}], "after": "{block}"},
    ),
    Case("notion.delete_block", "DELETE /v1/blocks/{block}", "id in_trash"),
    Case("notion.get_database", "GET /v1/databases/{database}", "id title.0.plain_text data_sources.0.id url"),
    Case(
        "notion.get_data_source",
        "GET /v1/data_sources/{source}",
        "id title.0.plain_text properties.Name.type parent.database_id",
    ),
    Case(
        "notion.query_data_source",
        "POST /v1/data_sources/{source}/query?filter_properties=title",
        "id url last_edited_time properties.Name",
        "results",
        {
            "filter": {"property": "Sown", "checkbox": {"equals": True}},
            "sorts": [{"property": "Name", "direction": "ascending"}],
        },
    ),
    Case(
        "notion.list_comments",
        "GET /v1/comments?block_id={page}",
        "id discussion_id created_time created_by.id rich_text.0.plain_text",
        "results",
    ),
    Case(
        "notion.add_comment",
        "POST /v1/comments",
        "id discussion_id",
        body={"rich_text": TEXT, "parent": {"page_id": "{page}"}},
    ),
    Case("notion.get_user", "GET /v1/users/me", "id name type bot.workspace_name"),
    Case("notion.list_users", "GET /v1/users?page_size=2", "id name type", "results"),
    Case("notion.get_block", "GET /v1/blocks/{block}", "id type has_children paragraph.rich_text.0.plain_text"),
    Case("notion.update_block", "PATCH /v1/blocks/{block}", "id type", body={"paragraph": {"rich_text": TEXT}}),
    Case(
        "notion.move_page",
        "POST /v1/pages/{row}/move",
        "id parent.page_id",
        body={"parent": {"type": "page_id", "page_id": "{page}"}},
    ),
    Case("notion.get_page_property", "GET /v1/pages/{row}/properties/title", "id type title.plain_text", "results"),
    Case(
        "notion.create_data_source",
        "POST /v1/data_sources",
        "id url",
        body={"parent": {"database_id": "{database}"}, "properties": {"Name": {"title": {}}}, "title": TEXT},
    ),
    Case(
        "notion.update_data_source",
        "PATCH /v1/data_sources/{source}",
        "id title.0.plain_text properties.Height.type",
        body={"title": TEXT, "properties": {"Height": {"number": {}}, "Sown": None}},
    ),
]
