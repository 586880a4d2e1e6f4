"""Microsoft To Do in Graph: lists, tasks, steps (checklist items) and links, pages by `@odata.nextLink`, and delta."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from .oauth import OAuthRules
from .odata import fits, pick, read_path
from .service import Ask, Refused, Service, on
from .shapes import Mistake
from .wire import WireReply, make_json

LISTS = "/me/todo/lists"
LIST = f"{LISTS}/{{todoTaskList-id}}"
TASK = f"{LIST}/tasks/{{todoTask-id}}"
STEP = f"{TASK}/checklistItems/{{checklistItem-id}}"
ONE = {"$select": [str], "$expand": [str]}
MANY = {**ONE, "$top": range(1001), "$skip": range(10**6), "$filter": str, "$orderby": [str], "$count": bool}
TIME = ({"dateTime!": str, "timeZone!": str}, None)
TIMES = "%Y-%m-%dT%H:%M:%S.0000000Z"
DAYS = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
PATTERN = {
    "type!": {"daily", "weekly", "absoluteMonthly", "relativeMonthly", "absoluteYearly", "relativeYearly"},
    "interval!": int,
    "daysOfWeek": [DAYS],
    "dayOfMonth": int,
    "month": int,
    "firstDayOfWeek": DAYS,
    "index": {"first", "second", "third", "fourth", "last"},
}
RANGE = {"type!": {"endDate", "noEnd", "numbered"}, "startDate!": str, "endDate": str, "numberOfOccurrences": int}
TASKS = {
    "title": str,
    "body": {"content!": str, "contentType!": {"text", "html"}},
    "dueDateTime": TIME,
    "reminderDateTime": TIME,
    "startDateTime": TIME,
    "isReminderOn": bool,
    "importance": {"low", "normal", "high"},
    "status": {"notStarted", "inProgress", "completed", "waitingOnOthers", "deferred"},
    "recurrence": ({"pattern!": PATTERN, "range!": {**RANGE, "recurrenceTimeZone": str}}, None),
    "categories": [str],
}
LINK = {"webUrl": str, "applicationName": str, "displayName": str, "externalId": str}
STEPS = {"displayName": str, "isChecked": bool, "checkedDateTime": (str, None), "createdDateTime": str}


class MicrosoftTodo(Service):
    name = "microsoft_todo"
    prefix = "/v1.0"
    token = "EwStandin0000000000000000000000000000000"
    whoami = "/me"
    oauth_rules = OAuthRules(
        "microsoft",
        "/common/oauth2/v2.0/authorize",
        "/common/oauth2/v2.0/token",
        rotation="new",
        errors={"bad_code": "invalid_grant", "bad_refresh": "invalid_grant"},
        prefix="Ew",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lists: dict[str, dict[str, Any]] = {}
        self.tasks: dict[str, dict[str, dict[str, Any]]] = {}  # of each list
        self.changes: list[tuple[str, str]] = []  # list and task, oldest first
        home = self.add_list("Tasks", "defaultList")
        other = self.add_list("Garden", "none")
        step = {"displayName": "Buy soil", "isChecked": False}
        link = {"webUrl": "https://example.org/1", "applicationName": "Mail", "displayName": "A mail"}
        first = self.add_task(home["id"], {"title": "Sow", "importance": "high", "linkedResources": [link]})
        self.first = {
            "list": home["id"],
            "other": other["id"],
            "task": first["id"],
            "step": self.add_step(first, step)["id"],
        }
        for title in ("Water", "Weed"):
            self.add_task(home["id"], {"title": title})

    @property
    def ids(self) -> dict[str, Any]:
        return self.first

    # State.

    def add_list(self, name: str, known: str) -> dict[str, Any]:
        row: dict[str, Any] = {
            "id": f"AQMk-list-{self.next_number()}=",
            "displayName": name,
            "isOwner": True,
            "isShared": False,
        }
        self.lists[row["id"]] = {**row, "wellknownListName": known}
        self.tasks[row["id"]] = {}
        return self.lists[row["id"]]

    def add_task(self, under: str, given: dict[str, Any]) -> dict[str, Any]:
        at = self.now(TIMES)
        row: dict[str, Any] = {
            "id": f"AQMk-task-{self.next_number()}=",
            "title": "",
            "status": "notStarted",
            "importance": "normal",
        }
        row |= {"isReminderOn": False, "hasAttachments": False, "categories": [], "createdDateTime": at}
        row |= {"body": {"content": "", "contentType": "text"}, "checklistItems": [], "linkedResources": []}
        row |= {name: value for name, value in given.items() if name != "linkedResources"}
        for link in given.get("linkedResources", []):
            row["linkedResources"].append({"id": f"link-{self.next_number()}", **link})
        self.tasks[under][row["id"]] = row
        return self.touch(under, row)

    def add_step(self, task: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        step = {"id": f"step-{self.next_number()}", "isChecked": False, "createdDateTime": self.now(TIMES), **given}
        task["checklistItems"].append(step)
        return step

    def touch(self, under: str, row: dict[str, Any]) -> dict[str, Any]:
        row["lastModifiedDateTime"] = self.now(TIMES)
        if row["status"] == "completed":
            row.setdefault("completedDateTime", {"dateTime": self.now("%Y-%m-%dT%H:%M:%S.0000000"), "timeZone": "UTC"})
        else:
            row.pop("completedDateTime", None)
        self.changes.append((under, row["id"]))
        return row

    def find(self, ask: Ask, rows: Any, name: str) -> dict[str, Any]:
        found = rows if isinstance(rows, dict) else {row["id"]: row for row in rows}
        if ask.path[name] not in found:
            raise Refused(404, "The specified object was not found in the store.", "ErrorItemNotFound")
        return found[ask.path[name]]

    def find_list(self, ask: Ask) -> dict[str, Any]:
        return self.find(ask, self.lists, "todoTaskList-id")

    def find_task(self, ask: Ask) -> dict[str, Any]:
        return self.find(ask, self.tasks[self.find_list(ask)["id"]], "todoTask-id")

    def show_task(self, row: dict[str, Any], query: Any) -> dict[str, Any]:
        inner = {"checklistItems", "linkedResources"}
        wanted = set(query.get("$expand", []))
        if wanted - inner:
            raise Refused(400, f"Could not find a property named '{min(wanted - inner)}' to expand.", "RequestBroker")
        return pick(
            {
                "@odata.etag": 'W/"1"',
                **{n: v for n, v in row.items() if v is not None and (n not in inner or n in wanted)},
            },
            query,
            wanted,
        )

    def show_many(self, ask: Ask, rows: list[dict[str, Any]]) -> dict[str, Any]:
        query = ask.query
        rows = [row for row in rows if fits(row, query.get("$filter", ""))]
        for order in reversed(query.get("$orderby", [])):
            name, _, way = order.strip().partition(" ")
            rows.sort(key=lambda row: str(read_path(row, name)), reverse=way == "desc")
        start, size = query.get("$skip", 0), query.get("$top", 20) or 20
        shown: dict[str, Any] = {"@odata.context": f"{self.url}/v1.0/$metadata#todo"}
        if query.get("$count"):
            shown["@odata.count"] = len(rows)
        if start + size < len(rows):
            rest = [each for each in ask.request.query if each[0] != "$skip"]
            link = f"{self.url}{ask.request.path}?{urlencode([*rest, ('$skip', start + size)], safe='$')}"
            shown["@odata.nextLink"] = link
        return {**shown, "value": rows[start : start + size]}

    # Rules.

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        first = mistakes[0]
        words = {
            "unknown": f"The property '{first.field}' does not exist or cannot be used here.",
            "missing": f"The property '{first.field}' is required.",
        }
        return Refused(400, words.get(first.kind, f"'{first.path}' must be {first.expected}."), "BadRequest")

    def refuse(self, refused: Refused) -> WireReply:
        code = refused.code if refused.code[:1].isupper() else "BadRequest"
        code = {401: "InvalidAuthenticationToken", 405: "UnknownError", 415: "RequestBodyRead"}.get(
            refused.status, code
        )
        inner = {"date": "2026-03-01T09:00:00", "request-id": "r1", "client-request-id": "r1"}
        return make_json({"error": {"code": code, "message": refused.message, "innerError": inner}}, refused.status)

    @on("GET", "/me", {"$select": [str]})
    def get_me(self, ask: Ask) -> Any:
        me = {"id": "u1", "displayName": "Mio", "mail": "mio@example.org", "userPrincipalName": "mio@example.org"}
        return pick(me, ask.query)

    # Lists.

    @on("GET", LISTS, MANY)
    def list_lists(self, ask: Ask) -> Any:
        shown = self.show_many(ask, list(self.lists.values()))
        return {**shown, "value": [pick(row, ask.query) for row in shown["value"]]}

    @on("POST", LISTS, body={"displayName!": str}, status=201)
    def create_list(self, ask: Ask) -> Any:
        return self.add_list(ask.body["displayName"], "none")

    @on("GET", LIST, ONE)
    def get_list(self, ask: Ask) -> Any:
        return pick(self.find_list(ask), ask.query)

    @on("PATCH", LIST, body={"displayName!": str})
    def update_list(self, ask: Ask) -> Any:
        row = self.find_list(ask)
        if row["wellknownListName"] != "none":
            raise Refused(400, "A well-known list cannot be renamed.", "ErrorInvalidRequest")
        row |= ask.body
        return row

    @on("DELETE", LIST, status=204)
    def delete_list(self, ask: Ask) -> Any:
        row = self.find_list(ask)
        if row["wellknownListName"] != "none":
            raise Refused(400, "A well-known list cannot be deleted.", "ErrorInvalidRequest")
        del self.lists[row["id"]], self.tasks[row["id"]]

    # Tasks.

    @on("GET", f"{LIST}/tasks", MANY)
    def list_tasks(self, ask: Ask) -> Any:
        shown = self.show_many(ask, list(self.tasks[self.find_list(ask)["id"]].values()))
        return {**shown, "value": [self.show_task(row, ask.query) for row in shown["value"]]}

    @on("POST", f"{LIST}/tasks", body={**TASKS, "title!": str, "linkedResources": [LINK]}, status=201)
    def create_task(self, ask: Ask) -> Any:
        return self.show_task(self.add_task(self.find_list(ask)["id"], ask.body), {})

    @on("GET", TASK, ONE)
    def get_task(self, ask: Ask) -> Any:
        return self.show_task(self.find_task(ask), ask.query)

    @on("PATCH", TASK, body=TASKS)
    def update_task(self, ask: Ask) -> Any:
        row = self.find_task(ask)
        row |= ask.body
        return self.show_task(self.touch(ask.path["todoTaskList-id"], row), {})

    @on("DELETE", TASK, status=204)
    def delete_task(self, ask: Ask) -> Any:
        row, under = self.find_task(ask), ask.path["todoTaskList-id"]
        del self.tasks[under][row["id"]]
        self.changes.append((under, row["id"]))

    @on("GET", f"{LIST}/tasks/delta", {**MANY, "$deltatoken": str, "$skiptoken": str})
    def tasks_delta(self, ask: Ask) -> Any:
        under = self.find_list(ask)["id"]
        token = ask.query.get("$deltatoken", "0")
        if not token.isdigit() or int(token) > len(self.changes):
            raise Refused(410, "The sync state was not found; start again.", "SyncStateNotFound")
        changed = dict.fromkeys(task for place, task in self.changes[int(token) :] if place == under)
        known = self.tasks[under]
        gone = {"@removed": {"reason": "deleted"}}
        rows = [known.get(task) or {"id": task, **gone} for task in changed if task in known or token != "0"]
        shown = self.show_many(
            Ask(ask.path, {n: v for n, v in ask.query.items() if n != "$filter"}, None, ask.request), rows
        )
        value = [row if "@removed" in row else self.show_task(row, ask.query) for row in shown["value"]]
        if "@odata.nextLink" not in shown:
            link = f"{self.url}{self.prefix}{LISTS}/{under}/tasks/delta?$deltatoken={len(self.changes)}"
            shown["@odata.deltaLink"] = link
        return {**shown, "value": value}

    # Steps and links.

    @on("GET", f"{TASK}/checklistItems", MANY)
    def list_steps(self, ask: Ask) -> Any:
        return self.show_many(ask, self.find_task(ask)["checklistItems"])

    @on("POST", f"{TASK}/checklistItems", body={**STEPS, "displayName!": str}, status=201)
    def create_step(self, ask: Ask) -> Any:
        return self.add_step(self.find_task(ask), ask.body)

    @on("PATCH", STEP, body=STEPS)
    def update_step(self, ask: Ask) -> Any:
        step = self.find(ask, self.find_task(ask)["checklistItems"], "checklistItem-id")
        step |= ask.body
        return step

    @on("DELETE", STEP, status=204)
    def delete_step(self, ask: Ask) -> Any:
        steps = self.find_task(ask)["checklistItems"]
        steps.remove(self.find(ask, steps, "checklistItem-id"))

    @on("GET", f"{TASK}/linkedResources", MANY)
    def list_links(self, ask: Ask) -> Any:
        return self.show_many(ask, self.find_task(ask)["linkedResources"])


SERVICE = MicrosoftTodo
