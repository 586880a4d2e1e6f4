"""Jira: projects, issues with transitions, comments, worklogs and links, and searches by JQL."""

from typing import Any

from .atlassian import ACCOUNT, read_query_language, split_order
from .jira_state import ADF, API, FIELDS, STATUSES, JiraState, make_status
from .service import Ask, Refused, on

PAGE = {"startAt": int, "maxResults": int}
KNOWN_WORDS = {"id", "key", "summary", "text", "labels", "priority", "issuetype", "status", "statuscategory"}
KNOWN = KNOWN_WORDS | {"project", "assignee", "reporter"}
KNOWN_TIMES = {"created", "updated"}
ORDERS = {"category", "key", "name", "owner", "issueCount", "lastIssueUpdatedDate", "archivedDate", "deletedDate"}
VISIBILITY = {"type!": {"group", "role"}, "value": str, "identifier": (str, None)}
CHANGES = {"fields": {"*": object}, "update": {"*": [{"*": object}]}}
MORE = {"properties": [{"key!": str, "value!": object}], "historyMetadata": {"*": object}}
ISSUE = f"{API}/issue/{{issueIdOrKey}}"
LINKS = {"Relates", "Blocks", "Duplicate"}


def offer_orders(names: set[str]) -> set[str]:
    return {sign + name for name in names for sign in ("", "-", "+")}


def show_part(ask: Ask, rows: list[Any], name: str, most: int = 100, size: int = 50) -> dict[str, Any]:
    start, size = ask.query.get("startAt", 0), min(ask.query.get("maxResults", size), most)
    return {"startAt": start, "maxResults": size, "total": len(rows), name: rows[start : start + size]}


def show_issue(row: dict[str, Any], wanted: list[str] | None) -> dict[str, Any]:
    if wanted is None or {"*all", "*navigable"} & set(wanted):
        gone = {name[1:] for name in wanted or [] if name.startswith("-")}
        return {**row, "fields": {name: value for name, value in row["fields"].items() if name not in gone}}
    return {**row, "fields": {name: row["fields"][name] for name in wanted if name in row["fields"]}}


def read_field(row: dict[str, Any], name: str) -> Any:
    fields = row["fields"]
    if name in ("key", "id"):
        return row[name]
    if name == "project":
        return [fields["project"]["key"], fields["project"]["name"], fields["project"]["id"]]
    if name == "text":
        return f"{fields['summary']} {fields['description']}"
    if name in ("assignee", "reporter"):
        user = fields[name]
        mine = ["currentuser"] if user and user["accountId"] == ACCOUNT else []
        return [user["accountId"], user["displayName"], *mine] if user else ["empty"]
    if name == "statuscategory":
        return fields["status"]["statusCategory"]["name"]
    value = fields.get(name)
    return value["name"] if isinstance(value, dict) else value


class Jira(JiraState):
    @on("GET", f"{API}/myself", {"expand": str})
    def get_myself(self, ask: Ask) -> Any:
        return {**self.users[0], "locale": "ja_JP"}

    @on("GET", f"{API}/user/search", {**PAGE, "query": str, "username": str, "accountId": str, "property": str})
    def search_users(self, ask: Ask) -> Any:
        if not {"query", "accountId", "property"} & ask.query.keys():
            raise Refused(400, "You must provide either a query or an accountId")
        word = ask.query.get("query", "").lower()
        rows = [user for user in self.users if word in f"{user['displayName']} {user['emailAddress']}".lower()]
        return show_part(ask, rows, "rows")["rows"]

    @on("GET", f"{API}/field")
    def list_fields(self, ask: Ask) -> Any:
        return [
            {
                "id": key,
                "key": key,
                "name": name,
                "custom": "custom" in key,
                "navigable": True,
                "schema": {"type": kind},
            }
            for key, (name, kind, _) in FIELDS.items()
        ]

    # Projects.

    @on(
        "GET",
        f"{API}/project/search",
        {**PAGE, "query": str, "orderBy": offer_orders(ORDERS), "expand": str, "keys": [str], "typeKey": str},
    )
    def list_projects(self, ask: Ask) -> Any:
        word = ask.query.get("query", "").lower()
        rows = [each for each in self.projects if word in f"{each['key']} {each['name']}".lower()]
        rows.sort(key=lambda row: str(row["key"]), reverse=ask.query.get("orderBy", "").startswith("-"))
        shown = show_part(ask, rows, "values")
        last = shown["startAt"] + len(shown["values"]) >= shown["total"]
        return {**shown, "isLast": last, "self": f"{self.url}{API}/project/search"}

    @on("GET", f"{API}/project/{{projectIdOrKey}}", {"expand": str, "properties": [str]})
    def get_project(self, ask: Ask) -> Any:
        project = self.find_project(ask.path["projectIdOrKey"])
        return {**project, "description": "All about it", "issueTypes": self.types, "assigneeType": "UNASSIGNED"}

    @on("GET", f"{API}/issue/createmeta/{{projectIdOrKey}}/issuetypes", PAGE)
    def list_issue_types(self, ask: Ask) -> Any:
        self.find_project(ask.path["projectIdOrKey"])
        return show_part(ask, self.types, "issueTypes", 200)

    @on("GET", f"{API}/issue/createmeta/{{projectIdOrKey}}/issuetypes/{{issueTypeId}}", PAGE)
    def list_create_fields(self, ask: Ask) -> Any:
        self.find_project(ask.path["projectIdOrKey"])
        if ask.path["issueTypeId"] not in [each["id"] for each in self.types]:
            raise Refused(404, "No issue type could be found.")
        rows: list[dict[str, Any]] = [
            {
                "fieldId": key,
                "key": key,
                "name": name,
                "required": needed,
                "schema": {"type": kind},
                "operations": ["set"],
            }
            for key, (name, kind, needed) in FIELDS.items()
        ]
        for row in rows:
            if row["key"] == "priority":
                row["allowedValues"] = [{"id": "3", "name": "Medium"}]
        return show_part(ask, rows, "fields", 200)

    # Searches.

    @on(
        "POST",
        f"{API}/search/jql",
        body={
            "jql!": str,
            "fields": [str],
            "fieldsByKeys": bool,
            "expand": str,
            "maxResults": range(1, 5001),
            "nextPageToken": (str, None),
            "properties": [str],
            "reconcileIssues": [int],
        },
    )
    def search(self, ask: Ask) -> Any:
        rows = self.find_by_jql(ask.body["jql"])
        start = 0
        if token := ask.body.get("nextPageToken"):
            if not token.removeprefix("page-").isdigit():
                raise Refused(400, "The nextPageToken is invalid.")
            start = int(token.removeprefix("page-"))
        end = start + min(ask.body.get("maxResults", 50), 100)
        wanted = ask.body.get("fields")
        # Without `fields` this search gives ids and nothing else.
        shown = [show_issue(row, wanted) if wanted else {"id": row["id"]} for row in rows[start:end]]
        more = {"nextPageToken": f"page-{end}"} if end < len(rows) else {}
        return {"issues": shown, "isLast": not more, **more}

    @on("POST", f"{API}/search/approximate-count", body={"jql!": str})
    def count_issues(self, ask: Ask) -> Any:
        return {"count": len(self.find_by_jql(ask.body["jql"]))}

    def find_by_jql(self, jql: str) -> list[dict[str, Any]]:
        test, order = read_query_language(jql, read_field, KNOWN | KNOWN_TIMES)
        if not split_order(jql)[0].strip():
            raise Refused(400, "Unbounded JQL queries are not allowed here. Add a search restriction to your query.")
        rows = [row for row in self.issues.values() if test(row)]
        name = order.lstrip("-")
        if name and name not in KNOWN | KNOWN_TIMES:
            raise Refused(400, f"Not able to sort using field '{name}'.")
        rows.sort(key=lambda row: str(read_field(row, name or "created")), reverse=not order or order[0] == "-")
        return rows

    # Issues.

    @on(
        "GET", ISSUE, {"fields": [str], "fieldsByKeys": bool, "expand": str, "properties": [str], "updateHistory": bool}
    )
    def get_issue(self, ask: Ask) -> Any:
        return show_issue(self.find_issue(ask), ask.query.get("fields"))

    @on(
        "POST",
        f"{API}/issue",
        {"updateHistory": bool},
        body={**CHANGES, **MORE, "fields!": {"*": object}, "transition": {"id!": str}},
        status=201,
    )
    def create_issue(self, ask: Ask) -> Any:
        row = self.add_issue(ask.body["fields"])
        self.change(row, {}, ask.body.get("update"))
        return {name: row[name] for name in ("id", "key", "self")}

    @on(
        "PUT",
        ISSUE,
        {"notifyUsers": bool, "overrideScreenSecurity": bool, "overrideEditableFlag": bool},
        body={**CHANGES, **MORE},
        status=204,
    )
    def update_issue(self, ask: Ask) -> Any:
        self.change(self.find_issue(ask), ask.body.get("fields", {}), ask.body.get("update"))

    @on("DELETE", ISSUE, {"deleteSubtasks": {"true", "false"}}, status=204)
    def delete_issue(self, ask: Ask) -> Any:
        del self.issues[self.find_issue(ask)["key"]]

    @on("PUT", f"{ISSUE}/assignee", body={"accountId!": (str, None), "name": str, "key": str}, status=204)
    def assign_issue(self, ask: Ask) -> Any:
        account = ask.body["accountId"]
        self.change(self.find_issue(ask), {"assignee": {"accountId": account} if account else None})

    @on("GET", f"{ISSUE}/transitions", {"expand": str, "transitionId": str})
    def list_transitions(self, ask: Ask) -> Any:
        now = self.find_issue(ask)["fields"]["status"]["id"]
        rows = [{"id": n, "name": s, "to": make_status(n), "hasScreen": False} for n, s in STATUSES.items() if n != now]
        return {"expand": "transitions", "transitions": rows}

    @on("POST", f"{ISSUE}/transitions", body={**CHANGES, **MORE, "transition!": {"id!": str, "name": str}}, status=204)
    def transition_issue(self, ask: Ask) -> Any:
        row, wanted = self.find_issue(ask), ask.body["transition"]["id"]
        if wanted not in [each["id"] for each in self.list_transitions(ask)["transitions"]]:
            raise Refused(400, "It seems that you have tried to perform an illegal workflow operation.")
        self.change(row, ask.body.get("fields", {}), ask.body.get("update"))
        row["fields"]["status"] = make_status(wanted)

    @on("GET", f"{ISSUE}/comment", {**PAGE, "orderBy": offer_orders({"created"}), "expand": str})
    def list_comments(self, ask: Ask) -> Any:
        rows = list(self.comments.get(self.find_issue(ask)["key"], []))
        return show_part(ask, rows[::-1] if ask.query.get("orderBy", "").startswith("-") else rows, "comments")

    @on("POST", f"{ISSUE}/comment", {"expand": str}, body={"body!": ADF, "visibility": VISIBILITY, **MORE}, status=201)
    def create_comment(self, ask: Ask) -> Any:
        return self.add_comment(self.find_issue(ask)["key"], ask.body["body"], ask.body.get("visibility"))

    @on("GET", f"{ISSUE}/worklog", {**PAGE, "startedAfter": int, "startedBefore": int, "expand": str})
    def list_worklogs(self, ask: Ask) -> Any:
        return show_part(ask, self.worklogs.get(self.find_issue(ask)["key"], []), "worklogs", 5000, 5000)

    @on(
        "POST",
        f"{ISSUE}/worklog",
        {"notifyUsers": bool, "adjustEstimate": {"new", "leave", "manual", "auto"}, "newEstimate": str, "expand": str},
        body={
            "timeSpent": str,
            "timeSpentSeconds": int,
            "started": str,
            "comment": ADF,
            "visibility": VISIBILITY,
            "properties": MORE["properties"],
        },
        status=201,
    )
    def create_worklog(self, ask: Ask) -> Any:
        return self.add_worklog(self.find_issue(ask)["key"], ask.body)

    @on(
        "POST",
        f"{API}/issueLink",
        body={
            "type!": ({"name!": str}, {"id!": str}),
            "inwardIssue!": ({"key!": str}, {"id!": str}),
            "outwardIssue!": ({"key!": str}, {"id!": str}),
            "comment": {"body!": ADF, "visibility": VISIBILITY},
        },
        status=201,
    )
    def link_issues(self, ask: Ask) -> Any:
        body = ask.body
        if body["type"].get("name", "Relates") not in LINKS:
            raise Refused(404, f"No issue link type with name '{body['type']['name']}' found.")
        ends = [self.find_key(next(iter(body[side].values()))) for side in ("inwardIssue", "outwardIssue")]
        self.links.append({"type": body["type"], "inward": ends[0]["key"], "outward": ends[1]["key"]})
        if "comment" in body:
            self.add_comment(ends[0]["key"], body["comment"]["body"])


SERVICE = Jira
