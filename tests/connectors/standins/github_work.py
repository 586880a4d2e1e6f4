"""GitHub: issues, pull requests and reviews."""

from typing import Any

from .github_git import Repository, list_changes
from .github_reviews import GitHubReviews
from .github_state import ORDER, PAGE, REPO
from .service import Ask, Refused, on

LABEL = (str, {"id": int, "name": str, "description": (str, None), "color": (str, None)})
STATES = {"open", "closed", "all"}
ISSUE = {
    "title": (str, int),
    "body": (str, None),
    "assignee": (str, None),
    "milestone": (str, int, None),
    "labels": [LABEL],
    "assignees": [str],
    "type": (str, None),
}


class GitHubWork(GitHubReviews):
    def seed(self) -> None:
        super().seed()
        repo = self.repositories[0]
        issue = self.add_issue(repo, {"title": "Snails", "body": "They eat it all.", "labels": ["pest"]})
        self.add_issue(repo, {"title": "Fence", "assignees": ["akane"]})
        pull = self.add_pull(repo, {"title": "Roses", "head": "feature", "base": "main", "body": "Red ones"})
        self.add_comment(repo, issue, "Beer helps")
        comment = {"path": "roses.md", "line": 1, "body": "Which red?"}
        self.add_review(repo, pull, {"event": "COMMENT", "body": "Nice", "comments": [comment]})

    # Issues.

    @on(
        "GET",
        f"{REPO}/issues",
        {
            **PAGE,
            **ORDER,
            "milestone": str,
            "state": STATES,
            "assignee": str,
            "type": str,
            "creator": str,
            "mentioned": str,
            "labels": str,
            "sort": {"created", "updated", "comments"},
            "since": str,
        },
    )
    def list_issues(self, ask: Ask) -> Any:
        query = ask.query
        labels = set(filter(None, query.get("labels", "").split(",")))
        rows = [
            row
            for row in self.find_repo(ask).issues.values()
            if query.get("state", "open") in ("all", row["state"])
            and labels <= {each["name"] for each in row["labels"]}
            and query.get("assignee", "*") in ("*", *(each["login"] for each in row["assignees"]))
            and row["updated_at"] >= query.get("since", "")
        ]
        key = {"updated": "updated_at", "comments": "comments"}.get(query.get("sort", ""), "created_at")
        rows.sort(key=lambda row: (row[key], row["number"]), reverse=query.get("direction", "desc") == "desc")
        return self.show_page(ask, rows)

    @on("POST", f"{REPO}/issues", body={**ISSUE, "title!": (str, int)}, status=201)
    def create_issue(self, ask: Ask) -> Any:
        return self.add_issue(self.find_repo(ask), ask.body)

    def add_issue(self, repo: Repository, body: dict[str, Any], kind: str = "issues") -> dict[str, Any]:
        number = len(repo.issues) + 1
        url = f"{self.repo_url(repo)}/issues/{number}"
        row: dict[str, Any] = {"id": self.next_number(), "node_id": "I", "number": number, "title": "", "body": None}
        row |= {"state": "open", "state_reason": None, "locked": False, "user": self.show_user(self.login)}
        row |= {"labels": [], "assignee": None, "assignees": [], "milestone": None, "comments": 0, "closed_at": None}
        row |= {"url": url, "html_url": f"https://github.com/{repo.full_name}/{kind}/{number}"}
        row |= {"repository_url": self.repo_url(repo), "created_at": self.now()}
        repo.issues[number] = row
        self.change_issue(row, body)
        return row

    def change_issue(self, row: dict[str, Any], body: dict[str, Any]) -> None:
        for name in ("title", "body", "state", "state_reason"):
            row[name] = body.get(name, row[name])
        if "labels" in body:
            names = [each if isinstance(each, str) else each["name"] for each in body["labels"]]
            row["labels"] = [{"id": sum(n.encode()), "name": n, "color": "ededed", "default": False} for n in names]
        if "assignees" in body:
            row["assignees"] = [self.show_user(login) for login in body["assignees"]]
        row["closed_at"] = self.now() if row["state"] == "closed" else None
        row["updated_at"] = self.now()

    @on("GET", f"{REPO}/issues/{{issue_number}}")
    def get_issue(self, ask: Ask) -> Any:
        return self.find_number(self.find_repo(ask).issues, ask.path["issue_number"])

    @on(
        "PATCH",
        f"{REPO}/issues/{{issue_number}}",
        body={
            **ISSUE,
            "title": (str, int, None),
            "state": {"open", "closed"},
            "state_reason": ({"completed", "not_planned", "duplicate", "reopened"}, None),
        },
        optional_body=True,
    )
    def update_issue(self, ask: Ask) -> Any:
        row = self.find_number(self.find_repo(ask).issues, ask.path["issue_number"])
        self.change_issue(row, ask.body or {})
        return row

    @on("GET", f"{REPO}/issues/{{issue_number}}/comments", {**PAGE, "since": str})
    def list_issue_comments(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        url = self.find_number(repo.issues, ask.path["issue_number"])["url"]
        rows = [each for each in repo.comments if each["issue_url"] == url]
        return self.show_page(ask, [each for each in rows if each["updated_at"] >= ask.query.get("since", "")])

    @on("POST", f"{REPO}/issues/{{issue_number}}/comments", body={"body!": str}, status=201)
    def add_issue_comment(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        return self.add_comment(repo, self.find_number(repo.issues, ask.path["issue_number"]), ask.body["body"])

    def add_comment(self, repo: Repository, issue: dict[str, Any], text: str) -> dict[str, Any]:
        number, at = self.next_number(), self.now()
        row = {"id": number, "node_id": "IC", "user": self.show_user(self.login), "body": text}
        row |= {"url": f"{self.repo_url(repo)}/issues/comments/{number}", "issue_url": issue["url"]}
        row |= {"html_url": f"{issue['html_url']}#issuecomment-{number}", "created_at": at, "updated_at": at}
        repo.comments.append(row)
        issue["comments"] += 1
        return row

    # Pull requests.

    @on(
        "GET",
        f"{REPO}/pulls",
        {
            **PAGE,
            **ORDER,
            "state": STATES,
            "head": str,
            "base": str,
            "sort": {"created", "updated", "popularity", "long-running"},
        },
    )
    def list_prs(self, ask: Ask) -> Any:
        query = ask.query
        rows = [
            row
            for row in self.find_repo(ask).pulls.values()
            if query.get("state", "open") in ("all", row["state"])
            and query.get("base", row["base"]["ref"]) == row["base"]["ref"]
            and query.get("head", row["head"]["label"]) == row["head"]["label"]
        ]
        whole = ("additions", "deletions", "changed_files", "merged", "mergeable", "comments")
        shown = [{name: value for name, value in row.items() if name not in whole} for row in rows]
        return self.show_page(ask, sorted(shown, key=lambda row: -row["number"]))

    @on(
        "POST",
        f"{REPO}/pulls",
        body={
            "title": str,
            "head!": str,
            "head_repo": str,
            "base!": str,
            "body": str,
            "maintainer_can_modify": bool,
            "draft": bool,
            "issue": int,
        },
        status=201,
    )
    def create_pr(self, ask: Ask) -> Any:
        return self.add_pull(self.find_repo(ask), ask.body)

    def add_pull(self, repo: Repository, body: dict[str, Any]) -> dict[str, Any]:
        head, base = body["head"].rpartition(":")[2], body["base"]
        if not {head, base} <= repo.branches.keys() or ("title" in body) == ("issue" in body):
            raise Refused(422, "Validation Failed")
        if repo.branches[head] == repo.branches[base]:
            raise Refused(422, f"Validation Failed: No commits between {base} and {head}")
        issue = self.add_issue(repo, {"title": body.get("title", ""), "body": body.get("body")}, "pull")
        files = list_changes(self.find_commit(repo, base).files, self.find_commit(repo, head).files)
        shared = ("number", "state", "title", "body", "user", "html_url", "created_at", "updated_at", "node_id", "id")
        sides = {
            side: {"label": f"{repo.owner}:{name}", "ref": name, "sha": repo.branches[name]}
            for side, name in (("head", head), ("base", base))
        }
        url = f"{self.repo_url(repo)}/pulls/{issue['number']}"
        row = {**{name: issue[name] for name in shared}, **sides, "url": url, "draft": body.get("draft", False)}
        row |= {"merged": False, "mergeable": True, "merged_at": None, "comments": 0, "changed_files": len(files)}
        row |= {"additions": sum(f["additions"] for f in files), "deletions": sum(f["deletions"] for f in files)}
        issue["pull_request"] = {"url": url, "html_url": row["html_url"], "diff_url": None, "patch_url": None}
        repo.pulls[issue["number"]] = row
        return row

    @on("GET", f"{REPO}/pulls/{{pull_number}}")
    def get_pr(self, ask: Ask) -> Any:
        return self.find_number(self.find_repo(ask).pulls, ask.path["pull_number"])

    @on(
        "PATCH",
        f"{REPO}/pulls/{{pull_number}}",
        body={"title": str, "body": str, "state": {"open", "closed"}, "base": str, "maintainer_can_modify": bool},
        optional_body=True,
    )
    def update_pr(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        row = self.find_number(repo.pulls, ask.path["pull_number"])
        body = ask.body or {}
        if "base" in body:
            row["base"] |= {"ref": body["base"], "sha": self.find_commit(repo, body["base"]).sha}
        row |= {name: body[name] for name in ("title", "body", "state") if name in body}
        row["updated_at"] = self.now()
        self.change_issue(repo.issues[row["number"]], {name: row[name] for name in ("title", "body", "state")})
        return row

    @on(
        "PUT",
        f"{REPO}/pulls/{{pull_number}}/merge",
        body={"commit_title": str, "commit_message": str, "sha": str, "merge_method": {"merge", "squash", "rebase"}},
        optional_body=True,
    )
    def merge_pr(self, ask: Ask) -> Any:
        repo, body = self.find_repo(ask), ask.body or {}
        row = self.find_number(repo.pulls, ask.path["pull_number"])
        if row["merged"] or row["state"] == "closed":
            raise Refused(405, "Pull Request is not mergeable")
        if body.get("sha", row["head"]["sha"]) != row["head"]["sha"]:
            raise Refused(409, "Head branch was modified. Review and try the merge again.")
        files = self.find_commit(repo, row["head"]["sha"]).files
        title = body.get("commit_title", f"Merge pull request #{row['number']}")
        commit = repo.commit(row["base"]["ref"], title, files, self.now())
        row |= {"merged": True, "state": "closed", "merged_at": self.now(), "mergeable": None}
        self.change_issue(repo.issues[row["number"]], {"state": "closed"})
        return {"sha": commit.sha, "merged": True, "message": "Pull Request successfully merged"}

    @on("GET", f"{REPO}/pulls/{{pull_number}}/files", PAGE)
    def list_pr_files(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        row = self.find_number(repo.pulls, ask.path["pull_number"])
        base, head = (self.find_commit(repo, row[side]["sha"]) for side in ("base", "head"))
        return self.show_page(ask, list_changes(base.files, head.files))
