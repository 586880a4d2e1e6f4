"""Requests to Microsoft To Do, one for each tool."""

from .cases import Case

LIST = "/me/todo/lists/{list}"
TASK = f"{LIST}/tasks/{{task}}"
DUE = {"dateTime": "2026-04-01T00:00:00", "timeZone": "UTC"}
PATTERN = {"type": "weekly", "interval": 1, "daysOfWeek": ["monday"]}

CASES = [
    Case(
        "microsoft_todo.list_lists",
        "GET /me/todo/lists?$top=5&$filter=displayName+eq+'Tasks'",
        "id displayName wellknownListName",
        "value",
    ),
    Case("microsoft_todo.get_list", f"GET {LIST}", "id displayName isOwner isShared wellknownListName"),
    Case(
        "microsoft_todo.create_list", "POST /me/todo/lists", "id displayName", body={"displayName": "Pond"}, status=201
    ),
    Case(
        "microsoft_todo.update_list",
        "PATCH /me/todo/lists/{other}",
        "id displayName",
        body={"displayName": "The garden"},
    ),
    Case("microsoft_todo.delete_list", "DELETE /me/todo/lists/{other}", status=204),
    Case(
        "microsoft_todo.list_tasks",
        f"GET {LIST}/tasks?$filter=status+ne+'completed'&$orderby=title+desc&$top=2",
        "id title status importance lastModifiedDateTime",
        "value",
    ),
    Case(
        "microsoft_todo.get_task",
        f"GET {TASK}?$expand=checklistItems,linkedResources",
        "id title status importance body.content categories lastModifiedDateTime checklistItems.0.displayName",
    ),
    Case(
        "microsoft_todo.create_task",
        f"POST {LIST}/tasks",
        "id title status",
        body={
            "title": "Prune",
            "body": {"content": "Roses", "contentType": "text"},
            "dueDateTime": DUE,
            "reminderDateTime": DUE,
            "importance": "high",
            "recurrence": {"pattern": PATTERN, "range": {"type": "noEnd", "startDate": "2026-04-01"}},
            "categories": ["Red"],
            "linkedResources": [{"webUrl": "https://example.org", "applicationName": "Web", "displayName": "How"}],
        },
        status=201,
    ),
    Case(
        "microsoft_todo.update_task",
        f"PATCH {TASK}",
        "id title status lastModifiedDateTime",
        body={"title": "Sow now", "status": "inProgress", "dueDateTime": DUE, "categories": []},
    ),
    Case(
        "microsoft_todo.complete_task",
        f"PATCH {TASK}",
        "id title status completedDateTime.dateTime",
        body={"status": "completed"},
    ),
    Case("microsoft_todo.delete_task", f"DELETE {TASK}", status=204),
    Case(
        "microsoft_todo.list_steps", f"GET {TASK}/checklistItems", "id displayName isChecked createdDateTime", "value"
    ),
    Case(
        "microsoft_todo.add_step",
        f"POST {TASK}/checklistItems",
        "id displayName isChecked",
        body={"displayName": "Dig", "isChecked": False},
        status=201,
    ),
    Case(
        "microsoft_todo.update_step",
        f"PATCH {TASK}/checklistItems/{{step}}",
        "id displayName isChecked",
        body={"displayName": "Buy much soil", "isChecked": True},
    ),
    Case("microsoft_todo.delete_step", f"DELETE {TASK}/checklistItems/{{step}}", status=204),
    Case("microsoft_todo.list_links", f"GET {TASK}/linkedResources", "id webUrl applicationName displayName", "value"),
    Case("microsoft_todo.tasks_delta", f"GET {LIST}/tasks/delta", "id title status lastModifiedDateTime", "value"),
]
