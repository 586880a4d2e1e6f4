"""Supabase: projects, databases, functions and branches, over its management API."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.model import PageRule, Service, ServiceTool
from tokonoma.connectors.supabase_sql import list_columns, read_source

_PAGES = PageRule("token", send="cursor", size="limit", most=100, next="cursor")

# fmt: off
TOOLS = (
    ServiceTool("list_organizations", "GET /v1/organizations", "Organizations.", fields="id slug name", rows=""),
    ServiceTool(
        "list_projects", "GET /v1/projects", "Projects.", fields="ref name region status created_at", rows=""
    ),
    ServiceTool(
        "get_project", "GET /v1/projects/{ref}", "One project.",
        fields="ref name region status created_at database.version organization_id",
    ),
    ServiceTool(
        "get_health", "GET /v1/projects/{ref}/health", "State of services.",
        takes="services: [auth|db|db_postgres_user|pooler|realtime|rest|storage], timeout_ms?: int",
        fields="name status error", rows="",
    ),
    ServiceTool(
        "list_tables", "POST /v1/projects/{ref}/database/query/read-only", "Tables with columns, by default of public.",
        takes="schemas?: [str]", fields="schema table columns", rows="", effect="read", prepare=list_columns,
    ),
    ServiceTool(
        "query", "POST /v1/projects/{ref}/database/query/read-only", "Read-only SQL.",
        takes="query, parameters?: [any]", rows="", effect="read",
    ),
    ServiceTool(
        "execute_sql", "POST /v1/projects/{ref}/database/query", "Any SQL.",
        takes="query, parameters?: [any], read_only?: bool", rows="", effect="destroy",
    ),
    ServiceTool(
        "list_migrations", "GET /v1/projects/{ref}/database/migrations", "Migration history.", fields="version name",
        rows="",
    ),
    ServiceTool(
        "apply_migration", "POST /v1/projects/{ref}/database/migrations", "Run and record a migration.",
        takes="query, name?", fields="", effect="destroy",
    ),
    ServiceTool(
        "get_logs", "GET /v1/projects/{ref}/analytics/endpoints/logs.all", "Logs by SQL, at most 24 h.",
        takes="sql?, iso_timestamp_start?, iso_timestamp_end?", fields="result error",
    ),
    ServiceTool(
        "get_security_advisors", "GET /v1/projects/{ref}/advisors/security", "Security notices.",
        fields="lints.name lints.level lints.title lints.detail lints.remediation",
    ),
    ServiceTool(
        "get_performance_advisors", "GET /v1/projects/{ref}/advisors/performance", "Performance notices.",
        fields="lints.name lints.level lints.title lints.detail lints.remediation",
    ),
    ServiceTool(
        "generate_types", "GET /v1/projects/{ref}/types/typescript", "TypeScript types of the schema.",
        takes="included_schemas?", fields="types",
    ),
    ServiceTool(
        "get_api_keys", "GET /v1/projects/{ref}/api-keys", "API keys; with reveal and +api_key the keys themselves.",
        takes="reveal?: bool",
        fields="name type prefix description", rows="",
    ),
    ServiceTool(
        "list_functions", "GET /v1/projects/{ref}/functions", "Edge functions.",
        fields="id slug name status version updated_at verify_jwt", rows="",
    ),
    ServiceTool(
        "get_function", "GET /v1/projects/{ref}/functions/{function_slug}", "One edge function.",
        fields="id slug name status version updated_at verify_jwt entrypoint_path",
    ),
    ServiceTool(
        "list_buckets", "GET /v1/projects/{ref}/storage/buckets", "Storage buckets.",
        fields="id name public created_at", rows="",
    ),
    ServiceTool(
        "list_branches", "GET /v1/projects/{ref}/branches", "Preview branches.",
        fields="id name git_branch status project_ref updated_at", rows="",
    ),
    ServiceTool(
        "get_organization", "GET /v1/organizations/{slug}", "One organization with its plan.", fields="id name plan",
        extra=True,
    ),
    ServiceTool(
        "get_function_body", "GET /v1/projects/{ref}/functions/{function_slug}/body", "Source of an edge function.",
        extra=True, read=read_source,
    ),
    ServiceTool(
        "create_branch", "POST /v1/projects/{ref}/branches", "New preview branch (costs money).",
        takes="branch_name, git_branch?, with_data?: bool", fields="id name project_ref status", extra=True,
    ),
    ServiceTool(
        "merge_branch", "POST /v1/branches/{branch_id_or_ref}/merge", "Merge a branch.", takes="migration_version?",
        fields="workflow_run_id message", effect="destroy", extra=True,
    ),
    ServiceTool(
        "reset_branch", "POST /v1/branches/{branch_id_or_ref}/reset", "Reset a branch.", takes="migration_version?",
        fields="workflow_run_id message", effect="destroy", extra=True,
    ),
    ServiceTool(
        "delete_branch", "DELETE /v1/branches/{branch_id_or_ref}", "Delete a branch.", fields="message", extra=True
    ),
    ServiceTool(
        "pause_project", "POST /v1/projects/{ref}/pause", "Pause a project.", fields="", effect="destroy", extra=True
    ),
    ServiceTool(
        "restore_project", "POST /v1/projects/{ref}/restore", "Restore a paused project.", fields="", extra=True
    ),
    ServiceTool(
        "list_secrets", "GET /v1/projects/{ref}/secrets", "Names (and digests) of function secrets.",
        fields="name updated_at", rows="", extra=True,
    ),
    ServiceTool(
        "list_snippets", "GET /v1/snippets", "Saved SQL.", takes="project_ref?",
        fields="id name description updated_at owner.username", rows="data", page=_PAGES, extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="supabase",
    title="Supabase",
    summary="Projects, SQL, migrations, functions and branches on Supabase.",
    api_version="1",
    tools=TOOLS,
)
MODULE = declare_module(SERVICE)
