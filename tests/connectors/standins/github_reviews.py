"""GitHub: reviews of pull requests and their comments."""

from typing import Any

from .github_git import Repository
from .github_state import ORDER, PAGE, REPO, GitHubState
from .service import Ask, Refused, on


class GitHubReviews(GitHubState):
    @on("GET", f"{REPO}/pulls/{{pull_number}}/reviews", PAGE)
    def list_pr_reviews(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        url = self.find_number(repo.pulls, ask.path["pull_number"])["url"]
        return self.show_page(ask, [each for each in repo.reviews if each["pull_request_url"] == url])

    @on(
        "GET", f"{REPO}/pulls/{{pull_number}}/comments", {**PAGE, **ORDER, "sort": {"created", "updated"}, "since": str}
    )
    def list_pr_comments(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        url = self.find_number(repo.pulls, ask.path["pull_number"])["url"]
        return self.show_page(ask, [each for each in repo.review_comments if each["pull_request_url"] == url])

    @on(
        "POST",
        f"{REPO}/pulls/{{pull_number}}/reviews",
        body={
            "commit_id": str,
            "body": str,
            "event": {"APPROVE", "REQUEST_CHANGES", "COMMENT"},
            "comments": [
                {
                    "path!": str,
                    "position": int,
                    "body!": str,
                    "line": int,
                    "side": {"LEFT", "RIGHT"},
                    "start_line": int,
                    "start_side": str,
                }
            ],
        },
        optional_body=True,
    )
    def create_pr_review(self, ask: Ask) -> Any:
        repo = self.find_repo(ask)
        return self.add_review(repo, self.find_number(repo.pulls, ask.path["pull_number"]), ask.body or {})

    def add_review(self, repo: Repository, pull: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if body.get("event", "APPROVE") != "APPROVE" and not body.get("body"):
            raise Refused(422, "Unprocessable Entity")
        states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
        number, at, user = self.next_number(), self.now(), self.show_user(self.login)
        row = {"id": number, "node_id": "PRR", "user": user, "body": body.get("body", ""), "submitted_at": at}
        row |= {"state": states.get(body.get("event", ""), "PENDING"), "commit_id": pull["head"]["sha"]}
        row |= {"html_url": f"{pull['html_url']}#review-{number}", "pull_request_url": pull["url"]}
        repo.reviews.append(row)
        for comment in body.get("comments", []):
            inner = {"id": self.next_number(), "user": user, "path": comment["path"], "line": comment.get("line")}
            inner |= {"body": comment["body"], "created_at": at, "updated_at": at, "pull_request_url": pull["url"]}
            repo.review_comments.append({**inner, "pull_request_review_id": number})
        return row
