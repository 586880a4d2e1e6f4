"""Requests to Google Calendar, one for each tool."""

from .cases import Case

HOME = "/calendars/mio%40example.org"
START, END = {"dateTime": "2026-04-03T10:00:00", "timeZone": "Asia/Tokyo"}, {"dateTime": "2026-04-03T11:00:00+09:00"}

CASES = [
    Case(
        "google_calendar.list_calendars",
        "GET /users/me/calendarList?minAccessRole=writer&showHidden=true&maxResults=10",
        "id summary accessRole timeZone",
        "items",
    ),
    Case("google_calendar.get_calendar", "GET /calendars/primary", "id summary description timeZone location"),
    Case(
        "google_calendar.list_events",
        f"GET {HOME}/events?timeMin=2026-04-01T00:00:00Z&timeMax=2026-04-20T00:00:00Z&singleEvents=true&q=wat",
        "id summary start.dateTime end.dateTime status",
        "items",
    ),
    Case(
        "google_calendar.get_event",
        f"GET {HOME}/events/{{event}}?timeZone=Asia/Tokyo",
        "id status summary location start end attendees.0.email attendees.0.responseStatus organizer.email htmlLink",
    ),
    Case(
        "google_calendar.create_event",
        f"POST {HOME}/events?sendUpdates=none&conferenceDataVersion=0",
        "id htmlLink status start end",
        body={
            "summary": "Prune",
            "description": "Roses",
            "location": "Garden",
            "start": START,
            "end": END,
            "attendees": [{"email": "akane@example.org", "optional": True}],
            "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=5"],
            "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 10}]},
        },
    ),
    Case(
        "google_calendar.update_event",
        f"PATCH {HOME}/events/{{event}}?sendUpdates=all",
        "id htmlLink status updated",
        body={"summary": "Sow more", "attendees": [], "recurrence": []},
    ),
    Case("google_calendar.delete_event", f"DELETE {HOME}/events/{{event}}?sendUpdates=none", status=204),
    Case(
        "google_calendar.quick_add",
        f"POST {HOME}/events/quickAdd?text=Lunch+with+Akane&sendUpdates=none",
        "id summary start end htmlLink",
    ),
    Case(
        "google_calendar.freebusy",
        "POST /freeBusy",
        "timeMin timeMax calendars",
        body={
            "timeMin": "2026-04-01T00:00:00Z",
            "timeMax": "2026-04-03T00:00:00+09:00",
            "items": [{"id": "primary"}, {"id": "nobody@example.org"}],
            "timeZone": "Asia/Tokyo",
        },
    ),
    Case(
        "google_calendar.list_instances",
        f"GET {HOME}/events/{{weekly}}/instances?timeMin=2026-04-01T00:00:00Z&maxResults=3",
        "id summary start end status originalStartTime",
        "items",
    ),
    Case(
        "google_calendar.move_event",
        f"POST {HOME}/events/{{event}}/move?destination=garden%40group.calendar.google.com",
        "id organizer.email status",
    ),
]
