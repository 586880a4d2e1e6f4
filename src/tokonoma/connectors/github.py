"""GitHub: repositories, files, issues, pull requests and Actions."""

from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.github_files import ask_for_log, create_branch, encode_file, read_file, read_log
from tokonoma.connectors.model import PageRule, Service, ServiceTool

_PAGES = PageRule("link", size="per_page", most=100)
_FOUND = PageRule("link", size="per_page", most=100, keeps={"total": "total_count"})
_LOG_HOSTS = ("*.blob.core.windows.net", "*.githubusercontent.com")

# fmt: off
TOOLS = (
    ServiceTool(
        "get_me", "GET /user", "Your account.", fields="login name email public_repos created_at"
    ),
    ServiceTool(
        "list_repos", "GET /user/repos", "Your repositories.",
        takes="visibility?: all|public|private, affiliation?, sort?: created|updated|pushed|full_name",
        fields="full_name description language stargazers_count pushed_at", rows="", page=_PAGES,
    ),
    ServiceTool(
        "get_repo", "GET /repos/{owner}/{repo}", "One repository.",
        fields="full_name description default_branch language stargazers_count forks_count open_issues_count "
        "private archived pushed_at html_url",
    ),
    ServiceTool(
        "search_repos", "GET /search/repositories", "Search repositories.",
        takes="q, sort?: stars|forks|help-wanted-issues|updated, order?: desc|asc",
        fields="full_name description language stargazers_count pushed_at", rows="items", page=_FOUND,
    ),
    ServiceTool(
        "get_file", "GET /repos/{owner}/{repo}/contents/{+path}", "A file as text, or a directory as items.",
        takes="ref?", read=read_file,
    ),
    ServiceTool(
        "put_file", "PUT /repos/{owner}/{repo}/contents/{+path}", "Create a file, or replace it (sha).",
        takes="message, content, encoding?: text|base64, sha?, branch?",
        fields="content.path content.sha commit.sha", effect="destroy", prepare=encode_file,
    ),
    ServiceTool(
        "list_branches", "GET /repos/{owner}/{repo}/branches", "Branches.", fields="name commit.sha protected",
        rows="", page=_PAGES,
    ),
    ServiceTool(
        "create_branch", "POST /repos/{owner}/{repo}/git/refs", "New branch at a branch, tag or sha.",
        takes="branch, from_ref?", fields="ref object.sha", send=create_branch,
    ),
    ServiceTool(
        "list_commits", "GET /repos/{owner}/{repo}/commits", "Commits of a branch or path.",
        takes="sha?, path?, author?, since?, until?",
        fields="sha commit.message commit.author.name commit.author.date", rows="", page=_PAGES,
    ),
    ServiceTool(
        "get_commit", "GET /repos/{owner}/{repo}/commits/{ref}", "One commit with its files.",
        fields="sha commit.message commit.author.name commit.author.date stats files.filename files.status "
        "files.additions files.deletions files.patch",
    ),
    ServiceTool(
        "search_code", "GET /search/code", "Search code.", takes="q", fields="repository.full_name path sha",
        rows="items", page=_FOUND,
    ),
    ServiceTool(
        "search_issues", "GET /search/issues", "Search issues and pull requests.",
        takes="q, sort?: comments|created|updated|interactions|reactions|reactions-+1|reactions--1|reactions-smile|"
        "reactions-thinking_face|reactions-heart|reactions-tada, order?: desc|asc",
        fields="number title state user.login repository_url comments updated_at", rows="items",
        page=_PAGES,
    ),
    ServiceTool(
        "list_issues", "GET /repos/{owner}/{repo}/issues", "Issues, pull requests among them.",
        takes="state?: open|closed|all, labels?, assignee?, since?, sort?: created|updated|comments, direction?: "
        "asc|desc", fields="number title state user.login labels.name comments updated_at", rows="", page=_PAGES,
    ),
    ServiceTool(
        "get_issue", "GET /repos/{owner}/{repo}/issues/{issue_number:int}", "One issue.",
        fields="number title state user.login labels.name assignees.login milestone.title comments created_at "
        "updated_at body",
    ),
    ServiceTool(
        "create_issue", "POST /repos/{owner}/{repo}/issues", "Open an issue.",
        takes="title, body?, labels?: [str], assignees?: [str], milestone?: int", fields="number html_url state",
    ),
    ServiceTool(
        "update_issue", "PATCH /repos/{owner}/{repo}/issues/{issue_number:int}", "Edit, close or reopen an issue.",
        takes="title?, body?, state?: open|closed, state_reason?: completed|not_planned|duplicate|reopened, "
        "labels?: [str], assignees?: [str], milestone?: int", fields="number html_url state",
    ),
    ServiceTool(
        "list_issue_comments", "GET /repos/{owner}/{repo}/issues/{issue_number:int}/comments",
        "Comments, also of a pull request.", takes="since?", fields="id user.login created_at body", rows="",
        page=_PAGES,
    ),
    ServiceTool(
        "add_issue_comment", "POST /repos/{owner}/{repo}/issues/{issue_number:int}/comments",
        "Comment, also on a pull request.", takes="body", fields="id html_url",
    ),
    ServiceTool(
        "list_prs", "GET /repos/{owner}/{repo}/pulls", "Pull requests.",
        takes="state?: open|closed|all, head?, base?, sort?: created|updated|popularity|long-running, direction?: "
        "asc|desc", fields="number title state draft user.login head.ref base.ref updated_at", rows="", page=_PAGES,
    ),
    ServiceTool(
        "get_pr", "GET /repos/{owner}/{repo}/pulls/{pull_number:int}", "One pull request.",
        fields="number title state draft merged mergeable user.login head.ref base.ref additions deletions "
        "changed_files body",
    ),
    ServiceTool(
        "list_pr_files", "GET /repos/{owner}/{repo}/pulls/{pull_number:int}/files",
        "Files with patches.", fields="filename status additions deletions patch", rows="", page=_PAGES,
    ),
    ServiceTool(
        "create_pr", "POST /repos/{owner}/{repo}/pulls", "Open a pull request.",
        takes="head, base, title?, body?, draft?: bool", fields="number html_url state",
    ),
    ServiceTool(
        "list_workflow_runs", "GET /repos/{owner}/{repo}/actions/runs", "Actions runs.",
        takes="branch?, event?, status?: failure|success|in_progress|queued|completed|action_required|cancelled|"
        "neutral|skipped|stale|timed_out|requested|waiting|pending, actor?",
        fields="id name event status conclusion head_branch created_at", rows="workflow_runs", page=_PAGES,
    ),
    ServiceTool(
        "run_workflow", "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches", "Start a workflow.",
        takes="ref, inputs?: {*: str}", fields="",
    ),
    ServiceTool(
        "update_pr", "PATCH /repos/{owner}/{repo}/pulls/{pull_number:int}", "Edit, close or reopen a pull request.",
        takes="title?, body?, state?: open|closed, base?", fields="number html_url state", extra=True,
    ),
    ServiceTool(
        "merge_pr", "PUT /repos/{owner}/{repo}/pulls/{pull_number:int}/merge", "Merge a pull request.",
        takes="commit_title?, merge_method?: merge|squash|rebase, sha?", fields="merged sha message",
        effect="destroy", extra=True,
    ),
    ServiceTool(
        "list_pr_reviews", "GET /repos/{owner}/{repo}/pulls/{pull_number:int}/reviews", "Reviews.",
        fields="id user.login state submitted_at body", rows="", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "create_pr_review", "POST /repos/{owner}/{repo}/pulls/{pull_number:int}/reviews", "Review a pull request.",
        takes="event?: APPROVE|REQUEST_CHANGES|COMMENT, body?, comments?: [{path, line: int, side?: "
        "LEFT|RIGHT, body}], commit_id?", fields="id state html_url", extra=True,
    ),
    ServiceTool(
        "list_pr_comments", "GET /repos/{owner}/{repo}/pulls/{pull_number:int}/comments", "Line comments.",
        fields="id user.login path line created_at body", rows="", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "list_run_jobs", "GET /repos/{owner}/{repo}/actions/runs/{run_id:int}/jobs", "Jobs of a run.",
        takes="filter?: latest|all",
        fields="id name status conclusion started_at completed_at steps.name steps.conclusion", rows="jobs",
        page=_PAGES, extra=True,
    ),
    ServiceTool(
        "get_job_log", "GET /repos/{owner}/{repo}/actions/jobs/{job_id:int}/logs", "The end of a job's log.",
        takes="lines?: int", extra=True, redirect_hosts=_LOG_HOSTS, prepare=ask_for_log, read=read_log,
    ),
    ServiceTool(
        "rerun_failed_jobs", "POST /repos/{owner}/{repo}/actions/runs/{run_id:int}/rerun-failed-jobs",
        "Run the failed jobs again.", fields="", extra=True,
    ),
    ServiceTool(
        "list_workflows", "GET /repos/{owner}/{repo}/actions/workflows", "Workflows.", fields="id name path state",
        rows="workflows", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "compare", "GET /repos/{owner}/{repo}/compare/{basehead}", "Difference of two refs.",
        fields="status ahead_by behind_by total_commits commits.sha commits.commit.message files.filename "
        "files.status files.additions files.deletions", extra=True,
    ),
    ServiceTool(
        "get_tree", "GET /repos/{owner}/{repo}/git/trees/{tree_sha}", "File tree.", takes="recursive?",
        fields="sha truncated tree.path tree.type tree.size", extra=True,
    ),
    ServiceTool(
        "list_releases", "GET /repos/{owner}/{repo}/releases", "Releases.",
        fields="id tag_name name draft prerelease published_at html_url", rows="", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "list_notifications", "GET /notifications", "Inbox.", takes="all?: bool, since?",
        fields="id reason unread updated_at subject.title subject.type subject.url repository.full_name", rows="",
        page=_PAGES, extra=True,
    ),
    ServiceTool(
        "list_starred", "GET /user/starred", "Starred repositories.", takes="sort?: created|updated",
        fields="full_name description language stargazers_count pushed_at", rows="", page=_PAGES, extra=True,
    ),
    ServiceTool(
        "create_repo", "POST /user/repos", "New repository.",
        takes="name, description?, private?: bool, auto_init?: bool",
        fields="full_name html_url private default_branch", extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="github",
    title="GitHub",
    summary="Repositories, files, issues, pull requests and Actions on GitHub.",
    api_version="2022-11-28",
    tools=TOOLS,
)
MODULE = declare_module(SERVICE)
