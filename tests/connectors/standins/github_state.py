"""GitHub: what is stored, how it is found, and how it is shown."""

import base64
import json
from typing import Any
from urllib.parse import quote, urlencode

from .github_git import Commit, Repository, list_changes
from .service import Ask, Refused, Service
from .wire import WireReply, WireRequest, make_json

REPO = "/repos/{owner}/{repo}"
PAGE = {"page": int, "per_page": int}
ORDER = {"direction": {"asc", "desc"}}


class GitHubState(Service):
    login = "mio"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.repositories: list[Repository] = []
        self.starred = {"akane/tools"}
        self.notifications: list[dict[str, Any]] = []
        self.logs: dict[int, bytes] = {}
        self.seed()

    def seed(self) -> None:
        repo = Repository(101, "mio", "garden", "Notes about a garden", False, self.now(), "Markdown", 3)
        files = {"README.md": "# Garden\n", "docs/plan.md": "# Plan\nSow in April.\n", "logo.png": "\x00\x01"}
        repo.commit("main", "First notes", {path: text.encode() for path, text in files.items()}, self.now())
        repo.commit("main", "Water more often", {"docs/water.md": b"Daily in July.\n"}, self.now())
        repo.branches["feature"] = repo.branches["main"]
        repo.commit("feature", "Add roses", {"roses.md": b"Red ones.\n"}, self.now())
        other = Repository(102, "akane", "tools", "Small tools", False, self.now(), "Python", 12)
        other.commit("main", "Start", {"tool.py": b"print('garden')\n"}, self.now())
        self.repositories += [repo, other]
        flow = {"id": 7, "node_id": "W", "name": "CI", "path": ".github/workflows/ci.yml", "state": "active"}
        times = {"created_at": self.now(), "updated_at": self.now()}
        repo.workflows.append({**flow, **times, "url": "", "html_url": "", "badge_url": ""})
        self.start_run(repo, repo.workflows[0], "push", "main", failed=True)
        release = {"id": 5, "tag_name": "v1", "name": "First", "draft": False, "prerelease": False}
        url = "https://github.com/mio/garden/releases/v1"
        repo.releases.append({**release, "published_at": self.now(), "created_at": self.now(), "html_url": url})
        subject = {"title": "Water more often", "type": "Issue", "url": "", "latest_comment_url": ""}
        row = {"id": "1", "reason": "mention", "unread": True, "updated_at": self.now(), "last_read_at": None}
        self.notifications.append({**row, "subject": subject, "repository": self.show_repo(other)})

    def start_run(self, repo: Repository, flow: dict[str, Any], event: str, branch: str, failed: bool = False) -> int:
        number, job = self.next_number() + 1000, self.next_number() + 1000
        end = "failure" if failed else "success"
        run: dict[str, Any] = {"id": number, "name": flow["name"], "event": event, "status": "completed"}
        run |= {"conclusion": end, "head_branch": branch, "head_sha": repo.branches[branch], "run_attempt": 1}
        run |= {"workflow_id": flow["id"], "created_at": self.now(), "updated_at": self.now(), "run_number": number}
        repo.runs.insert(0, run)
        times = {"started_at": self.now(), "completed_at": self.now()}
        steps = [{"name": "Test", "status": "completed", "conclusion": end, "number": 1, **times}]
        row = {"id": job, "run_id": number, "name": "test", "status": "completed", "conclusion": end}
        repo.jobs.append({**row, **times, "steps": steps, "head_sha": run["head_sha"], "labels": ["ubuntu-latest"]})
        self.logs[job] = "".join(f"2026-03-01T09:00:{n:02d}Z line {n}\n" for n in range(60)).encode()
        return number

    def repo_url(self, repo: Repository) -> str:
        return f"{self.url}/repos/{repo.full_name}"

    def find_repo(self, ask: Ask) -> Repository:
        wanted = f"{ask.path['owner']}/{ask.path['repo']}".lower()
        for repo in self.repositories:
            if repo.full_name.lower() == wanted:
                return repo
        raise Refused(404, "Not Found")

    def find_commit(self, repo: Repository, ref: str) -> Commit:
        if (found := repo.find_commit(ref)) is None:
            raise Refused(404 if repo.commits else 409, f"No commit found for the ref {ref}")
        return found

    def find_number(self, rows: dict[int, dict[str, Any]], text: str) -> dict[str, Any]:
        if not text.isdigit() or int(text) not in rows:
            raise Refused(404, "Not Found")
        return rows[int(text)]

    def list_paths(self, repo: Repository, commit: Commit) -> list[str]:
        return [each["filename"] for each in self.list_commit_changes(repo, commit)]

    def list_commit_changes(self, repo: Repository, commit: Commit) -> list[dict[str, Any]]:
        return list_changes(repo.commits[commit.parents[0]].files if commit.parents else {}, commit.files)

    def show_user(self, login: str) -> dict[str, Any]:
        url = f"{self.url}/users/{quote(login)}"
        row = {"login": login, "id": sum(login.encode()), "node_id": "U", "avatar_url": f"{url}/avatar", "url": url}
        return {**row, "html_url": f"https://github.com/{login}", "type": "User", "site_admin": False}

    def show_repo(self, repo: Repository) -> dict[str, Any]:
        pushed = max((each.date for each in repo.commits.values()), default=repo.created_at)
        return {
            "id": repo.id,
            "node_id": f"R_{repo.id}",
            "name": repo.name,
            "full_name": repo.full_name,
            "owner": self.show_user(repo.owner),
            "private": repo.private,
            "html_url": f"https://github.com/{repo.full_name}",
            "description": repo.description,
            "fork": False,
            "url": self.repo_url(repo),
            "language": repo.language,
            "forks_count": 0,
            "stargazers_count": repo.stars,
            "size": 1,
            "default_branch": "main",
            "open_issues_count": sum(each["state"] == "open" for each in repo.issues.values()),
            "archived": False,
            "disabled": False,
            "pushed_at": pushed,
            "created_at": repo.created_at,
            "updated_at": pushed,
        }

    def show_commit(self, repo: Repository, commit: Commit, whole: bool = False) -> dict[str, Any]:
        who = {"name": commit.author, "email": f"{commit.author}@example.org", "date": commit.date}
        url = self.repo_url(repo)
        inner = {"author": who, "committer": who, "message": commit.message, "comment_count": 0}
        shown: dict[str, Any] = {
            "sha": commit.sha,
            "node_id": "C",
            "url": f"{url}/commits/{commit.sha}",
            "html_url": f"https://github.com/{repo.full_name}/commit/{commit.sha}",
            "commit": {**inner, "tree": {"sha": commit.sha, "url": f"{url}/git/trees/{commit.sha}"}},
            "author": self.show_user(commit.author),
            "committer": self.show_user(commit.author),
            "parents": [{"sha": sha, "url": f"{url}/commits/{sha}"} for sha in commit.parents],
        }
        if whole:
            files = self.list_commit_changes(repo, commit)
            added, gone = sum(each["additions"] for each in files), sum(each["deletions"] for each in files)
            shown |= {"files": files, "stats": {"additions": added, "deletions": gone, "total": added + gone}}
        return shown

    def show_page(self, ask: Ask, rows: list[Any], name: str = "", extra: dict[str, Any] | None = None) -> WireReply:
        """One page, with links to the others in the header, as GitHub gives them."""
        size = min(max(ask.query.get("per_page", 30), 1), 100)
        page = max(ask.query.get("page", 1), 1)
        last = max(-(-len(rows) // size), 1)
        part = rows[(page - 1) * size : page * size]
        rest = [each for each in ask.request.query if each[0] != "page"]
        aims = {"next": page + 1, "last": last} if page < last else {}
        aims |= {"prev": page - 1, "first": 1} if page > 1 else {}
        links = [
            f'<{self.url}{ask.request.path}?{urlencode([*rest, ("page", n)])}>; rel="{r}"' for r, n in aims.items()
        ]
        value = {"total_count": len(rows), **(extra or {}), name: part} if name else part
        return make_json(value, 200, {"Link": ", ".join(links)} if links else {})

    def end_grant(self, request: WireRequest) -> WireReply:
        both = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
        if both != f"{self.oauth.client_id}:{self.oauth.client_secret}":
            return self.refuse(Refused(404, "Not Found"))
        self.oauth.revoke(json.loads(request.body)["access_token"])
        return WireReply(204)
