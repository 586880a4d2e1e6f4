"""Confluence: what is stored, how it is shown, and the rules for every request."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from .atlassian import ACCOUNT, CLOUD_ID, Atlassian
from .service import Ask, Refused, format_mistake
from .shapes import Mistake
from .wire import WireReply, WireRequest, make_json

API, OLD = "/wiki/api/v2", "/wiki/rest/api"
TIME = "%Y-%m-%dT%H:%M:%S.000Z"


def read_body(given: dict[str, Any]) -> dict[str, str]:
    return given if "value" in given else next(iter(given.values()))


class ConfluenceState(Atlassian):
    name = product = "confluence"
    prefix = f"/ex/confluence/{CLOUD_ID}"
    whoami = f"{OLD}/user/current"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.spaces: list[dict[str, Any]] = []
        self.pages: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, list[tuple[dict[str, Any], str, str]]] = {}  # version, title and text of each version
        self.labels: dict[str, list[dict[str, Any]]] = {}
        self.comments: list[dict[str, Any]] = []
        self.inline_comments: list[dict[str, Any]] = []
        self.attachments: list[dict[str, Any]] = []
        for key, name in (("GARDEN", "Garden"), ("POND", "Pond")):
            number = str(self.next_number() + 65000)
            space = {"id": number, "key": key, "name": name, "type": "global", "status": "current"}
            space |= {"authorId": ACCOUNT, "createdAt": self.now(TIME), "description": {}, "homepageId": ""}
            self.spaces.append(space | {"_links": {"webui": f"/spaces/{key}"}})
            home = self.add_page({"spaceId": number, "title": f"{name} home", "body": {"value": f"<p>{name}</p>"}})
            self.spaces[-1]["homepageId"] = home["id"]
        top = self.pages[self.spaces[0]["homepageId"]]
        child = {"spaceId": top["spaceId"], "title": "Roses", "parentId": top["id"], "body": {"value": "<p>Red</p>"}}
        self.first = self.add_page(child)
        self.labels[self.first["id"]] = [{"id": "1", "name": "flower", "prefix": "global"}]
        row = self.add_comment({"pageId": self.first["id"], "body": {"value": "<p>Nice</p>"}})
        self.inline_comments.append({**row, "resolutionStatus": "open", "properties": {"inlineMarkerRef": "m1"}})
        file = {"id": "att1", "title": "rose.png", "status": "current", "mediaType": "image/png", "fileSize": 12}
        file |= {"pageId": self.first["id"], "createdAt": self.now(TIME), "version": self.make_version(1)}
        self.attachments.append({**file, "downloadLink": "/download/attachments/1/rose.png", "webuiLink": "/att1"})

    @property
    def ids(self) -> dict[str, Any]:
        return {"space": self.spaces[0]["id"], "home": self.spaces[0]["homepageId"], "page": self.first["id"]}

    # State.

    def make_version(self, number: int, message: str = "") -> dict[str, Any]:
        row = {"number": number, "message": message, "minorEdit": False, "authorId": ACCOUNT}
        return {**row, "createdAt": self.now(TIME)}

    def add_page(self, given: dict[str, Any]) -> dict[str, Any]:
        number = str(self.next_number() + 98000)
        page: dict[str, Any] = {"id": number, "status": given.get("status", "current"), "title": given.get("title", "")}
        page |= {"spaceId": given["spaceId"], "authorId": ACCOUNT, "createdAt": self.now(TIME), "position": 1}
        page |= {"ownerId": ACCOUNT, "parentType": "page", "version": self.make_version(1)}
        page |= {"parentId": given["parentId"]} if given.get("parentId") else {}
        page["_links"] = {"webui": f"/spaces/pages/{number}", "editui": f"/edit/{number}", "tinyui": f"/x/{number}"}
        text = read_body(given["body"])["value"] if given.get("body") else ""
        self.pages[number] = page
        self.texts.setdefault(number, []).append((page["version"], page["title"], text))
        return page

    def add_comment(self, given: dict[str, Any]) -> dict[str, Any]:
        row = {
            "id": str(self.next_number() + 4000),
            "status": "current",
            "title": "Re: page",
            "pageId": given["pageId"],
        }
        row |= {"version": self.make_version(1), "_links": {"webui": "/comment"}}
        row |= {"text": read_body(given["body"])["value"]}
        self.comments.append(row)
        return row

    def find_page(self, number: str) -> dict[str, Any]:
        if not number.isdigit():
            raise Refused(400, f"Provided value {{{number}}} for 'id' is not the correct type.")
        if number not in self.pages or self.pages[number]["status"] == "trashed":
            raise Refused(404, "Not Found")
        return self.pages[number]

    def show_body(self, text: str, form: str | None) -> dict[str, Any]:
        return {form: {"representation": form, "value": text}} if form else {}

    def show_page(self, page: dict[str, Any], form: str | None, number: int | None = None) -> dict[str, Any]:
        version, title, text = self.texts[page["id"]][(number or page["version"]["number"]) - 1]
        return {**page, "version": version, "title": title, "body": self.show_body(text, form)}

    def show_comment(self, row: dict[str, Any], form: str | None) -> dict[str, Any]:
        kept = {name: value for name, value in row.items() if name != "text"}
        return {**kept, "body": self.show_body(row["text"], form)}

    def show_list(self, ask: Ask, rows: list[Any]) -> WireReply:
        """The next page is a relative link with a cursor, in the body and in a header."""
        cursor = ask.query.get("cursor", "c0")
        if not cursor.startswith("c") or not cursor[1:].isdigit():
            raise Refused(400, "The cursor is invalid.")
        start, size = int(cursor[1:]), ask.query.get("limit", 25)
        links = {"base": "https://garden.atlassian.net/wiki"}
        headers: dict[str, str] = {}
        if start + size < len(rows):
            rest = [each for each in ask.request.query if each[0] != "cursor"]
            path = ask.request.path.removeprefix(self.prefix)
            links["next"] = f"{path}?{urlencode([*rest, ('cursor', f'c{start + size}')])}"
            headers["Link"] = f'<{links["next"]}>; rel="next"'
        return make_json({"results": rows[start : start + size], "_links": links}, 200, headers)

    # Rules.

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        return Refused(400, "; ".join(format_mistake(each) for each in mistakes))

    def handle(self, request: WireRequest) -> WireReply:
        reply = super().handle(request)
        if reply.status >= 400 and OLD in request.path and reply.status != 401:  # API 1 has errors of another shape
            message = json.loads(reply.body)["errors"][0]["title"]
            body = {"statusCode": reply.status, "data": {"valid": False, "errors": []}, "message": message}
            return make_json(body, reply.status)
        return reply

    def refuse_otherwise(self, refused: Refused) -> WireReply:
        codes = {404: "NOT_FOUND", 409: "CONFLICT", 400: "INVALID_REQUEST_PARAMETER"}
        error = {"status": refused.status, "code": codes.get(refused.status, "BAD_REQUEST"), "title": refused.message}
        return make_json({"errors": [{**error, "detail": None}]}, refused.status)
