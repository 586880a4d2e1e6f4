"""How people call the services."""

SERVICES = "/admin/services"

_NAMES = {
    "atlassian": "Jira, Confluence",
    "github": "GitHub",
    "google": "Google Calendar",
    "microsoft": "Microsoft To Do",
    "notion": "Notion",
    "supabase": "Supabase",
}


def name_provider(provider: str) -> str:
    return _NAMES.get(provider, provider)
