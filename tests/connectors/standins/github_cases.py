"""Requests to GitHub, one for each tool."""

from .cases import Case

REPO = "/repos/mio/garden"
SHORT = "full_name description language stargazers_count pushed_at"
ISSUE = "number title state user.login labels comments updated_at"
PULL = "number title state draft user.login head.ref base.ref updated_at"
RUN = "id name event status conclusion head_branch created_at"

CASES = [
    Case("github.get_me", "GET /user", "login name email public_repos created_at"),
    Case("github.list_repos", "GET /user/repos?visibility=all&sort=full_name&per_page=5", SHORT, ""),
    Case("github.get_repo", f"GET {REPO}", f"{SHORT} default_branch forks_count open_issues_count private html_url"),
    Case("github.search_repos", "GET /search/repositories?q=garden&sort=stars&order=desc", SHORT, "items"),
    Case("github.get_file", f"GET {REPO}/contents/docs/plan.md?ref=main", "type path sha size encoding content"),
    Case(
        "github.put_file",
        f"PUT {REPO}/contents/docs/new.md",
        "content.path content.sha commit.sha",
        body={"message": "New", "content": "bmV3"},
        status=201,
    ),
    Case("github.list_branches", f"GET {REPO}/branches", "name commit.sha protected", ""),
    Case(
        "github.create_branch",
        f"POST {REPO}/git/refs",
        "ref object.sha",
        body={"ref": "refs/heads/tulips", "sha": "{head}"},
        status=201,
    ),
    Case(
        "github.list_commits",
        f"GET {REPO}/commits?sha=main&path=docs/water.md&author=mio&since=2020-01-01T00:00:00Z",
        "sha commit.message commit.author.name commit.author.date",
        "",
    ),
    Case("github.get_commit", f"GET {REPO}/commits/feature", "sha commit.message stats.total files.0.patch"),
    Case("github.search_code", "GET /search/code?q=Sow+repo:mio/garden", "repository.full_name path sha", "items"),
    Case(
        "github.search_issues",
        "GET /search/issues?q=snails+is:issue&sort=reactions-%2B1&order=asc",
        f"{ISSUE} repository_url",
        "items",
    ),
    Case(
        "github.list_issues",
        f"GET {REPO}/issues?state=all&labels=pest&sort=updated&direction=asc&since=2020-01-01T00:00:00Z",
        ISSUE,
        "",
    ),
    Case("github.get_issue", f"GET {REPO}/issues/1", f"{ISSUE} assignees milestone created_at body"),
    Case(
        "github.create_issue",
        f"POST {REPO}/issues",
        "number html_url state",
        body={"title": "Moles", "body": "Holes", "labels": ["pest"], "assignees": ["mio"], "milestone": 1},
        status=201,
    ),
    Case(
        "github.update_issue",
        f"PATCH {REPO}/issues/1",
        "number html_url state",
        body={"state": "closed", "state_reason": "completed", "title": "No snails"},
    ),
    Case("github.list_issue_comments", f"GET {REPO}/issues/1/comments", "id user.login created_at body", ""),
    Case("github.add_issue_comment", f"POST {REPO}/issues/1/comments", "id html_url", body={"body": "Hm"}, status=201),
    Case("github.list_prs", f"GET {REPO}/pulls?state=open&base=main&sort=created&direction=desc", PULL, ""),
    Case("github.get_pr", f"GET {REPO}/pulls/3", f"{PULL} merged mergeable additions deletions changed_files body"),
    Case("github.list_pr_files", f"GET {REPO}/pulls/3/files", "filename status additions deletions patch", ""),
    Case(
        "github.create_pr",
        f"POST {REPO}/pulls",
        "number html_url state",
        body={"title": "More roses", "head": "feature", "base": "main", "draft": True},
        status=201,
    ),
    Case("github.list_workflow_runs", f"GET {REPO}/actions/runs?branch=main&status=failure", RUN, "workflow_runs"),
    Case(
        "github.run_workflow",
        f"POST {REPO}/actions/workflows/ci.yml/dispatches",
        body={"ref": "main", "inputs": {"level": "all"}},
        status=204,
    ),
    Case("github.update_pr", f"PATCH {REPO}/pulls/3", "number html_url state", body={"title": "Roses, red"}),
    Case("github.merge_pr", f"PUT {REPO}/pulls/3/merge", "merged sha message", body={"merge_method": "squash"}),
    Case("github.list_pr_reviews", f"GET {REPO}/pulls/3/reviews", "id user.login state submitted_at body", ""),
    Case(
        "github.create_pr_review",
        f"POST {REPO}/pulls/3/reviews",
        "id state html_url",
        body={"event": "APPROVE", "comments": [{"path": "roses.md", "line": 1, "side": "RIGHT", "body": "Good"}]},
    ),
    Case("github.list_pr_comments", f"GET {REPO}/pulls/3/comments", "id user.login path line created_at body", ""),
    Case(
        "github.list_run_jobs",
        f"GET {REPO}/actions/runs/{{run}}/jobs?filter=latest",
        "id name status conclusion started_at completed_at steps.0.name steps.0.conclusion",
        "jobs",
    ),
    Case("github.get_job_log", f"GET {REPO}/actions/jobs/{{job}}/logs", status=302),
    Case("github.rerun_failed_jobs", f"POST {REPO}/actions/runs/{{run}}/rerun-failed-jobs", status=201),
    Case("github.list_workflows", f"GET {REPO}/actions/workflows", "id name path state", "workflows"),
    Case(
        "github.compare",
        f"GET {REPO}/compare/main...feature",
        "status ahead_by behind_by total_commits commits.0.sha commits.0.commit.message files.0.filename",
    ),
    Case("github.get_tree", f"GET {REPO}/git/trees/main?recursive=1", "sha truncated tree.0.path tree.0.size"),
    Case("github.list_releases", f"GET {REPO}/releases", "id tag_name name draft prerelease published_at html_url", ""),
    Case(
        "github.list_notifications",
        "GET /notifications?all=true",
        "id reason unread updated_at subject.title subject.type repository.full_name",
        "",
    ),
    Case("github.list_starred", "GET /user/starred?sort=created", SHORT, ""),
    Case(
        "github.create_repo",
        "POST /user/repos",
        "full_name html_url private default_branch",
        body={"name": "pond", "description": "Fish", "private": True, "auto_init": True},
        status=201,
    ),
]
