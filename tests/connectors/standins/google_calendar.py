"""Google Calendar: calendars and events, free and busy times, sync tokens and partial answers."""

import json
import re
from collections.abc import Sequence
from typing import Any

from .google_times import check_times, expand, keep_fields, keep_span, parse_fields, read_time, read_when
from .oauth import OAuthRules
from .service import Ask, Refused, Service, format_mistake, on
from .shapes import Mistake
from .wire import WireReply, WireRequest, make_json

ALL = {"alt": {"json"}, "fields": str, "key": str, "prettyPrint": bool, "quotaUser": str}
PAGE = {**ALL, "maxResults": range(1, 2501), "pageToken": str}
SPAN = {"timeMin": str, "timeMax": str, "timeZone": str}
SEND = {**ALL, "sendUpdates": {"all", "externalOnly", "none"}, "sendNotifications": bool}
CHANGE = {**SEND, "conferenceDataVersion": range(2), "maxAttendees": int, "supportsAttachments": bool}
EVENTS = "/calendars/{calendarId}/events"
EVENT = f"{EVENTS}/{{eventId}}"
WHEN = ({"dateTime!": str, "timeZone": str, "date": None}, {"date!": str, "timeZone": str, "dateTime": None})
GUEST = {"email!": str, "displayName": str, "optional": bool, "responseStatus": str, "comment": str, "resource": bool}
FIELDS = {
    "id": str,
    "summary": str,
    "description": str,
    "location": str,
    "start": WHEN,
    "end": WHEN,
    "attendees": [{**GUEST, "additionalGuests": int, "self": bool, "organizer": bool}],
    "recurrence": [str],
    "reminders": {"useDefault": bool, "overrides": [{"method!": {"email", "popup"}, "minutes!": int}]},
    "colorId": str,
    "status": {"confirmed", "tentative", "cancelled"},
    "transparency": {"opaque", "transparent"},
    "visibility": {"default", "public", "private", "confidential"},
    "conferenceData": {"*": object},
    "extendedProperties": {"private": {"*": str}, "shared": {"*": str}},
    "source": {"url!": str, "title": str},
}
ROLES = ["freeBusyReader", "reader", "writer", "owner"]
STAMP = "%Y-%m-%dT%H:%M:%S.000Z"


class GoogleCalendar(Service):
    name = "google_calendar"
    prefix = "/calendar/v3"
    token = "ya29.standin000000000000000000000000000000"
    whoami = "/users/me/calendarList/primary"
    oauth_rules = OAuthRules(
        "google",
        "/o/oauth2/v2/auth",
        "/token",
        "/revoke",
        rotation="none",
        errors={"bad_code": "invalid_grant", "bad_refresh": "invalid_grant"},
        prefix="ya29.",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.calendars: dict[str, dict[str, Any]] = {}
        self.events: dict[str, dict[str, dict[str, Any]]] = {}  # of each calendar
        self.changes: dict[str, int] = {}  # number of the last change of each event
        self.add_calendar("mio@example.org", "Mio", "owner", primary=True)
        self.add_calendar("garden@group.calendar.google.com", "Garden", "writer")
        self.add_calendar("holidays@group.v.calendar.google.com", "Holidays", "reader")
        home = "mio@example.org"
        times = {"start": {"dateTime": "2026-04-01T10:00:00+09:00"}, "end": {"dateTime": "2026-04-01T11:00:00+09:00"}}
        guests = [{"email": "akane@example.org", "responseStatus": "needsAction"}]
        first = self.add_event(home, {"summary": "Sow", "location": "Garden", "attendees": guests, **times})
        weekly = self.add_event(home, {"summary": "Water", "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=5"], **times})
        self.add_event(home, {"summary": "Fair", "start": {"date": "2026-05-01"}, "end": {"date": "2026-05-02"}})
        self.first = {"event": first["id"], "weekly": weekly["id"]}

    @property
    def ids(self) -> dict[str, Any]:
        return self.first

    # State.

    def add_calendar(self, number: str, summary: str, role: str, primary: bool = False) -> None:
        row = {"kind": "calendar#calendarListEntry", "etag": '"1"', "id": number, "summary": summary}
        row |= {"timeZone": "Asia/Tokyo", "accessRole": role, "selected": True, "defaultReminders": []}
        self.calendars[number] = row | ({"primary": True} if primary else {})
        self.events[number] = {}

    def find_calendar(self, number: str) -> str:
        number = "mio@example.org" if number == "primary" else number
        if number not in self.calendars:
            raise Refused(404, "Not Found", "notFound")
        return number

    def find_event(self, ask: Ask) -> dict[str, Any]:
        place = self.find_calendar(ask.path["calendarId"])
        wanted = ask.path["eventId"]
        rows = (row for event in self.events[place].values() for row in (event, *expand(event)))
        found = next((row for row in rows if row["id"] == wanted), None)
        if found is None:
            raise Refused(404, "Not Found", "notFound")
        return found

    def find_writable(self, ask: Ask) -> str:
        place = self.find_calendar(ask.path["calendarId"])
        if self.calendars[place]["accessRole"] not in ("writer", "owner"):
            raise Refused(403, "You need to have writer access to this calendar.", "requiredAccessLevel")
        return place

    def add_event(self, place: str, given: dict[str, Any]) -> dict[str, Any]:
        number = given.get("id") or f"standin{self.next_number():05d}"
        if number in self.events[place]:
            raise Refused(409, "The requested identifier already exists.", "duplicate")
        who = {"email": place, "self": True}
        row = {"kind": "calendar#event", "id": number, "status": "confirmed", "created": self.now(STAMP)}
        row |= {"htmlLink": f"https://www.google.com/calendar/event?eid={number}", "creator": who, "organizer": who}
        row |= {"iCalUID": f"{number}@google.com", "sequence": 0, "reminders": {"useDefault": True}}
        row |= {"eventType": "default", **given}
        self.events[place][number] = row
        return self.touch(row)

    def touch(self, row: dict[str, Any]) -> dict[str, Any]:
        if read_when(row["end"]) < read_when(row["start"]):
            raise Refused(400, "The specified time range is empty.", "timeRangeEmpty")
        self.changes[row["id"]] = self.next_number()
        row |= {"updated": self.now(STAMP), "etag": f'"{self.changes[row["id"]]}"'}
        return row

    def show_many(self, ask: Ask, kind: str, rows: list[Any], size: int, sync: bool = False) -> Any:
        token = ask.query.get("pageToken", "p0")
        if not re.fullmatch(r"p\d+", token):
            raise Refused(400, "Invalid page token value.", "invalid")
        start, size = int(token[1:]), min(ask.query.get("maxResults", size), 2500)
        shown: dict[str, Any] = {"kind": kind, "etag": '"1"', "items": rows[start : start + size]}
        if start + size < len(rows):
            shown["nextPageToken"] = f"p{start + size}"
        elif sync:
            shown["nextSyncToken"] = f"s{max(self.changes.values(), default=0)}"
        return shown

    # Rules.

    def handle(self, request: WireRequest) -> WireReply:
        reply = super().handle(request)
        wanted = dict(request.query).get("fields")
        if reply.status != 200 or not wanted:
            return reply
        return make_json(keep_fields(json.loads(reply.body), parse_fields(wanted)))

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        required = any(each.kind == "missing" for each in mistakes)
        message = "; ".join(format_mistake(each) for each in mistakes)
        return Refused(400, message, "required" if required else "invalid")

    def refuse(self, refused: Refused) -> WireReply:
        reasons = {401: "authError", 404: "notFound", 405: "httpMethodNotAllowed", 415: "badRequest"}
        known = re.fullmatch(r"[a-z]+[A-Z]\w+|invalid|required|duplicate", refused.code)
        reason = refused.code if known else reasons.get(refused.status, "badRequest")
        message = "Invalid Credentials" if refused.status == 401 else refused.message
        errors = [{"domain": "global", "reason": reason, "message": message}]
        return make_json({"error": {"code": refused.status, "message": message, "errors": errors}}, refused.status)

    # Calendars.

    @on("GET", "/users/me/calendarList", {**PAGE, "minAccessRole": set(ROLES), "showHidden": bool, "showDeleted": bool})
    def list_calendars(self, ask: Ask) -> Any:
        least = ROLES.index(ask.query.get("minAccessRole", "freeBusyReader"))
        rows = [row for row in self.calendars.values() if ROLES.index(row["accessRole"]) >= least]
        return self.show_many(ask, "calendar#calendarList", rows, 100, sync=True)

    @on("GET", "/users/me/calendarList/{calendarId}", ALL)
    def get_list_entry(self, ask: Ask) -> Any:
        return self.calendars[self.find_calendar(ask.path["calendarId"])]

    @on("GET", "/calendars/{calendarId}", ALL)
    def get_calendar(self, ask: Ask) -> Any:
        row = self.calendars[self.find_calendar(ask.path["calendarId"])]
        shown = {"kind": "calendar#calendar", "etag": row["etag"], "id": row["id"], "summary": row["summary"]}
        return {**shown, "timeZone": row["timeZone"], "description": "", "location": "Tokyo"}

    @on(
        "POST",
        "/freeBusy",
        ALL,
        body={
            "timeMin!": str,
            "timeMax!": str,
            "items!": [{"id!": str}],
            "timeZone": str,
            "groupExpansionMax": int,
            "calendarExpansionMax": int,
        },
    )
    def freebusy(self, ask: Ask) -> Any:
        body = ask.body
        first, last = read_time(body["timeMin"], "timeMin"), read_time(body["timeMax"], "timeMax")
        found: dict[str, Any] = {}
        for item in body["items"]:
            number = "mio@example.org" if item["id"] == "primary" else item["id"]
            if number not in self.calendars:
                found[item["id"]] = {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
                continue
            rows = [row for event in self.events[number].values() for row in expand(event)]
            spans = [(read_when(row["start"]), read_when(row["end"])) for row in rows if row["status"] != "cancelled"]
            busy = sorted((max(a, first), min(b, last)) for a, b in spans if a < last and b > first)
            found[item["id"]] = {"busy": [{"start": a.isoformat(), "end": b.isoformat()} for a, b in busy]}
        return {"kind": "calendar#freeBusy", "timeMin": body["timeMin"], "timeMax": body["timeMax"], "calendars": found}

    # Events.

    @on(
        "GET",
        EVENTS,
        {
            **PAGE,
            **SPAN,
            "q": str,
            "singleEvents": bool,
            "orderBy": {"startTime", "updated"},
            "updatedMin": str,
            "syncToken": str,
            "showDeleted": bool,
            "maxAttendees": int,
            "iCalUID": str,
        },
    )
    def list_events(self, ask: Ask) -> Any:
        query, place = ask.query, self.find_calendar(ask.path["calendarId"])
        if query.get("orderBy") == "startTime" and not query.get("singleEvents"):
            raise Refused(400, "The requested ordering is not available for the particular query.", "badRequest")
        known = list(self.events[place].values())
        if token := query.get("syncToken"):
            if {"q", "timeMin", "timeMax", "orderBy", "updatedMin"} & query.keys():
                raise Refused(400, "Sync token cannot be used with other query restrictions.", "badRequest")
            if not re.fullmatch(r"s\d+", token):
                raise Refused(410, "Sync token is no longer valid, a full sync is required.", "fullSyncRequired")
            known = [row for row in known if self.changes[row["id"]] > int(token[1:])]
        elif not query.get("showDeleted"):
            known = [row for row in known if row["status"] != "cancelled"]
        rows = [row for event in known for row in (expand(event) if query.get("singleEvents") else [event])]
        rows = [row for row in keep_span(rows, query) if query.get("q", "").lower() in str(row).lower()]
        if "orderBy" in query:
            rows.sort(key=lambda row: row["updated"] if query["orderBy"] == "updated" else str(read_when(row["start"])))
        shown = self.show_many(ask, "calendar#events", rows, 250, sync=True)
        calendar = self.calendars[place]
        top = {name: calendar[name] for name in ("summary", "timeZone", "accessRole", "defaultReminders")}
        return {**shown, **top, "updated": self.now(STAMP)}

    @on("GET", EVENT, {**ALL, "timeZone": str, "maxAttendees": int})
    def get_event(self, ask: Ask) -> Any:
        return self.find_event(ask)

    @on("GET", f"{EVENT}/instances", {**PAGE, **SPAN, "originalStart": str, "showDeleted": bool, "maxAttendees": int})
    def list_instances(self, ask: Ask) -> Any:
        return self.show_many(ask, "calendar#events", keep_span(expand(self.find_event(ask)), ask.query), 250)

    @on("POST", EVENTS, CHANGE, body={**FIELDS, "start!": WHEN, "end!": WHEN})
    def create_event(self, ask: Ask) -> Any:
        return self.add_event(self.find_writable(ask), check_times(ask.body))

    @on("PATCH", EVENT, CHANGE, body={name: (shape, None) for name, shape in FIELDS.items()})
    def update_event(self, ask: Ask) -> Any:
        self.find_writable(ask)
        row = self.find_event(ask)
        for name, value in check_times(ask.body).items():
            if value is None:
                row.pop(name, None)
            else:
                row[name] = value
        row["sequence"] += 1
        return self.touch(row)

    @on("DELETE", EVENT, SEND, status=204)
    def delete_event(self, ask: Ask) -> Any:
        self.find_writable(ask)
        row = self.find_event(ask)
        if row["status"] == "cancelled":
            raise Refused(410, "Resource has been deleted", "deleted")
        row["status"] = "cancelled"
        self.touch(row)

    @on("POST", f"{EVENTS}/quickAdd", {**SEND, "text!": str})
    def quick_add(self, ask: Ask) -> Any:
        times = {"start": {"dateTime": "2026-04-02T10:00:00+09:00"}, "end": {"dateTime": "2026-04-02T11:00:00+09:00"}}
        return self.add_event(self.find_writable(ask), {"summary": ask.query["text"], **times})

    @on("POST", f"{EVENT}/move", {**SEND, "destination!": str})
    def move_event(self, ask: Ask) -> Any:
        place, to = self.find_writable(ask), self.find_calendar(ask.query["destination"])
        row = self.events[place].pop(self.find_event(ask)["id"])
        row["organizer"] = {"email": to, "self": True}
        self.events[to][row["id"]] = row
        return self.touch(row)


SERVICE = GoogleCalendar
