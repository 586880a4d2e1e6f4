"""Confluence: spaces and pages with versions, comments, labels and attachments (API 2); labels and search (API 1)."""

import json
from typing import Any

from .atlassian import ACCOUNT, EMAIL, read_query_language
from .confluence_state import API, OLD, ConfluenceState, read_body
from .service import Ask, Refused, on

PAGES = f"{API}/pages/{{id}}"
PAGE = {"cursor": str, "limit": range(1, 251)}
FORMATS = {"storage", "atlas_doc_format"}
SHOWN = FORMATS | {"view", "export_view", "anonymous_export_view", "styled_view", "editor"}
TEXT = {"representation!": FORMATS | {"wiki"}, "value!": str}
BODY = (TEXT, {"storage": TEXT, "atlas_doc_format": TEXT, "wiki": TEXT})
DATES = {"created-date", "-created-date", "modified-date", "-modified-date"}
STATES = {"current", "archived", "trashed", "deleted", "historical", "draft"}
FIELDS = {"type", "space", "title", "text", "id", "label", "created", "lastmodified", "ancestor", "creator"}


class Confluence(ConfluenceState):
    # Spaces and pages.

    @on(
        "GET",
        f"{API}/spaces",
        {
            **PAGE,
            "ids": [int],
            "keys": [str],
            "type": {"global", "collaboration", "knowledge_base", "personal"},
            "status": {"current", "archived"},
            "labels": [str],
            "sort": {"id", "-id", "key", "-key", "name", "-name"},
            "description-format": {"plain", "view"},
        },
    )
    def list_spaces(self, ask: Ask) -> Any:
        query = ask.query
        rows = [
            row
            for row in self.spaces
            if row["key"] in query.get("keys", [row["key"]])
            and query.get("type", row["type"]) == row["type"]
            and query.get("status", row["status"]) == row["status"]
        ]
        return self.show_list(ask, rows)

    @on("GET", f"{API}/spaces/{{id}}", {"description-format": {"plain", "view"}, "include-icon": bool})
    def get_space(self, ask: Ask) -> Any:
        for space in self.spaces:
            if space["id"] == ask.path["id"]:
                return space
        raise Refused(404, "Not Found")

    @on(
        "GET",
        f"{API}/pages",
        {
            **PAGE,
            "id": [int],
            "space-id": [int],
            "title": str,
            "status": [{"current", "archived", "deleted", "trashed"}],
            "sort": DATES | {"id", "-id", "title", "-title"},
            "body-format": FORMATS,
        },
    )
    def list_pages(self, ask: Ask) -> Any:
        query = ask.query
        rows = [
            self.show_page(page, query.get("body-format"))
            for page in self.pages.values()
            if page["status"] in query.get("status", ["current"])
            and int(page["spaceId"]) in query.get("space-id", [int(page["spaceId"])])
            and query.get("title", page["title"]) == page["title"]
        ]
        key = {"title": "title", "-title": "title"}.get(query.get("sort", ""), "id")
        return self.show_list(
            ask, sorted(rows, key=lambda row: row[key], reverse=query.get("sort", "").startswith("-"))
        )

    @on(
        "GET",
        PAGES,
        {
            "body-format": SHOWN,
            "version": int,
            "get-draft": bool,
            "status": [STATES],
            "include-labels": bool,
            "include-properties": bool,
            "include-versions": bool,
            "include-version": bool,
        },
    )
    def get_page(self, ask: Ask) -> Any:
        page, number = self.find_page(ask.path["id"]), ask.query.get("version")
        if number is not None and not 1 <= number <= page["version"]["number"]:
            raise Refused(404, "Not Found")
        shown = self.show_page(page, ask.query.get("body-format"), number)
        if ask.query.get("include-labels"):
            shown["labels"] = {"results": self.labels.get(page["id"], []), "meta": {"hasMore": False}}
        return shown

    @on(
        "POST",
        f"{API}/pages",
        {"embedded": bool, "private": bool, "root-level": bool},
        body={"spaceId!": str, "title": str, "parentId": str, "body": BODY, "status": {"current", "draft"}},
    )
    def create_page(self, ask: Ask) -> Any:
        body = ask.body
        if body["spaceId"] not in [space["id"] for space in self.spaces]:
            raise Refused(404, "Not Found")
        if body.get("status", "current") == "current" and not body.get("title"):
            raise Refused(400, "A title is required to publish a page.")
        if any(p["title"] == body.get("title") and p["spaceId"] == body["spaceId"] for p in self.pages.values()):
            raise Refused(400, "A page with this title already exists in this space.")
        return self.show_page(self.add_page(body), "storage")

    @on(
        "PUT",
        PAGES,
        body={
            "id!": str,
            "status!": {"current", "draft"},
            "title!": str,
            "body!": BODY,
            "version!": {"number!": int, "message": str},
            "spaceId": str,
            "parentId": str,
            "ownerId": str,
        },
    )
    def update_page(self, ask: Ask) -> Any:
        page, body = self.find_page(ask.path["id"]), ask.body
        if body["id"] != page["id"]:
            raise Refused(400, "The id of the body is not that of the path.")
        if body["version"]["number"] != page["version"]["number"] + 1:
            raise Refused(409, "Version must be incremented when updating a page.")
        version = self.make_version(body["version"]["number"], body["version"].get("message", ""))
        page |= {"title": body["title"], "status": body["status"], "version": version}
        self.texts[page["id"]].append((version, body["title"], read_body(body["body"])["value"]))
        return self.show_page(page, "storage")

    @on("DELETE", PAGES, {"purge": bool, "draft": bool}, status=204)
    def delete_page(self, ask: Ask) -> Any:
        page = self.find_page(ask.path["id"])
        if ask.query.get("purge"):
            raise Refused(400, "Only a page in the trash can be purged.")
        page["status"] = "trashed"

    @on("GET", f"{PAGES}/children", {**PAGE, "sort": str})
    def list_children(self, ask: Ask) -> Any:
        under = self.find_page(ask.path["id"])["id"]
        names = ("id", "status", "title", "spaceId")
        pages = [page for page in self.pages.values() if page.get("parentId") == under and page["status"] == "current"]
        return self.show_list(
            ask, [{**{n: page[n] for n in names}, "childPosition": page["position"]} for page in pages]
        )

    @on("GET", f"{PAGES}/ancestors", {"limit": PAGE["limit"]})
    def list_ancestors(self, ask: Ask) -> Any:
        rows: list[dict[str, Any]] = []
        page = self.find_page(ask.path["id"])
        while parent := page.get("parentId"):
            rows.insert(0, {"id": parent, "type": "page"})
            page = self.pages[parent]
        return self.show_list(ask, rows)

    @on("GET", f"{PAGES}/versions", {**PAGE, "body-format": FORMATS, "sort": {"modified-date", "-modified-date"}})
    def list_versions(self, ask: Ask) -> Any:
        page = self.find_page(ask.path["id"])
        return self.show_list(ask, [version for version, _, _ in reversed(self.texts[page["id"]])])

    @on("GET", f"{PAGES}/attachments", {**PAGE, "sort": DATES, "status": [STATES], "mediaType": str, "filename": str})
    def list_attachments(self, ask: Ask) -> Any:
        page = self.find_page(ask.path["id"])["id"]
        rows = [each for each in self.attachments if each["pageId"] == page]
        return self.show_list(ask, [each for each in rows if ask.query.get("filename", each["title"]) == each["title"]])

    # Comments and labels.

    @on("GET", f"{PAGES}/footer-comments", {**PAGE, "body-format": FORMATS, "status": [STATES], "sort": DATES})
    def list_comments(self, ask: Ask) -> Any:
        page = self.find_page(ask.path["id"])["id"]
        rows = [each for each in self.comments if each["pageId"] == page]
        return self.show_list(ask, [self.show_comment(each, ask.query.get("body-format")) for each in rows])

    @on("GET", f"{PAGES}/inline-comments", {**PAGE, "body-format": FORMATS, "status": [STATES], "sort": DATES})
    def list_inline_comments(self, ask: Ask) -> Any:
        page = self.find_page(ask.path["id"])["id"]
        rows = [each for each in self.inline_comments if each["pageId"] == page]
        return self.show_list(ask, [self.show_comment(each, ask.query.get("body-format")) for each in rows])

    @on("POST", f"{API}/footer-comments", body={"pageId": str, "parentCommentId": str, "body!": BODY}, status=201)
    def create_comment(self, ask: Ask) -> Any:
        body = ask.body
        if ("pageId" in body) == ("parentCommentId" in body):
            raise Refused(400, "Exactly one of pageId and parentCommentId is required.")
        above = next((each for each in self.comments if each["id"] == body.get("parentCommentId")), None)
        if "parentCommentId" in body and above is None:
            raise Refused(404, "Not Found")
        page = above["pageId"] if above else self.find_page(body["pageId"])["id"]
        return self.show_comment(self.add_comment({**body, "pageId": page}), "storage")

    @on("GET", f"{PAGES}/labels", {**PAGE, "prefix": {"my", "team", "global", "system"}, "sort": str})
    def list_labels(self, ask: Ask) -> Any:
        rows = self.labels.get(self.find_page(ask.path["id"])["id"], [])
        return self.show_list(ask, [each for each in rows if ask.query.get("prefix", each["prefix"]) == each["prefix"]])

    @on("POST", f"{OLD}/content/{{id}}/label", body=[{"prefix!": {"global", "my", "team"}, "name!": str}])
    def add_labels(self, ask: Ask) -> Any:
        rows = self.labels.setdefault(self.find_page(ask.path["id"])["id"], [])
        known = [each["name"] for each in rows]
        rows += [{"id": str(self.next_number()), **each} for each in ask.body if each["name"] not in known]
        return {
            "results": [{**each, "label": each["name"]} for each in rows],
            "start": 0,
            "limit": 200,
            "size": len(rows),
        }

    @on("DELETE", f"{OLD}/content/{{id}}/label", {"name!": str}, status=204)
    def remove_label(self, ask: Ask) -> Any:
        rows = self.labels.get(self.find_page(ask.path["id"])["id"], [])
        found = [each for each in rows if each["name"] == ask.query["name"]]
        if not found:
            raise Refused(404, "There is no such label on this page.")
        rows.remove(found[0])

    @on("GET", f"{OLD}/user/current", {"expand": [str]})
    def get_current_user(self, ask: Ask) -> Any:
        return {"type": "known", "accountId": ACCOUNT, "accountType": "atlassian", "email": EMAIL, "displayName": "Mio"}

    @on(
        "GET",
        f"{OLD}/search",
        {
            "cql!": str,
            "cursor": str,
            "limit": range(1001),
            "start": int,
            "next": bool,
            "prev": bool,
            "includeArchivedSpaces": bool,
            "excerpt": {"highlight", "indexed", "none", "highlight_unescaped", "indexed_unescaped"},
            "expand": [str],
        },
    )
    def search(self, ask: Ask) -> Any:
        test, _ = read_query_language(ask.query["cql"], self.read_field, FIELDS)
        rows: list[dict[str, Any]] = []
        for page in self.pages.values():
            if page["status"] == "current" and test(page):
                content = {"id": page["id"], "type": "page", "status": "current", "title": page["title"]}
                row = {"content": content, "title": page["title"], "excerpt": self.texts[page["id"]][-1][2]}
                row |= {"url": page["_links"]["webui"], "lastModified": page["version"]["createdAt"], "breadcrumbs": []}
                rows.append({**row, "entityType": "content", "iconCssClass": "icon", "friendlyLastModified": "today"})
        shown = json.loads(self.show_list(ask, rows).body)
        found = shown["results"]
        shown |= {"start": 0, "limit": ask.query.get("limit", 25), "size": len(found), "totalSize": len(rows)}
        return {**shown, "cqlQuery": ask.query["cql"], "searchDuration": 5}

    def read_field(self, page: dict[str, Any], name: str) -> Any:
        space = next(each for each in self.spaces if each["id"] == page["spaceId"])
        values = {
            "type": "page",
            "space": [space["key"], space["name"]],
            "text": f"{page['title']} {self.texts[page['id']][-1][2]}",
            "label": [each["name"] for each in self.labels.get(page["id"], [])],
            "created": page["createdAt"],
            "lastmodified": page["version"]["createdAt"],
        }
        return values.get(name, page.get(name))


SERVICE = Confluence
