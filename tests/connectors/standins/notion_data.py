"""Notion: blocks, databases with their data sources, comments and users."""

from typing import Any

from .notion_state import BLOCK, CONTENT, DIRECTION, KINDS, PAGE, TEXTS, NotionState
from .notion_text import fill_texts, read_text
from .service import Ask, Refused, on


def read_value(page: dict[str, Any], name: str) -> Any:
    value = page["properties"].get(name, {})
    inner = value.get(value.get("type", ""))
    return read_text(inner) if isinstance(inner, list) and value["type"] in ("title", "rich_text") else inner


def fits(page: dict[str, Any], rule: dict[str, Any]) -> bool:
    """Whether a page passes a filter of a query."""
    if "and" in rule or "or" in rule:
        found = [fits(page, each) for each in rule.get("and", rule.get("or"))]
        return all(found) if "and" in rule else any(found)
    kind = next((name for name in rule if name != "property"), None)
    if "property" not in rule or kind is None:
        raise Refused(400, "body failed validation: body.filter is not a filter.", "validation_error")
    value = read_value(page, rule["property"])
    tests = {
        "equals": lambda wanted: value == wanted,
        "does_not_equal": lambda wanted: value != wanted,
        "contains": lambda wanted: wanted in (value or ""),
        "is_empty": lambda wanted: not value,
    }
    for name, wanted in rule[kind].items():
        if name not in tests:
            raise Refused(400, f"body failed validation: {name} is no condition.", "validation_error")
        if not tests[name](wanted):
            return False
    return True


class NotionData(NotionState):
    # Blocks.

    @on("GET", "/v1/blocks/{block_id}")
    def get_block(self, ask: Ask) -> Any:
        return self.find(ask.path["block_id"], "block")

    @on(
        "PATCH",
        "/v1/blocks/{block_id}",
        body={"type": KINDS, "archived": bool, "in_trash": bool, **dict.fromkeys(KINDS, CONTENT)},
    )
    def update_block(self, ask: Ask) -> Any:
        block = self.find(ask.path["block_id"], "block")
        wrong = ask.body.keys() & KINDS - {block["type"]}
        if wrong:
            raise Refused(400, f"body failed validation: {sorted(wrong)[0]} is not its type.", "validation_error")
        inner = dict(ask.body.get(block["type"], {}))
        if "rich_text" in inner:
            inner["rich_text"] = fill_texts(inner["rich_text"])
        block[block["type"]] |= inner
        trashed = ask.body.get("in_trash", ask.body.get("archived", block["in_trash"]))
        block |= {"in_trash": trashed, "archived": trashed}
        return self.touch(block)

    @on("DELETE", "/v1/blocks/{block_id}")
    def delete_block(self, ask: Ask) -> Any:
        block = self.find(ask.path["block_id"], "block")
        for known in self.children.values():
            if block["id"] in known:
                known.remove(block["id"])
        block |= {"in_trash": True, "archived": True}
        return self.touch(block)

    @on("GET", "/v1/blocks/{block_id}/children", PAGE)
    def get_blocks(self, ask: Ask) -> Any:
        under = self.find(ask.path["block_id"], "block", "page")
        return self.show_list(ask, [self.records[each] for each in self.children.get(under["id"], [])], "block")

    @on("PATCH", "/v1/blocks/{block_id}/children", body={"children!": [BLOCK], "after": str})
    def append_blocks(self, ask: Ask) -> Any:
        under = self.find(ask.path["block_id"], "block", "page")
        if len(ask.body["children"]) > 100:
            raise Refused(400, "body.children.length should be ≤ 100.", "validation_error")
        made = self.add_blocks(under["id"], ask.body["children"], ask.body.get("after"))
        shown = {"object": "list", "results": made, "next_cursor": None, "has_more": False}
        return {**shown, "type": "block", "block": {}}

    # Databases, comments, users.

    @on("GET", "/v1/databases/{database_id}")
    def get_database(self, ask: Ask) -> Any:
        return self.find(ask.path["database_id"], "database")

    @on("GET", "/v1/data_sources/{data_source_id}")
    def get_data_source(self, ask: Ask) -> Any:
        return self.find(ask.path["data_source_id"], "data_source")

    @on(
        "POST",
        "/v1/data_sources",
        body={
            "parent!": {"type": {"database_id"}, "database_id!": str},
            "properties!": {"*": {"*": object}},
            "title": TEXTS,
        },
    )
    def create_data_source(self, ask: Ask) -> Any:
        base = self.find(ask.body["parent"]["database_id"], "database")
        return self.add_source(base, ask.body["properties"], fill_texts(ask.body.get("title", [])))

    @on(
        "PATCH",
        "/v1/data_sources/{data_source_id}",
        body={"title": TEXTS, "description": TEXTS, "properties": {"*": ({"*": object}, None)}},
    )
    def update_data_source(self, ask: Ask) -> Any:
        source = self.find(ask.path["data_source_id"], "data_source")
        source["title"] = fill_texts(ask.body["title"]) if "title" in ask.body else source["title"]
        self.change_schema(source, ask.body.get("properties", {}))
        return self.touch(source)

    @on(
        "POST",
        "/v1/data_sources/{data_source_id}/query",
        {"filter_properties": [str]},
        body={
            **PAGE,
            "filter": {"*": object},
            "sorts": [({"property!": str, "direction!": DIRECTION}, {"timestamp!": str, "direction!": DIRECTION})],
            "in_trash": bool,
            "archived": bool,
        },
        optional_body=True,
    )
    def query_data_source(self, ask: Ask) -> Any:
        source, body = self.find(ask.path["data_source_id"], "data_source"), ask.body or {}
        rows = [row for row in self.records.values() if row["parent"].get("data_source_id") == source["id"]]
        rows = [row for row in rows if not row["in_trash"] and fits(row, body.get("filter") or {"and": []})]
        for sort in reversed(body.get("sorts", [])):
            name = sort.get("property")
            rows.sort(
                key=lambda row: str(read_value(row, name) if name else row[sort["timestamp"]]),
                reverse=sort["direction"] == "descending",
            )
        kept = [self.keep_properties(row, ask.query.get("filter_properties")) for row in rows]
        return self.show_list(ask, kept, "page_or_data_source")

    @on("GET", "/v1/comments", {**PAGE, "block_id!": str})
    def list_comments(self, ask: Ask) -> Any:
        under = self.find(ask.query["block_id"], "block", "page")["id"]
        rows = [each for each in self.comments if under in each["parent"].values()]
        return self.show_list(ask, rows, "comment")

    @on(
        "POST",
        "/v1/comments",
        body={
            "parent": ({"type": str, "page_id!": str}, {"type": str, "block_id!": str}),
            "discussion_id": str,
            "rich_text!": TEXTS,
        },
    )
    def create_comment(self, ask: Ask) -> Any:
        body = ask.body
        if ("parent" in body) == ("discussion_id" in body):
            raise Refused(400, "body.parent or body.discussion_id should be defined.", "validation_error")
        if "parent" in body:
            kind = "page_id" if "page_id" in body["parent"] else "block_id"
            parent = {
                "type": kind,
                kind: self.find(body["parent"][kind], "page" if kind == "page_id" else "block")["id"],
            }
            return self.add_comment(parent, self.make_id(), fill_texts(body["rich_text"]))
        first = next((each for each in self.comments if each["discussion_id"] == body["discussion_id"]), None)
        if first is None:
            raise Refused(404, "Could not find discussion.", "object_not_found")
        return self.add_comment(first["parent"], first["discussion_id"], fill_texts(body["rich_text"]))

    @on("GET", "/v1/users", PAGE)
    def list_users(self, ask: Ask) -> Any:
        return self.show_list(ask, self.users, "user")

    @on("GET", "/v1/users/{user_id}")
    def get_user(self, ask: Ask) -> Any:
        wanted = self.users[1]["id"] if ask.path["user_id"] == "me" else ask.path["user_id"]
        for user in self.users:
            if user["id"] == wanted:
                return user
        raise Refused(404, f"Could not find user with ID: {wanted}.", "object_not_found")

    def keep_properties(self, page: dict[str, Any], wanted: list[str] | None) -> dict[str, Any]:
        kept = {n: v for n, v in page["properties"].items() if wanted is None or v["id"] in wanted or n in wanted}
        return {**page, "properties": kept}
