"""Supabase's management API: projects with a database of their own (SQLite runs its SQL), branches, functions, keys."""

import re
import uuid
from typing import Any

from .oauth import OAuthRules
from .service import Ask, Refused, Service, on
from .supabase_sql import ProjectDatabase
from .wire import WireReply, make_json

REF = "abcdefghijklmnopqrst"
PROJECT = "/v1/projects/{ref}"
BRANCH = "/v1/branches/{branch_id_or_ref}"
HEALTH = {"auth", "db", "db_postgres_user", "pooler", "realtime", "rest", "storage", "pg_bouncer"}
SQL = {"query!": str, "parameters": [object]}
SIZES = {"pico", "nano", "micro", "small", "medium", "large", "xlarge", "2xlarge", "4xlarge"}


class Supabase(Service):
    name = "supabase"
    token = "sbp_standin00000000000000000000000000000000"
    whoami = "/v1/organizations"
    oauth_rules = OAuthRules(
        "supabase",
        "/v1/oauth/authorize",
        "/v1/oauth/token",
        "/v1/oauth/revoke",
        client_auth="basic",
        errors={"bad_code": "invalid_grant", "bad_refresh": "invalid_grant"},
        prefix="sbp_oauth",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.organizations = [{"id": "garden-club", "slug": "garden-club", "name": "Garden club"}]
        base = {"organization_id": "garden-club", "organization_slug": "garden-club", "region": "ap-northeast-1"}
        base |= {"created_at": self.now(), "status": "ACTIVE_HEALTHY"}
        store = {"host": f"db.{REF}.supabase.co", "version": "17.4.1", "postgres_engine": "17", "release_channel": "ga"}
        self.projects = {REF: {**base, "id": REF, "ref": REF, "name": "garden", "database": store}}
        self.database = ProjectDatabase()
        self.database.run("create table plants (id integer primary key, name text not null)")
        self.database.run("insert into plants (name) values ('rose'), ('fern')")
        self.migrations = [{"version": "20260301090000", "name": "plants"}]
        self.branches = [self.make_branch({"branch_name": "main"}, is_default=True)]
        self.branches.append(self.make_branch({"branch_name": "trial", "git_branch": "trial"}))
        function = {"id": str(uuid.UUID(int=9)), "slug": "hello", "name": "hello", "status": "ACTIVE", "version": 1}
        function |= {"created_at": 1767225600000, "updated_at": 1767225600000, "verify_jwt": True}
        self.functions = {"hello": {**function, "entrypoint_path": "index.ts", "import_map": False}}
        self.bodies = {"hello": b"Deno.serve(() => new Response('hello'))\n"}
        key = {"id": str(uuid.UUID(int=7)), "type": "publishable", "name": "default", "description": "For browsers"}
        self.keys = [{**key, "prefix": "sb_publishable_x", "api_key": "sb_publishable_xSECRET", "hash": "h"}]
        self.secrets = [{"name": "MAIL_KEY", "value": "5f4dcc3b", "updated_at": self.now()}]
        owner = {"id": 1, "username": "mio"}
        row = {"type": "sql", "visibility": "user", "description": None, "project": {"id": 1, "name": "garden"}}
        row |= {"owner": owner, "updated_by": owner, "favorite": False, "inserted_at": self.now()}
        self.snippets = [
            {**row, "id": f"snippet-{n}", "name": f"Query {n}", "updated_at": self.now()} for n in range(3)
        ]

    @property
    def ids(self) -> dict[str, Any]:
        return {"ref": REF, "branch": self.branches[1]["id"]}

    def close(self) -> None:
        self.database.close()

    # State.

    def find_project(self, ask: Ask) -> dict[str, Any]:
        ref = ask.path["ref"]
        if not re.fullmatch("[a-z]{20}", ref):
            raise Refused(400, "ref: must be 20 lower-case letters")
        if ref not in self.projects:
            raise Refused(404, "Project not found")
        return self.projects[ref]

    def find_branch(self, ask: Ask) -> dict[str, Any]:
        for row in self.branches:
            if ask.path["branch_id_or_ref"] in (row["id"], row["project_ref"]):
                return row
        raise Refused(404, "Branch not found")

    def make_branch(self, given: dict[str, Any], is_default: bool = False) -> dict[str, Any]:
        number = self.next_number()
        row = {"id": str(uuid.UUID(int=number)), "name": given["branch_name"], "parent_project_ref": REF}
        row |= {"project_ref": REF if is_default else "b" * 19 + chr(96 + number % 26), "is_default": is_default}
        row |= {"git_branch": given["git_branch"]} if "git_branch" in given else {}
        row |= {"persistent": given.get("persistent", False), "with_data": given.get("with_data", False)}
        return {**row, "status": "MIGRATIONS_PASSED", "created_at": self.now(), "updated_at": self.now()}

    def refuse(self, refused: Refused) -> WireReply:
        message = "Unauthorized" if refused.status == 401 else refused.message
        return make_json({"message": message}, refused.status)

    # Organizations and projects.

    @on("GET", "/v1/organizations")
    def list_organizations(self, ask: Ask) -> Any:
        return self.organizations

    @on("GET", "/v1/organizations/{slug}")
    def get_organization(self, ask: Ask) -> Any:
        for row in self.organizations:
            if row["slug"] == ask.path["slug"]:
                shown = {"id": row["id"], "name": row["name"], "plan": "free", "opt_in_tags": []}
                return {**shown, "allowed_release_channels": ["ga"]}
        raise Refused(404, "Organization not found")

    @on("GET", "/v1/projects")
    def list_projects(self, ask: Ask) -> Any:
        return list(self.projects.values())

    @on("GET", PROJECT)
    def get_project(self, ask: Ask) -> Any:
        return self.find_project(ask)

    @on("GET", f"{PROJECT}/health", {"services!": [HEALTH], "timeout_ms": range(10001)})
    def get_health(self, ask: Ask) -> Any:
        healthy = self.find_project(ask)["status"] == "ACTIVE_HEALTHY"
        status = "ACTIVE_HEALTHY" if healthy else "UNHEALTHY"
        more = {} if healthy else {"error": "The project is paused"}
        return [{"name": name, "healthy": healthy, "status": status, **more} for name in ask.query["services"]]

    @on("POST", f"{PROJECT}/pause")
    def pause_project(self, ask: Ask) -> Any:
        self.find_project(ask)["status"] = "INACTIVE"

    @on("POST", f"{PROJECT}/restore")
    def restore_project(self, ask: Ask) -> Any:
        self.find_project(ask)["status"] = "ACTIVE_HEALTHY"

    # Database.

    @on("POST", f"{PROJECT}/database/query/read-only", body=SQL, status=201)
    def query(self, ask: Ask) -> Any:
        self.find_project(ask)
        return self.database.run(ask.body["query"], ask.body.get("parameters"), read_only=True)

    @on("POST", f"{PROJECT}/database/query", body={**SQL, "read_only": bool}, status=201)
    def execute_sql(self, ask: Ask) -> Any:
        self.find_project(ask)
        return self.database.run(ask.body["query"], ask.body.get("parameters"), ask.body.get("read_only", False))

    @on("GET", f"{PROJECT}/database/migrations")
    def list_migrations(self, ask: Ask) -> Any:
        self.find_project(ask)
        return self.migrations

    @on("POST", f"{PROJECT}/database/migrations", body={"query!": str, "name": str, "rollback": str})
    def apply_migration(self, ask: Ask) -> Any:
        self.find_project(ask)
        self.database.run(ask.body["query"])
        self.migrations.append({"version": self.now("%Y%m%d%H%M%S"), "name": ask.body.get("name", "")})

    @on(
        "GET",
        f"{PROJECT}/analytics/endpoints/logs.all",
        {"sql": str, "iso_timestamp_start": str, "iso_timestamp_end": str},
    )
    def get_logs(self, ask: Ask) -> Any:
        self.find_project(ask)
        return {"result": [{"id": "log-1", "timestamp": 1767225600000000, "event_message": "GET 200"}]}

    @on("GET", f"{PROJECT}/advisors/security", {"lint_type": {"sql"}})
    @on("GET", f"{PROJECT}/advisors/performance")
    def get_advisors(self, ask: Ask) -> Any:
        self.find_project(ask)
        security = ask.request.path.endswith("security")
        name = "rls_disabled_in_public" if security else "unused_index"
        row = {"name": name, "title": name.replace("_", " "), "level": "WARN", "facing": "EXTERNAL", "metadata": {}}
        row |= {"categories": ["SECURITY" if security else "PERFORMANCE"], "description": "Of the table plants"}
        return {"lints": [{**row, "detail": "plants", "remediation": "https://example.org", "cache_key": name}]}

    @on("GET", f"{PROJECT}/types/typescript", {"included_schemas": str})
    def generate_types(self, ask: Ask) -> Any:
        self.find_project(ask)
        kinds = {"integer": "number", "text": "string"}
        columns = self.database.list_columns()
        lines = [f"  {name}: {kinds.get(kind, 'unknown')}" for name, kind in columns]
        return {"types": "export type Database = {\n" + "\n".join(lines) + "\n}\n"}

    # Keys, functions, buckets, snippets.

    @on("GET", f"{PROJECT}/api-keys", {"reveal": bool})
    def get_api_keys(self, ask: Ask) -> Any:
        self.find_project(ask)
        return [{**row, "api_key": row["api_key"] if ask.query.get("reveal") else None} for row in self.keys]

    @on("GET", f"{PROJECT}/secrets")
    def list_secrets(self, ask: Ask) -> Any:
        self.find_project(ask)
        return self.secrets

    @on("GET", f"{PROJECT}/functions")
    def list_functions(self, ask: Ask) -> Any:
        self.find_project(ask)
        return list(self.functions.values())

    @on("GET", f"{PROJECT}/functions/{{function_slug}}")
    def get_function(self, ask: Ask) -> Any:
        self.find_project(ask)
        if ask.path["function_slug"] not in self.functions:
            raise Refused(404, "Function not found")
        return self.functions[ask.path["function_slug"]]

    @on("GET", f"{PROJECT}/functions/{{function_slug}}/body")
    def get_function_body(self, ask: Ask) -> Any:
        body = self.bodies[self.get_function(ask)["slug"]]
        return WireReply(200, body, {"Content-Type": "application/octet-stream"})

    @on("GET", f"{PROJECT}/storage/buckets")
    def list_buckets(self, ask: Ask) -> Any:
        self.find_project(ask)
        at = "2026-03-01T09:00:00Z"
        return [{"id": "photos", "name": "photos", "owner": "", "created_at": at, "updated_at": at, "public": False}]

    @on(
        "GET",
        "/v1/snippets",
        {"project_ref": str, "cursor": str, "limit": range(1, 101), "sort_by": {"name", "inserted_at"}}
        | {"sort_order": {"asc", "desc"}},
    )
    def list_snippets(self, ask: Ask) -> Any:
        start, size = int(ask.query.get("cursor", "0")), ask.query.get("limit", 100)
        more = {"cursor": str(start + size)} if start + size < len(self.snippets) else {}
        return {"data": self.snippets[start : start + size], **more}

    # Branches.

    @on("GET", f"{PROJECT}/branches")
    def list_branches(self, ask: Ask) -> Any:
        self.find_project(ask)
        return self.branches

    @on(
        "POST",
        f"{PROJECT}/branches",
        body={"branch_name!": str, "git_branch": str, "with_data": bool, "persistent": bool, "region": str}
        | {"is_default": bool, "desired_instance_size": SIZES, "secrets": {"*": str}, "notify_url": str},
        status=201,
    )
    def create_branch(self, ask: Ask) -> Any:
        self.find_project(ask)
        if any(row["name"] == ask.body["branch_name"] for row in self.branches):
            raise Refused(400, "A branch with this name already exists")
        self.branches.append(self.make_branch(ask.body))
        return self.branches[-1]

    @on("POST", f"{BRANCH}/merge", body={"migration_version": str}, status=201)
    def merge_branch(self, ask: Ask) -> Any:
        return {"workflow_run_id": f"run-{self.find_branch(ask)['name']}", "message": "ok"}

    @on("POST", f"{BRANCH}/reset", body={"migration_version": str}, status=201)
    def reset_branch(self, ask: Ask) -> Any:
        return {"workflow_run_id": f"run-{self.find_branch(ask)['name']}", "message": "ok"}

    @on("DELETE", BRANCH, {"force": bool})
    def delete_branch(self, ask: Ask) -> Any:
        row = self.find_branch(ask)
        if row["is_default"]:
            raise Refused(422, "Cannot delete the default branch")
        self.branches.remove(row)
        return {"message": "ok"}


SERVICE = Supabase
