"""Google Calendar: calendars and events."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.fields import push_google
from tokonoma.connectors.model import PageRule, Params, Service, ServiceTool

_PAGES = PageRule("token", send="pageToken", size="maxResults", most=250, next="nextPageToken")
_EVENTS = PageRule(
    "token", send="pageToken", size="maxResults", most=250, next="nextPageToken", keeps={"syncToken": "nextSyncToken"}
)


def order_by_time(params: Params) -> Params:
    """Events of a time span are wanted one by one and in order, unless the call says something else."""
    if "timeMin" not in params or {"singleEvents", "orderBy", "syncToken"} & params.keys():
        return params
    return {**params, "singleEvents": True, "orderBy": "startTime"}


# fmt: off
TOOLS = (
    ServiceTool(
        "list_calendars", "GET /users/me/calendarList", "Your calendars.",
        takes="minAccessRole?: freeBusyReader|reader|writer|owner, showHidden?: bool",
        fields="id summary primary accessRole timeZone", rows="items", page=_PAGES,
    ),
    ServiceTool(
        "get_calendar", "GET /calendars/{calendarId}", "One calendar.",
        fields="id summary description timeZone location",
    ),
    ServiceTool(
        "list_events", "GET /calendars/{calendarId}/events", "Events of a time span, or by text.",
        takes="q?, timeMin?, timeMax?, singleEvents?: bool, orderBy?: startTime|updated, updatedMin?, syncToken?, "
        "timeZone?", fields="id summary start end location status", rows="items", page=_EVENTS,
        prepare=order_by_time,
    ),
    ServiceTool(
        "get_event", "GET /calendars/{calendarId}/events/{eventId}", "One event.", takes="timeZone?",
        fields="id status summary description location start end attendees.email attendees.responseStatus "
        "organizer.email recurrence htmlLink",
    ),
    ServiceTool(
        "create_event", "POST /calendars/{calendarId}/events", "New event.",
        takes="start: Time, end: Time, summary?, description?, location?, attendees?: [Guest], recurrence?: [str], "
        "reminders?: {useDefault: bool, overrides?: [{method: "
        "email|popup, minutes: int}]}", query="sendUpdates?: Mail, conferenceDataVersion?: int",
        fields="id htmlLink status start end",
    ),
    ServiceTool(
        "update_event", "PATCH /calendars/{calendarId}/events/{eventId}", "Change an event.",
        takes="summary?, description?, location?, start?: Time, end?: Time, attendees?: [Guest], recurrence?: [str]",
        query="sendUpdates?: Mail", fields="id htmlLink status updated",
    ),
    ServiceTool(
        "delete_event", "DELETE /calendars/{calendarId}/events/{eventId}", "Delete an event.",
        takes="sendUpdates?: Mail", fields="",
    ),
    ServiceTool(
        "quick_add", "POST /calendars/{calendarId}/events/quickAdd", "New event from a sentence.",
        query="text, sendUpdates?: Mail", fields="id summary start end htmlLink",
    ),
    ServiceTool(
        "freebusy", "POST /freeBusy", "Busy times of calendars.",
        takes="timeMin, timeMax, items: [{id}], timeZone?", fields="timeMin timeMax calendars", effect="read",
    ),
    ServiceTool(
        "list_instances", "GET /calendars/{calendarId}/events/{eventId}/instances",
        "Occurrences of a repeating event.", takes="timeMin?, timeMax?",
        fields="id summary start end status originalStartTime",
        rows="items", page=_PAGES,
    ),
    ServiceTool(
        "move_event", "POST /calendars/{calendarId}/events/{eventId}/move", "Move to another calendar.",
        query="destination", fields="id organizer.email status", extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="google_calendar",
    title="Google Calendar",
    summary="Calendars, events and busy times in Google Calendar. calendarId primary is the account's own.",
    api_version="3",
    tools=TOOLS,
    types={
        "Time": "{dateTime, timeZone?} | {date}",
        "Guest": "{email, optional?: bool}",
        "Mail": "all|externalOnly|none",
    },
    push_fields=push_google,
)
MODULE = declare_module(SERVICE)
