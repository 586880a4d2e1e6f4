"""Notion: what is stored, how it is shown, and the rules for every request."""

import uuid
from collections.abc import Sequence
from typing import Any

from .notion_text import fill_texts, make_text, parse_markdown
from .oauth import OAuthRules
from .service import Ask, Refused, Route, Service, format_mistake
from .shapes import Mistake
from .wire import WireReply, WireRequest, make_json

VERSIONS = {"2025-09-03", "2026-03-11"}
DIRECTION = {"ascending", "descending"}
PAGE = {"start_cursor": str, "page_size": range(1, 101)}
TEXT = {"type": {"text", "mention", "equation"}, "text": {"content!": str, "link": ({"url!": str}, None)}}
TEXTS = [{**TEXT, "annotations": {"*": object}, "plain_text": str, "href": (str, None)}]
ICON = ({"type": {"emoji"}, "emoji!": str}, {"type": {"external"}, "external!": {"url!": str}}, None)
COVER = ({"type": {"external"}, "external!": {"url!": str}}, None)
PARENTS = (
    {"type": {"page_id"}, "page_id!": str},
    {"type": {"data_source_id"}, "data_source_id!": str},
    {"type!": {"workspace"}, "workspace": bool},
)
LINES = {"paragraph", "heading_1", "heading_2", "heading_3", "bulleted_list_item", "numbered_list_item", "to_do"}
KINDS = LINES | {"quote", "code", "divider", "toggle", "callout"}
CONTENT = {"rich_text": TEXTS, "checked": bool, "language": str, "color": str, "icon": object, "children": [object]}
BLOCK = {"object": {"block"}, "type": KINDS, **dict.fromkeys(KINDS, CONTENT)}


class NotionState(Service):
    name = "notion"
    token = "ntn_standin000000000000000000000000000000000"
    whoami = "/v1/users/me"
    oauth_rules = OAuthRules(
        "notion",
        "/v1/oauth/authorize",
        "/v1/oauth/token",
        "/v1/oauth/revoke",
        client_auth="basic",
        token_body="json",
        pkce=False,
        ends_access_token=True,
        errors={"bad_code": "invalid_grant", "bad_refresh": "invalid_grant"},
        authorize_needs={"owner": "user"},
        prefix="ntn",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.records: dict[str, dict[str, Any]] = {}  # pages, blocks, databases, data sources
        self.children: dict[str, list[str]] = {}  # ids of the blocks of a page or block
        self.comments: list[dict[str, Any]] = []
        person = {"object": "user", "type": "person", "avatar_url": None}
        self.users: list[dict[str, Any]] = [
            {**person, "id": self.make_id(), "name": "Mio", "person": {"email": "mio@example.org"}},
            {"object": "user", "id": self.make_id(), "name": "Bot", "avatar_url": None, "type": "bot"},
        ]
        self.users[1]["bot"] = {"owner": {"type": "workspace", "workspace": True}, "workspace_name": "Garden club"}
        self.seed()

    def seed(self) -> None:
        top = self.add_page({"type": "workspace", "workspace": True}, {"title": {"title": make_text("Garden")}})
        self.add_blocks(top["id"], parse_markdown("# Plan\n\nSow in April.\n\n- roses"))
        base = self.add_record("database", {"type": "page_id", "page_id": top["id"]}, title=make_text("Plants"))
        source = self.add_source(base, {"Name": {"title": {}}, "Sown": {"checkbox": {}}}, make_text("Plants"))
        for name, sown in (("Rose", True), ("Tulip", False), ("Fern", True)):
            values = {"Name": {"title": make_text(name)}, "Sown": {"checkbox": sown}}
            self.add_page({"type": "data_source_id", "data_source_id": source["id"]}, values)
        self.add_comment({"type": "page_id", "page_id": top["id"]}, self.make_id(), make_text("Looks good"))
        self.ids_first = {
            "page": top["id"],
            "database": base["id"],
            "source": source["id"],
            "user": self.users[0]["id"],
        }
        self.ids_first |= {"block": self.children[top["id"]][1], "row": list(self.records)[-1]}

    @property
    def ids(self) -> dict[str, Any]:
        return self.ids_first

    # State.

    def make_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"standin/{self.next_number()}"))

    def add_record(self, kind: str, parent: dict[str, Any], **more: Any) -> dict[str, Any]:
        number, at = self.make_id(), self.now("%Y-%m-%dT%H:%M:%S.000Z")
        who = {"object": "user", "id": self.users[1]["id"]}
        row = {"object": kind, "id": number, "parent": parent, "created_time": at, "last_edited_time": at}
        row |= {"created_by": who, "last_edited_by": who, "archived": False, "in_trash": False, **more}
        if kind != "block":
            row |= {"url": f"https://www.notion.so/{number.replace('-', '')}", "icon": None, "cover": None}
        if kind == "database":
            row["data_sources"] = []
        self.records[number] = row
        return row

    def add_page(self, parent: dict[str, Any], given: dict[str, Any], **more: Any) -> dict[str, Any]:
        page = self.add_record("page", parent, properties={}, **more)
        self.change_properties(page, given)
        return page

    def add_source(self, base: dict[str, Any], properties: dict[str, Any], title: list[Any]) -> dict[str, Any]:
        parent = {"type": "database_id", "database_id": base["id"]}
        source = self.add_record("data_source", parent, title=title, description=[], properties={})
        self.change_schema(source, properties)
        base["data_sources"].append({"id": source["id"], "name": "".join(each["plain_text"] for each in title)})
        return source

    def add_blocks(self, under: str, blocks: list[dict[str, Any]], after: str | None = None) -> list[dict[str, Any]]:
        kind = "page_id" if self.records[under]["object"] == "page" else "block_id"
        made: list[dict[str, Any]] = []
        for block in blocks:
            name = block.get("type") or next(key for key in block if key in KINDS)
            inner = {key: value for key, value in block[name].items() if key != "children"}
            if "rich_text" in inner:
                inner["rich_text"] = fill_texts(inner["rich_text"])
            row = self.add_record("block", {"type": kind, kind: under}, type=name, has_children=False)
            made.append(row | {name: inner})
            self.records[row["id"]] = made[-1]
            if block[name].get("children"):
                made[-1]["has_children"] = True
                self.add_blocks(row["id"], block[name]["children"])
        known = self.children.setdefault(under, [])
        place = known.index(after) + 1 if after in known else len(known)
        known[place:place] = [each["id"] for each in made]
        return made

    def add_comment(self, parent: dict[str, Any], discussion: str, texts: list[Any]) -> dict[str, Any]:
        at = self.now("%Y-%m-%dT%H:%M:%S.000Z")
        row = {"object": "comment", "id": self.make_id(), "parent": parent, "discussion_id": discussion}
        row |= {"created_time": at, "last_edited_time": at, "rich_text": texts}
        self.comments.append(row | {"created_by": {"object": "user", "id": self.users[1]["id"]}})
        return self.comments[-1]

    def find(self, number: str, *kinds: str) -> dict[str, Any]:
        try:
            key = str(uuid.UUID(number))
        except ValueError:
            raise Refused(400, f"path failed validation: {number} should be a valid uuid", "validation_error") from None
        if key not in self.records or self.records[key]["object"] not in kinds:
            raise Refused(404, f"Could not find {kinds[0]} with ID: {key}.", "object_not_found")
        return self.records[key]

    def touch(self, row: dict[str, Any]) -> dict[str, Any]:
        row["last_edited_time"] = self.now("%Y-%m-%dT%H:%M:%S.000Z")
        return row

    def find_parent(self, given: dict[str, Any]) -> dict[str, Any]:
        """The parent as it is kept; it must exist."""
        if "page_id" in given:
            return {"type": "page_id", "page_id": self.find(given["page_id"], "page")["id"]}
        if "data_source_id" in given:
            source = self.find(given["data_source_id"], "data_source")
            base = source["parent"]["database_id"]
            return {"type": "data_source_id", "data_source_id": source["id"], "database_id": base}
        return {"type": "workspace", "workspace": True}

    def change_properties(self, page: dict[str, Any], given: dict[str, Any]) -> None:
        source = self.records.get(page["parent"].get("data_source_id", ""))
        schema: dict[str, Any] = (
            source["properties"] if source else {"title": {"id": "title", "type": "title", "title": {}}}
        )
        for name, value in given.items():
            if name not in schema:
                raise Refused(400, f"{name} is not a property that exists.", "validation_error")
            kind: str = schema[name]["type"]
            inner = value if isinstance(value, list) else value.get(kind) if isinstance(value, dict) else None
            if inner is None:
                raise Refused(400, f"{name} is expected to be {kind}.", "validation_error")
            inner = fill_texts(inner) if kind in ("title", "rich_text") else inner
            page["properties"][name] = {"id": schema[name]["id"], "type": kind, kind: inner}

    def change_schema(self, source: dict[str, Any], given: dict[str, Any]) -> None:
        for name, value in given.items():
            if value is None:
                source["properties"].pop(name, None)
                continue
            kind = value.get("type") or next(iter(value))
            number = "title" if kind == "title" else f"p{len(source['properties'])}"
            source["properties"][name] = {"id": number, "name": name, "type": kind, kind: value.get(kind, {})}

    def show_list(self, ask: Ask, rows: list[Any], kind: str) -> dict[str, Any]:
        given = {**ask.query, **(ask.body or {})}
        start = 0
        if cursor := given.get("start_cursor"):
            places = [n for n, row in enumerate(rows) if row["id"] == cursor]
            if not places:
                raise Refused(400, f"The start_cursor provided is invalid: {cursor}", "validation_error")
            start = places[0]
        end = start + given.get("page_size", 100)
        more = end < len(rows)
        shown = {"object": "list", "results": rows[start:end], "next_cursor": rows[end]["id"] if more else None}
        return {**shown, "has_more": more, "type": kind, kind: {}}

    # Rules.

    def check_headers(self, request: WireRequest, route: Route) -> None:
        version = request.headers.get("notion-version")
        if version is None:
            raise Refused(400, "Notion-Version header failed validation: it should be defined.", "missing_version")
        wanted = {"2026-03-11"} if route.path.endswith("/markdown") else VERSIONS
        if version not in wanted:
            raise Refused(400, f"Notion-Version header should be one of {sorted(wanted)}.", "validation_error")

    def unknown_path(self, request: WireRequest) -> Refused:
        return Refused(400, "Invalid request URL.", "invalid_request_url")

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        message = f"{mistakes[0].path.split('.')[0]} failed validation: {format_mistake(mistakes[0])}."
        return Refused(400, message, "validation_error")

    def refuse(self, refused: Refused) -> WireReply:
        codes = {"unauthorized": "unauthorized", "json": "invalid_json", "method": "invalid_request_url"}
        code = codes.get(refused.code) or (refused.code if "_" in refused.code else "validation_error")
        status = 400 if refused.code in ("method", "content_type") else refused.status
        message = "API token is invalid." if status == 401 else refused.message
        body = {"object": "error", "status": status, "code": code, "message": message, "request_id": self.make_id()}
        return make_json(body, status)
