"""Requests to Supabase, one for each tool."""

from .cases import Case

PROJECT = "/v1/projects/{ref}"
LINT = "lints.0.name lints.0.level lints.0.title lints.0.detail lints.0.remediation"
FUNCTION = "id slug name status version updated_at verify_jwt"

CASES = [
    Case("supabase.list_organizations", "GET /v1/organizations", "id slug name", ""),
    Case("supabase.list_projects", "GET /v1/projects", "ref name region status created_at", ""),
    Case(
        "supabase.get_project", f"GET {PROJECT}", "ref name region status created_at database.version organization_id"
    ),
    Case("supabase.get_health", f"GET {PROJECT}/health?services=auth,db&timeout_ms=500", "name status", ""),
    Case(
        "supabase.list_tables",
        f"POST {PROJECT}/database/query/read-only",
        "t columns.0.name columns.0.type",
        "",
        {
            "query": "select table_name as t, json_agg(json_build_object('name', column_name, 'type', data_type)"
            " order by ordinal_position) as columns from information_schema.columns"
            " where table_schema in ($1) group by 1",
            "parameters": ["public"],
        },
        201,
    ),
    Case(
        "supabase.query",
        f"POST {PROJECT}/database/query/read-only",
        "id name",
        "",
        {"query": "select * from plants where name = $1", "parameters": ["rose"]},
        201,
    ),
    Case(
        "supabase.execute_sql",
        f"POST {PROJECT}/database/query",
        "name",
        "",
        {"query": "insert into plants (name) values ('moss') returning name", "read_only": False},
        201,
    ),
    Case("supabase.list_migrations", f"GET {PROJECT}/database/migrations", "version name", ""),
    Case(
        "supabase.apply_migration",
        f"POST {PROJECT}/database/migrations",
        body={"query": "create table pots (id integer)", "name": "pots"},
    ),
    Case(
        "supabase.get_logs",
        f"GET {PROJECT}/analytics/endpoints/logs.all?sql=select+1&iso_timestamp_start=2026-03-01T00:00:00Z",
        "result.0.event_message",
    ),
    Case("supabase.get_security_advisors", f"GET {PROJECT}/advisors/security", LINT),
    Case("supabase.get_performance_advisors", f"GET {PROJECT}/advisors/performance", LINT),
    Case("supabase.generate_types", f"GET {PROJECT}/types/typescript?included_schemas=public", "types"),
    Case("supabase.get_api_keys", f"GET {PROJECT}/api-keys?reveal=false", "name type prefix description", ""),
    Case("supabase.list_functions", f"GET {PROJECT}/functions", FUNCTION, ""),
    Case("supabase.get_function", f"GET {PROJECT}/functions/hello", f"{FUNCTION} entrypoint_path"),
    Case("supabase.list_buckets", f"GET {PROJECT}/storage/buckets", "id name public created_at", ""),
    Case("supabase.list_branches", f"GET {PROJECT}/branches", "id name status project_ref updated_at", ""),
    Case("supabase.get_organization", "GET /v1/organizations/garden-club", "id name plan"),
    Case("supabase.get_function_body", f"GET {PROJECT}/functions/hello/body"),
    Case(
        "supabase.create_branch",
        f"POST {PROJECT}/branches",
        "id name project_ref status",
        body={"branch_name": "next", "git_branch": "next", "with_data": False},
        status=201,
    ),
    Case(
        "supabase.merge_branch",
        "POST /v1/branches/{branch}/merge",
        "workflow_run_id message",
        body={"migration_version": "20260301090000"},
        status=201,
    ),
    Case(
        "supabase.reset_branch",
        "POST /v1/branches/{branch}/reset",
        "workflow_run_id message",
        body={"migration_version": "20260301090000"},
        status=201,
    ),
    Case("supabase.delete_branch", "DELETE /v1/branches/{branch}", "message"),
    Case("supabase.pause_project", f"POST {PROJECT}/pause"),
    Case("supabase.restore_project", f"POST {PROJECT}/restore"),
    Case("supabase.list_secrets", f"GET {PROJECT}/secrets", "name updated_at", ""),
    Case("supabase.list_snippets", "GET /v1/snippets?limit=2", "id name description updated_at owner.username", "data"),
]
