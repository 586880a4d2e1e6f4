"""GitHub: accounts, repositories, files and search. Issues and pull requests are in `github_work`."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from .github_actions import GitHubActions
from .github_git import Repository, list_changes, show_content, show_tree
from .github_state import PAGE
from .github_work import GitHubWork
from .oauth import OAuthRules
from .service import Ask, Refused, Route, on
from .shapes import Mistake
from .wire import WireReply, WireRequest, make_json

VERSIONS = {"2022-11-28", "2026-03-10"}
DOCS = "https://docs.github.com/rest"


class GitHub(GitHubWork, GitHubActions):
    name = "github"
    token = "ghp_standin0000000000000000000000000000"
    whoami = "/user"
    oauth_rules = OAuthRules(
        "github",
        "/login/oauth/authorize",
        "/login/oauth/access_token",
        error_status=200,
        errors={
            "bad_code": "bad_verification_code",
            "bad_refresh": "bad_refresh_token",
            "invalid_client": "incorrect_client_credentials",
        },
        prefix="ghu",
    )

    def handle(self, request: WireRequest) -> WireReply:
        if request.path.startswith("/_storage/"):  # where logs lie: another host, which takes no token
            if "authorization" in request.headers:
                return make_json({"error": "InvalidAuthenticationInfo"}, 400)
            return WireReply(200, self.logs[int(request.path.rsplit("/", 1)[-1])], {"Content-Type": "text/plain"})
        app = f"/applications/{self.oauth.client_id}"
        if request.path in (f"{app}/grant", f"{app}/token") and request.method == "DELETE":
            return self.end_grant(request)
        reply = super().handle(request)
        return WireReply(reply.status, reply.body, {**reply.headers, "X-RateLimit-Remaining": "4999"})

    @property
    def ids(self) -> dict[str, Any]:
        repo = self.repositories[0]
        return {"head": repo.branches["main"], "run": repo.runs[0]["id"], "job": repo.jobs[0]["id"]}

    def check_headers(self, request: WireRequest, route: Route) -> None:
        if not request.headers.get("user-agent"):
            raise Refused(403, "Request forbidden by administrative rules. Please send a User-Agent header.")
        if request.headers.get("accept") not in ("application/vnd.github+json", "application/json"):
            raise Refused(415, "Unsupported 'Accept' header. Must accept 'application/json'.")
        if request.headers.get("x-github-api-version") not in VERSIONS:
            raise Refused(400, "X-GitHub-Api-Version is not a supported version.")

    def explain(self, mistakes: Sequence[Mistake]) -> Refused:
        words = {"unknown": '"{}" is not a permitted key.', "missing": '"{}" wasn\'t supplied.'}
        lines = [
            words[each.kind].format(each.field)
            if each.kind in words
            else f"For '{each.path}', the value is not {each.expected}."
            for each in mistakes
        ]
        return Refused(422, "Invalid request.\n\n" + "\n".join(lines))

    def refuse(self, refused: Refused) -> WireReply:
        hidden = refused.code == "method"  # GitHub does not say that another method would do
        status, message = (404, "Not Found") if hidden else (refused.status, refused.message)
        return make_json({"message": message, "documentation_url": DOCS, "status": str(status)}, status)

    # Accounts and repositories.

    @on("GET", "/user")
    def get_me(self, ask: Ask) -> Any:
        return {
            **self.show_user(self.login),
            "name": "Mio Stand-in",
            "email": "mio@example.org",
            "public_repos": sum(not repo.private for repo in self.repositories),
            "followers": 0,
            "following": 0,
            "created_at": "2020-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }

    @on(
        "GET",
        "/user/repos",
        {
            **PAGE,
            "visibility": {"all", "public", "private"},
            "affiliation": str,
            "type": {"all", "owner", "public", "private", "member"},
            "sort": {"created", "updated", "pushed", "full_name"},
            "direction": {"asc", "desc"},
            "since": str,
            "before": str,
        },
    )
    def list_repos(self, ask: Ask) -> Any:
        wanted = ask.query.get("visibility", "all")
        rows = [
            repo
            for repo in self.repositories
            if repo.owner == self.login and wanted in ("all", "private" if repo.private else "public")
        ]
        return self.show_page(ask, [self.show_repo(repo) for repo in sorted(rows, key=lambda each: each.full_name)])

    @on(
        "POST",
        "/user/repos",
        body={
            "name!": str,
            "description": str,
            "homepage": str,
            "private": bool,
            "auto_init": bool,
            "has_issues": bool,
            "has_projects": bool,
            "has_wiki": bool,
            "gitignore_template": str,
            "license_template": str,
            "is_template": bool,
        },
        status=201,
    )
    def create_repo(self, ask: Ask) -> Any:
        body = ask.body
        if any(repo.full_name == f"{self.login}/{body['name']}" for repo in self.repositories):
            raise Refused(422, "Repository creation failed. name already exists on this account")
        repo = Repository(
            self.next_number(),
            self.login,
            body["name"],
            body.get("description"),
            body.get("private", False),
            self.now(),
        )
        if body.get("auto_init"):
            repo.commit("main", "Initial commit", {"README.md": f"# {repo.name}\n".encode()}, self.now())
        self.repositories.append(repo)
        return self.show_repo(repo)

    @on("GET", "/user/starred", {**PAGE, "sort": {"created", "updated"}, "direction": {"asc", "desc"}})
    def list_starred(self, ask: Ask) -> Any:
        rows = [self.show_repo(repo) for repo in self.repositories if repo.full_name in self.starred]
        return self.show_page(ask, rows)

    @on("GET", "/notifications", {**PAGE, "all": bool, "participating": bool, "since": str, "before": str})
    def list_notifications(self, ask: Ask) -> Any:
        rows = [each for each in self.notifications if each["unread"] or ask.query.get("all")]
        return self.show_page(ask, [each for each in rows if each["updated_at"] >= ask.query.get("since", "")])

    @on("GET", "/repos/{owner}/{repo}")
    def get_repo(self, ask: Ask) -> Any:
        return self.show_repo(self.find_repo(ask))

    # Files, branches, commits.

    @on("GET", "/repos/{owner}/{repo}/contents/{path...}", {"ref": str})
    def get_file(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        commit = self.find_commit(repo, ask.query.get("ref", "main"))
        found = show_content(commit.files, ask.path["path"], f"{self.repo_url(repo)}/contents")
        if found is None:
            raise Refused(404, "Not Found")
        return found

    @on(
        "PUT",
        "/repos/{owner}/{repo}/contents/{path...}",
        body={
            "message!": str,
            "content!": str,
            "sha": str,
            "branch": str,
            "committer": {"name!": str, "email!": str, "date": str},
            "author": {"name!": str, "email!": str, "date": str},
        },
    )
    def put_file(self, ask: Ask) -> Any:
        repo, path, body = self.find_repo(ask), ask.path["path"], ask.body
        branch = body.get("branch", "main")
        files = self.find_commit(repo, branch).files if repo.branches else {}
        try:
            content = base64.b64decode(body["content"], validate=True)
        except binascii.Error:
            raise Refused(422, "content is not valid Base64") from None
        old = show_content(files, path, "") if path in files else None
        if old and "sha" not in body:
            raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
        if body.get("sha") != (old["sha"] if old else body.get("sha")):
            raise Refused(409, f"{path} does not match {body.get('sha')}")
        commit = repo.commit(branch, body["message"], {path: content}, self.now())
        shown = show_content(commit.files, path, f"{self.repo_url(repo)}/contents")
        del shown["content"], shown["encoding"]
        head = {"sha": commit.sha, "message": commit.message, "html_url": f"{self.repo_url(repo)}/commit/{commit.sha}"}
        return make_json({"content": shown, "commit": head}, 200 if old else 201)

    @on("GET", "/repos/{owner}/{repo}/branches", {**PAGE, "protected": bool})
    def list_branches(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        rows = [
            {"name": name, "commit": {"sha": sha, "url": f"{self.repo_url(repo)}/commits/{sha}"}, "protected": False}
            for name, sha in sorted(repo.branches.items())
        ]
        return self.show_page(ask, rows)

    @on("POST", "/repos/{owner}/{repo}/git/refs", body={"ref!": str, "sha!": str}, status=201)
    def create_branch(self, ask: Ask) -> Any:
        repo, ref = self.find_repo(ask), ask.body["ref"]
        if not ref.startswith("refs/heads/"):
            raise Refused(422, "Reference name must start with 'refs/heads/'")
        if ref.removeprefix("refs/heads/") in repo.branches:
            raise Refused(422, "Reference already exists")
        if ask.body["sha"] not in repo.commits:
            raise Refused(422, "Object does not exist")
        repo.branches[ref.removeprefix("refs/heads/")] = ask.body["sha"]
        url = self.repo_url(repo)
        target = {"type": "commit", "sha": ask.body["sha"], "url": f"{url}/git/commits/{ask.body['sha']}"}
        return {"ref": ref, "node_id": "REF", "url": f"{url}/git/{ref}", "object": target}

    @on(
        "GET",
        "/repos/{owner}/{repo}/commits",
        {**PAGE, "sha": str, "path": str, "author": str, "committer": str, "since": str, "until": str},
    )
    def list_commits(self, ask: Ask) -> Any:
        repo, query = self.find_repo(ask), ask.query
        rows = [
            commit
            for commit in repo.list_history(self.find_commit(repo, query.get("sha", "main")))
            if query.get("since", "") <= commit.date <= query.get("until", "9")
            and query.get("author", commit.author) == commit.author
            and ("path" not in query or query["path"] in self.list_paths(repo, commit))
        ]
        return self.show_page(ask, [self.show_commit(repo, each) for each in rows])

    @on("GET", "/repos/{owner}/{repo}/commits/{ref}", PAGE)
    def get_commit(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        return self.show_commit(repo, self.find_commit(repo, ask.path["ref"]), whole=True)

    @on("GET", "/repos/{owner}/{repo}/compare/{basehead}", PAGE)
    def compare(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        left, dots, right = ask.path["basehead"].partition("...")
        if not dots:
            raise Refused(404, "Not Found")
        base, head = self.find_commit(repo, left), self.find_commit(repo, right)
        before, after = repo.list_history(base), repo.list_history(head)
        ahead = [each for each in reversed(after) if each not in before]
        behind = [each for each in before if each not in after]
        words = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
        return {
            "url": f"{self.repo_url(repo)}/compare/{left}...{right}",
            "base_commit": self.show_commit(repo, base),
            "status": words.get((bool(ahead), bool(behind)), "identical"),
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [self.show_commit(repo, each) for each in ahead],
            "files": list_changes(base.files, head.files),
        }

    @on("GET", "/repos/{owner}/{repo}/git/trees/{tree_sha}", {"recursive": str})
    def get_tree(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        return show_tree(self.find_commit(repo, ask.path["tree_sha"]), "recursive" in ask.query, self.repo_url(repo))

    @on("GET", "/repos/{owner}/{repo}/releases", PAGE)
    def list_releases(self, ask: Ask) -> Any:
        return self.show_page(ask, self.find_repo(ask).releases)


SERVICE = GitHub
