"""Jira: what is stored, how it is changed, and the rules for every request."""

import re
from collections.abc import Sequence
from typing import Any

from .atlassian import ACCOUNT, CLOUD_ID, EMAIL, Atlassian
from .service import Ask, Refused, format_mistake
from .shapes import Mistake, check
from .wire import WireReply, make_json

API = "/rest/api/3"
TIME = "%Y-%m-%dT%H:%M:%S.000+0000"
ADF = {"type!": {"doc"}, "version!": range(1, 2), "content!": [{"type!": str, "*": object}]}
STATUSES = {"11": "To Do", "21": "In Progress", "31": "Done"}
FIELDS = {  # id: name, type, needed for a new issue
    "summary": ("Summary", "string", True),
    "issuetype": ("Issue Type", "issuetype", True),
    "project": ("Project", "project", True),
    "description": ("Description", "doc", False),
    "assignee": ("Assignee", "user", False),
    "labels": ("Labels", "array", False),
    "priority": ("Priority", "priority", False),
    "parent": ("Parent", "issuelink", False),
    "duedate": ("Due date", "date", False),
    "customfield_10016": ("Story points", "number", False),
}


class JiraState(Atlassian):
    name = product = "jira"
    prefix = f"/ex/jira/{CLOUD_ID}"
    whoami = f"{API}/myself"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.users = [
            self.make_user(ACCOUNT, "Mio Stand-in", EMAIL),
            self.make_user("5f0000000000000000000a02", "Akane", "akane@example.org"),
        ]
        kinds = (("10001", "Task", False), ("10002", "Bug", False), ("10003", "Sub-task", True))
        self.types = [{"id": i, "name": n, "subtask": s, "description": f"A {n.lower()}"} for i, n, s in kinds]
        base = {"projectTypeKey": "software", "lead": self.users[0], "simplified": False, "isPrivate": False}
        self.projects = [
            {**base, "id": "10100", "key": "GARDEN", "name": "Garden", "self": f"{self.url}{API}/project/10100"},
            {**base, "id": "10101", "key": "POND", "name": "Pond", "self": f"{self.url}{API}/project/10101"},
        ]
        self.issues: dict[str, dict[str, Any]] = {}
        self.comments: dict[str, list[dict[str, Any]]] = {}
        self.worklogs: dict[str, list[dict[str, Any]]] = {}
        self.links: list[dict[str, Any]] = []
        for summary in ("Snails", "Fence", "Roses"):
            self.add_issue({"project": {"key": "GARDEN"}, "issuetype": {"name": "Task"}, "summary": summary})
        text = [{"type": "paragraph", "content": [{"type": "text", "text": "They eat it all."}]}]
        first = self.issues["GARDEN-1"]["fields"]
        first |= {"description": {"type": "doc", "version": 1, "content": text}, "labels": ["pest"]}
        self.add_comment("GARDEN-1", first["description"])
        self.add_worklog("GARDEN-1", {"timeSpentSeconds": 3600})

    # State.

    def make_user(self, account: str, name: str, email: str) -> dict[str, Any]:
        row = {"accountId": account, "accountType": "atlassian", "active": True, "displayName": name}
        return {
            **row,
            "emailAddress": email,
            "timeZone": "Asia/Tokyo",
            "self": f"{self.url}{API}/user?accountId={account}",
        }

    def find_issue(self, ask: Ask) -> dict[str, Any]:
        return self.find_key(ask.path["issueIdOrKey"])

    def find_key(self, key: str) -> dict[str, Any]:
        for row in self.issues.values():
            if key.upper() == row["key"] or key == row["id"]:
                return row
        raise Refused(404, "Issue does not exist or you do not have permission to see it.")

    def find_project(self, wanted: str | None) -> dict[str, Any]:
        for row in self.projects:
            if wanted in (row["id"], row["key"]):
                return row
        raise Refused(404, f"No project could be found with key '{wanted}'.")

    def add_issue(self, given: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name, (_, _, needed) in FIELDS.items() if needed and not given.get(name)]
        if missing:
            raise Refused(400, "", ",".join(f"{name}={FIELDS[name][0]} is required." for name in missing))
        project = self.find_project(given["project"].get("key") or given["project"].get("id"))
        kind = [each for each in self.types if given["issuetype"].get("name", each["name"]) == each["name"]]
        if not kind:
            raise Refused(400, "", "issuetype=Specify a valid issue type")
        count = sum(row["fields"]["project"]["key"] == project["key"] for row in self.issues.values())
        number, at = str(10200 + self.next_number()), self.now(TIME)
        place = {"id": project["id"], "key": project["key"], "name": project["name"], "self": project["self"]}
        fields: dict[str, Any] = {"project": place, "issuetype": kind[0], "created": at, "updated": at, "labels": []}
        fields |= {"status": make_status("11"), "assignee": None, "reporter": self.users[0], "description": None}
        fields |= {"priority": {"id": "3", "name": "Medium"}, "issuelinks": []}
        row: dict[str, Any] = {
            "id": number,
            "key": f"{project['key']}-{count + 1}",
            "self": f"{self.url}{API}/issue/{number}",
        }
        row |= {"expand": "renderedFields,names", "fields": fields}
        self.change(row, {name: value for name, value in given.items() if name not in ("project", "issuetype")})
        self.issues[row["key"]] = row
        return row

    def change(self, row: dict[str, Any], given: dict[str, Any], update: dict[str, Any] | None = None) -> None:
        fields = dict(row["fields"])
        for name, value in given.items():
            self.check_field(name, value)
            fields[name] = (
                self.find_user(value.get("accountId") or value.get("id")) if name == "assignee" and value else value
            )
        for name, steps in (update or {}).items():
            self.check_field(name, None)
            for how, value in (pair for step in steps for pair in step.items()):
                old = fields.get(name) or []
                changed = {"set": value, "add": [*old, value], "remove": [each for each in old if each != value]}
                if how not in changed:
                    raise Refused(400, "", f"{name}=Operation {how} is not supported")
                fields[name] = changed[how]
        row["fields"] = {**fields, "updated": self.now(TIME)}

    def check_field(self, name: str, value: Any) -> None:
        if name not in FIELDS:
            message = f"Field '{name}' cannot be set. It is not on the appropriate screen, or unknown."
            raise Refused(400, "", f"{name}={message}")
        if name == "description" and value is not None and not is_document(value):
            raise Refused(400, "", "description=Operation value must be an Atlassian Document")
        if name == "summary" and value is not None and not isinstance(value, str):
            raise Refused(400, "", "summary=Operation value must be a string")

    def find_user(self, account: str | None) -> dict[str, Any]:
        for user in self.users:
            if user["accountId"] == account:
                return user
        raise Refused(400, "", "assignee=Account ID does not exist")

    def add_comment(self, key: str, body: Any, visibility: Any = None) -> dict[str, Any]:
        at, number = self.now(TIME), str(self.next_number())
        row = {"id": number, "author": self.users[0], "updateAuthor": self.users[0], "body": body, "created": at}
        row |= {"updated": at, "self": f"{self.url}{API}/issue/{key}/comment/{number}", "jsdPublic": True}
        self.comments.setdefault(key, []).append(row | ({"visibility": visibility} if visibility else {}))
        return self.comments[key][-1]

    def add_worklog(self, key: str, body: dict[str, Any]) -> dict[str, Any]:
        at, seconds = self.now(TIME), body.get("timeSpentSeconds")
        if seconds is None:
            amounts = re.findall(r"(\d+)\s*([wdhm])", body.get("timeSpent", ""))
            seconds = sum(int(n) * {"w": 144000, "d": 28800, "h": 3600, "m": 60}[unit] for n, unit in amounts)
        if not seconds:
            raise Refused(400, "", "timeLogged=You must indicate the time spent working.")
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}", body.get("started", at)):
            raise Refused(400, "started must look like 2026-03-01T09:00:00.000+0000")
        row = {"id": str(self.next_number()), "issueId": self.issues[key]["id"], "author": self.users[0]}
        row |= {"timeSpentSeconds": seconds, "timeSpent": body.get("timeSpent", f"{seconds // 60}m")}
        row |= {"started": body.get("started", at), "created": at, "updated": at, "comment": body.get("comment")}
        self.worklogs.setdefault(key, []).append(row)
        return row

    # Rules.

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        return Refused(400, "Invalid request payload: " + "; ".join(format_mistake(each) for each in mistakes))

    def refuse_otherwise(self, refused: Refused) -> WireReply:
        errors = dict(each.split("=", 1) for each in refused.code.split(",") if "=" in each)
        messages = [refused.message] if refused.message else []
        return make_json({"errorMessages": messages, "errors": errors}, refused.status)


def make_status(number: str) -> dict[str, Any]:
    key = {"11": "new", "21": "indeterminate", "31": "done"}[number]
    category = {"id": int(number), "key": key, "name": STATUSES[number], "colorName": "green"}
    return {"id": number, "name": STATUSES[number], "statusCategory": category}


def is_document(value: Any) -> bool:
    return not check(value, ADF)
