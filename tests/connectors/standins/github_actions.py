"""GitHub: actions (workflows, runs, jobs, logs) and search."""

from collections.abc import Callable, Iterable
from typing import Any

from .github_git import hash_blob
from .github_state import PAGE, REPO, GitHubState
from .service import Ask, Refused, on
from .wire import WireReply

RUN_STATES = {"completed", "action_required", "cancelled", "failure", "neutral", "skipped", "stale", "success"} | {
    *("timed_out", "in_progress", "queued", "requested", "waiting", "pending")
}
REACTIONS = {f"reactions-{each}" for each in ("+1", "-1", "smile", "thinking_face", "heart", "tada")}
SEARCH = {**PAGE, "q!": str, "order": {"desc", "asc"}}


def read_search(text: str) -> tuple[list[str], dict[str, str]]:
    """The words of a search and its qualifiers, such as `repo:mio/garden`."""
    words = [each for each in text.lower().split() if ":" not in each]
    return words, dict(each.split(":", 1) for each in text.split() if ":" in each)


def fits_qualifiers(row: dict[str, Any], pull: dict[str, Any] | None, text: str) -> bool:
    """Whether an issue or pull request is what `is:open is:pr merged:>=2026-03-01 updated:<2026-04-01` asks for."""
    merged = pull["merged_at"] if pull else None
    is_so = {"issue": pull is None, "pr": pull is not None, "merged": merged is not None}
    is_so |= {state: row["state"] == state for state in ("open", "closed")}
    times = {"created": row["created_at"], "updated": row["updated_at"], "merged": merged}
    for name, value in (each.split(":", 1) for each in text.split() if ":" in each):
        if name == "is":
            if value not in is_so:
                raise Refused(422, f"Validation Failed: is:{value} is not understood.")
            if not is_so[value]:
                return False
        elif name in times:
            day, found = value.lstrip("<>="), (times[name] or "")[:10]
            if not found or not {"<": found < day, ">=": found >= day}[value.removesuffix(day)]:
                return False
    return True


def keep_matches(rows: Iterable[Any], words: list[str], read: Callable[[Any], str]) -> list[Any]:
    return [row for row in rows if all(word in read(row).lower() for word in words)]


class GitHubActions(GitHubState):
    @on(
        "GET",
        f"{REPO}/actions/runs",
        {
            **PAGE,
            "actor": str,
            "branch": str,
            "event": str,
            "status": RUN_STATES,
            "created": str,
            "exclude_pull_requests": bool,
            "check_suite_id": int,
            "head_sha": str,
        },
    )
    def list_workflow_runs(self, ask: Ask) -> Any:
        query = ask.query
        rows = [
            run
            for run in self.find_repo(ask).runs
            if query.get("branch", run["head_branch"]) == run["head_branch"]
            and query.get("event", run["event"]) == run["event"]
            and query.get("status", run["status"]) in (run["status"], run["conclusion"])
        ]
        return self.show_page(ask, rows, "workflow_runs")

    @on("GET", f"{REPO}/actions/runs/{{run_id}}/jobs", {**PAGE, "filter": {"latest", "all"}})
    def list_run_jobs(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        run = self.find_number({run["id"]: run for run in repo.runs}, ask.path["run_id"])
        return self.show_page(ask, [job for job in repo.jobs if job["run_id"] == run["id"]], "jobs")

    @on("GET", f"{REPO}/actions/jobs/{{job_id}}/logs")
    def get_job_log(self, ask: Ask) -> Any:
        job = self.find_number({job["id"]: job for job in self.find_repo(ask).jobs}, ask.path["job_id"])
        place = self.url.replace("127.0.0.1", "localhost")  # to a client another host
        return WireReply(302, b"", {"Location": f"{place}/_storage/logs/{job['id']}"})

    @on(
        "POST",
        f"{REPO}/actions/runs/{{run_id}}/rerun-failed-jobs",
        body=({"enable_debug_logging": bool}, None),
        optional_body=True,
        status=201,
    )
    def rerun_failed_jobs(self, ask: Ask) -> Any:
        run = self.find_number({run["id"]: run for run in self.find_repo(ask).runs}, ask.path["run_id"])
        if run["conclusion"] != "failure":
            raise Refused(403, "This workflow run cannot be retried")
        run |= {"status": "queued", "conclusion": None, "run_attempt": run["run_attempt"] + 1}
        return {}

    @on("GET", f"{REPO}/actions/workflows", PAGE)
    def list_workflows(self, ask: Ask) -> Any:
        return self.show_page(ask, self.find_repo(ask).workflows, "workflows")

    @on(
        "POST",
        f"{REPO}/actions/workflows/{{workflow_id}}/dispatches",
        body={"ref!": str, "inputs": {"*": (str, int, float, bool)}, "return_run_details": bool},
        status=204,
    )
    def run_workflow(self, ask: Ask) -> Any:
        repo, wanted = self.find_repo(ask), ask.path["workflow_id"]
        for flow in repo.workflows:
            if wanted in (str(flow["id"]), flow["path"].rsplit("/", 1)[-1]):
                branch = ask.body["ref"].removeprefix("refs/heads/")
                if branch not in repo.branches:
                    raise Refused(422, f"No ref found for: {branch}")
                self.start_run(repo, flow, "workflow_dispatch", branch)
                return None
        raise Refused(404, "Not Found")

    # Search.

    @on("GET", "/search/repositories", {**SEARCH, "sort": {"stars", "forks", "help-wanted-issues", "updated"}})
    def search_repos(self, ask: Ask) -> Any:
        words, given = read_search(ask.query["q"])
        rows = [repo for repo in self.repositories if given.get("user", repo.owner) == repo.owner]
        rows = keep_matches(rows, words, lambda repo: f"{repo.full_name} {repo.description}")
        if ask.query.get("sort") == "stars":
            rows.sort(key=lambda repo: repo.stars, reverse=ask.query.get("order") != "asc")
        shown = [{**self.show_repo(repo), "score": 1.0} for repo in rows]
        return self.show_page(ask, shown, "items", {"incomplete_results": False})

    @on("GET", "/search/code", {**SEARCH, "sort": {"indexed"}})
    def search_code(self, ask: Ask) -> Any:
        words, given = read_search(ask.query["q"])
        found: list[dict[str, Any]] = []
        for repo in self.repositories:
            if given.get("repo", repo.full_name) != repo.full_name or "main" not in repo.branches:
                continue
            files = self.find_commit(repo, "main").files
            for path, _ in keep_matches(files.items(), words, lambda each: f"{each[0]} {each[1]!r}"):
                place = f"{self.repo_url(repo)}/contents/{path}"
                row = {"name": path.rsplit("/", 1)[-1], "path": path, "sha": hash_blob(files[path]), "url": place}
                shown = {name: value for name, value in self.show_repo(repo).items() if name != "permissions"}
                found.append({**row, "html_url": place, "git_url": place, "repository": shown, "score": 1.0})
        return self.show_page(ask, found, "items", {"incomplete_results": False})

    @on(
        "GET",
        "/search/issues",
        {
            **SEARCH,
            "sort": {"comments", "reactions", "interactions", "created", "updated"} | REACTIONS,
            "advanced_search": str,
        },
    )
    def search_issues(self, ask: Ask) -> Any:
        words, given = read_search(ask.query["q"])
        rows = [
            row
            for repo in self.repositories
            if given.get("repo", repo.full_name) == repo.full_name
            for row in repo.issues.values()
            if given.get("state", row["state"]) == row["state"]
            and fits_qualifiers(row, repo.pulls.get(row["number"]), ask.query["q"])
        ]
        rows = keep_matches(rows, words, lambda row: f"{row['title']} {row['body'] or ''}")
        sort = "updated_at" if ask.query.get("sort") == "updated" else "created_at"
        rows.sort(key=lambda row: (row[sort], row["number"]), reverse=ask.query.get("order") != "asc")
        return self.show_page(ask, [{**row, "score": 1.0} for row in rows], "items", {"incomplete_results": False})
