"""Notion: search, and pages with their properties and their text."""

from typing import Any

from .notion_data import NotionData
from .notion_state import BLOCK, COVER, DIRECTION, ICON, PAGE, PARENTS
from .notion_text import parse_markdown, read_text, write_markdown
from .service import Ask, Refused, on

MOVES = (
    {"type!": {"page_id"}, "page_id!": str},
    {"type!": {"data_source_id"}, "data_source_id!": str},
    {"type!": {"workspace"}},
)
EDITS = {
    "type!": {"replace_content", "update_content", "insert_content"},
    "replace_content": {"new_str!": str, "allow_deleting_content": bool},
    "update_content": {
        "content_updates!": [{"old_str!": str, "new_str!": str, "replace_all_matches": bool}],
        "allow_deleting_content": bool,
    },
    "insert_content": {"content!": str, "after": str},
}


class Notion(NotionData):
    @on(
        "POST",
        "/v1/search",
        body={
            **PAGE,
            "query": str,
            "filter": {"property!": {"object"}, "value!": {"page", "data_source"}},
            "sort": {"timestamp!": {"last_edited_time"}, "direction!": DIRECTION},
        },
        optional_body=True,
    )
    def search(self, ask: Ask) -> Any:
        body = ask.body or {}
        kinds = [body["filter"]["value"]] if "filter" in body else ["page", "data_source"]
        rows = [row for row in self.records.values() if row["object"] in kinds and not row["in_trash"]]
        rows = [row for row in rows if body.get("query", "").lower() in self.read_title(row).lower()]
        newest = body.get("sort", {}).get("direction") != "ascending"
        return self.show_list(ask, sorted(rows, key=lambda row: row["last_edited_time"], reverse=newest), "page")

    def read_title(self, row: dict[str, Any]) -> str:
        values = [each["title"] for each in row["properties"].values() if each["type"] == "title"]
        return read_text(row.get("title") or (values[0] if values and isinstance(values[0], list) else []))

    # Pages.

    @on("GET", "/v1/pages/{page_id}", {"filter_properties": [str]})
    def get_page(self, ask: Ask) -> Any:
        return self.keep_properties(self.find(ask.path["page_id"], "page"), ask.query.get("filter_properties"))

    @on(
        "POST",
        "/v1/pages",
        body={
            "parent!": PARENTS,
            "properties!": {"*": object},
            "children": [BLOCK],
            "markdown": str,
            "icon": ICON,
            "cover": COVER,
        },
    )
    def create_page(self, ask: Ask) -> Any:
        body = ask.body
        if "children" in body and "markdown" in body:
            raise Refused(400, "body failed validation: children and markdown exclude each other.", "validation_error")
        page = self.add_page(self.find_parent(body["parent"]), body["properties"])
        page |= {name: body[name] for name in ("icon", "cover") if name in body}
        self.add_blocks(page["id"], body.get("children") or parse_markdown(body.get("markdown", "")))
        return page

    @on(
        "PATCH",
        "/v1/pages/{page_id}",
        body={"properties": {"*": object}, "in_trash": bool, "archived": bool, "icon": ICON, "cover": COVER},
    )
    def update_page(self, ask: Ask) -> Any:
        page = self.find(ask.path["page_id"], "page")
        trashed = ask.body.get("in_trash", ask.body.get("archived", page["in_trash"]))
        if page["in_trash"] and trashed:
            raise Refused(400, "Can't edit a page that is in the trash.", "validation_error")
        self.change_properties(page, ask.body.get("properties", {}))
        page |= {name: ask.body[name] for name in ("icon", "cover") if name in ask.body}
        page |= {"in_trash": trashed, "archived": trashed}
        return self.touch(page)

    @on("POST", "/v1/pages/{page_id}/move", body={"parent!": MOVES})
    def move_page(self, ask: Ask) -> Any:
        page = self.find(ask.path["page_id"], "page")
        page["parent"] = self.find_parent(ask.body["parent"])
        return self.touch(page)

    @on("GET", "/v1/pages/{page_id}/markdown", {"include_transcript": bool})
    def get_page_markdown(self, ask: Ask) -> Any:
        page = self.find(ask.path["page_id"], "page")
        text = write_markdown([self.records[each] for each in self.children.get(page["id"], [])])
        shown = {"object": "page_markdown", "id": page["id"], "markdown": text, "truncated": False}
        return {**shown, "unknown_block_ids": []}

    @on("PATCH", "/v1/pages/{page_id}/markdown", body=EDITS)
    def update_page_markdown(self, ask: Ask) -> Any:
        page, kind = self.find(ask.path["page_id"], "page"), ask.body["type"]
        if kind not in ask.body:
            raise Refused(400, f"body failed validation: body.{kind} should be defined.", "validation_error")
        edit, text = ask.body[kind], self.get_page_markdown(ask)["markdown"]
        if kind == "replace_content":
            text = edit["new_str"]
        elif kind == "insert_content":
            text = f"{text}\n{edit['content']}"
        for change in edit.get("content_updates", []):
            if text.count(change["old_str"]) != 1 and not change.get("replace_all_matches"):
                raise Refused(400, "old_str must be found exactly once.", "validation_error")
            text = text.replace(change["old_str"], change["new_str"])
        self.children[page["id"]] = []
        self.add_blocks(page["id"], parse_markdown(text))
        self.touch(page)
        return self.get_page_markdown(ask)

    @on("GET", "/v1/pages/{page_id}/properties/{property_id}", PAGE)
    def get_page_property(self, ask: Ask) -> Any:
        page, wanted = self.find(ask.path["page_id"], "page"), ask.path["property_id"]
        value = next((each for each in page["properties"].values() if each["id"] == wanted), None)
        if value is None:
            raise Refused(404, f"Could not find property with ID: {wanted}.", "object_not_found")
        item = {"object": "property_item", "id": value["id"], "type": value["type"]}
        inner = value[value["type"]]
        if not isinstance(inner, list):
            return {**item, value["type"]: inner}
        rows = [{**item, value["type"]: each} for each in inner]
        listed = self.show_list(Ask(ask.path, {}, None, ask.request), rows, "property_item")
        return {
            **listed,
            "property_item": {"id": value["id"], "next_url": None, "type": value["type"], value["type"]: {}},
        }


SERVICE = Notion
