"""Microsoft To Do: lists, tasks and their steps, over Microsoft Graph."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.fields import push_graph
from tokonoma.connectors.model import PageRule, Params, Service, ServiceTool

_PAGES = PageRule("url", size="$top", most=100, next="@odata.nextLink")
_CHANGES = PageRule("url", size="$top", most=100, next="@odata.nextLink", keeps={"deltatoken": "@odata.deltaLink"})


def clear_fields(params: Params) -> Params:
    """Graph empties a field that is sent as null."""
    given = dict(params)
    return {**dict.fromkeys(given.pop("clear", ())), **given}


# fmt: off
TOOLS = (
    ServiceTool(
        "list_lists", "GET /me/todo/lists", "Task lists.", takes="filter?", fields="id displayName wellknownListName",
        rows="value", page=_PAGES,
    ),
    ServiceTool(
        "get_list", "GET /me/todo/lists/{list_id}", "One list.",
        fields="id displayName isOwner isShared wellknownListName",
    ),
    ServiceTool("create_list", "POST /me/todo/lists", "New list.", takes="displayName", fields="id displayName"),
    ServiceTool(
        "update_list", "PATCH /me/todo/lists/{list_id}", "Rename a list.", takes="displayName",
        fields="id displayName",
    ),
    ServiceTool("delete_list", "DELETE /me/todo/lists/{list_id}", "Delete a list with its tasks.", fields=""),
    ServiceTool(
        "list_tasks", "GET /me/todo/lists/{list_id}/tasks", "Tasks of a list.", takes="filter?, orderby?",
        fields="id title status importance dueDateTime.dateTime lastModifiedDateTime", rows="value", page=_PAGES,
    ),
    ServiceTool(
        "get_task", "GET /me/todo/lists/{list_id}/tasks/{task_id}", "One task.", takes="expand?",
        fields="id title status importance body.content dueDateTime reminderDateTime completedDateTime recurrence "
        "categories lastModifiedDateTime checklistItems linkedResources",
    ),
    ServiceTool(
        "create_task", "POST /me/todo/lists/{list_id}/tasks", "New task.",
        takes="title, body?: Body, dueDateTime?: Time, reminderDateTime?: Time, importance?: low|normal|high, "
        "recurrence?: Repeat, categories?: [str], linkedResources?: [{webUrl, applicationName, "
        "displayName}]", fields="id title status",
    ),
    ServiceTool(
        "update_task", "PATCH /me/todo/lists/{list_id}/tasks/{task_id}", "Update a task.",
        takes="title?, body?: Body, dueDateTime?: Time, reminderDateTime?: Time, importance?: low|normal|high, "
        "status?: notStarted|inProgress|completed|waitingOnOthers|deferred, recurrence?: Repeat, categories?: [str], "
        "clear?: [dueDateTime|reminderDateTime|recurrence]", fields="id title status lastModifiedDateTime",
        prepare=clear_fields,
    ),
    ServiceTool(
        "complete_task", "PATCH /me/todo/lists/{list_id}/tasks/{task_id}", "Mark a task done.",
        fields="id title status completedDateTime", fixed={"status": "completed"},
    ),
    ServiceTool("delete_task", "DELETE /me/todo/lists/{list_id}/tasks/{task_id}", "Delete a task.", fields=""),
    ServiceTool(
        "list_steps", "GET /me/todo/lists/{list_id}/tasks/{task_id}/checklistItems", "Steps of a task.",
        fields="id displayName isChecked createdDateTime", rows="value", page=_PAGES,
    ),
    ServiceTool(
        "add_step", "POST /me/todo/lists/{list_id}/tasks/{task_id}/checklistItems", "New step.",
        takes="displayName, isChecked?: bool", fields="id displayName isChecked",
    ),
    ServiceTool(
        "update_step", "PATCH /me/todo/lists/{list_id}/tasks/{task_id}/checklistItems/{step_id}",
        "Rename or tick a step.", takes="displayName?, isChecked?: bool", fields="id displayName isChecked",
    ),
    ServiceTool(
        "delete_step", "DELETE /me/todo/lists/{list_id}/tasks/{task_id}/checklistItems/{step_id}", "Delete a step.",
        fields="", extra=True,
    ),
    ServiceTool(
        "list_links", "GET /me/todo/lists/{list_id}/tasks/{task_id}/linkedResources", "Linked resources.",
        fields="id webUrl applicationName displayName", rows="value", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "tasks_delta", "GET /me/todo/lists/{list_id}/tasks/delta",
        "Changes since the deltatoken of the last page of an earlier call.",
        takes="deltatoken?", fields="id title status lastModifiedDateTime @removed", rows="value", page=_CHANGES,
        extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="microsoft_todo",
    title="Microsoft To Do",
    summary="Lists, tasks and steps in Microsoft To Do.",
    api_version="Graph 1.0",
    tools=TOOLS,
    wire={"filter": "$filter", "orderby": "$orderby", "expand": "$expand", "deltatoken": "$deltatoken"},
    types={
        "Time": "{dateTime, timeZone}",
        "Body": "{content, contentType: text|html}",
        "Repeat": "{pattern: {type: daily|weekly|…, interval: int, daysOfWeek?: [str]}, "
        "range: {type: noEnd|endDate|numbered, startDate}}",
    },
    push_fields=push_graph,
)
MODULE = declare_module(SERVICE)
