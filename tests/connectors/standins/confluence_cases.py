"""Requests to Confluence, one for each tool."""

from .cases import Case

API, OLD = "/wiki/api/v2", "/wiki/rest/api"
TEXT = {"representation": "storage", "value": "<p>Pink</p>"}

CASES = [
    Case(
        "confluence.list_spaces",
        f"GET {API}/spaces?keys=GARDEN,POND&type=global&status=current&limit=5",
        "id key name type status homepageId",
        "results",
    ),
    Case("confluence.get_space", f"GET {API}/spaces/{{space}}", "id key name type status description homepageId"),
    Case(
        "confluence.list_pages",
        f"GET {API}/pages?space-id={{space}}&status=current&sort=-title&body-format=storage",
        "id title spaceId status version.number body.storage.value",
        "results",
    ),
    Case(
        "confluence.get_page",
        f"GET {API}/pages/{{page}}?body-format=storage&version=1&include-labels=true",
        "id title spaceId parentId status version.number version.createdAt body.storage.value labels.results.0.name",
    ),
    Case(
        "confluence.list_children",
        f"GET {API}/pages/{{home}}/children?limit=3",
        "id title status spaceId childPosition",
        "results",
    ),
    Case(
        "confluence.create_page",
        f"POST {API}/pages",
        "id title status version.number _links.webui",
        body={"spaceId": "{space}", "title": "Tulips", "parentId": "{home}", "body": TEXT, "status": "current"},
    ),
    Case(
        "confluence.update_page",
        f"PUT {API}/pages/{{page}}",
        "id title status version.number _links.webui",
        body={
            "id": "{page}",
            "status": "current",
            "title": "Roses",
            "body": TEXT,
            "version": {"number": 2, "message": "Pink"},
        },
    ),
    Case("confluence.delete_page", f"DELETE {API}/pages/{{page}}?purge=false&draft=false", status=204),
    Case(
        "confluence.search",
        f"GET {OLD}/search?cql=type%3Dpage+and+text~rose&excerpt=indexed&limit=5",
        "content.id title content.type excerpt url lastModified",
        "results",
    ),
    Case(
        "confluence.list_comments",
        f"GET {API}/pages/{{page}}/footer-comments?body-format=storage",
        "id title version.authorId version.createdAt body.storage.value",
        "results",
    ),
    Case(
        "confluence.add_comment",
        f"POST {API}/footer-comments",
        "id version.number",
        body={"pageId": "{page}", "body": TEXT},
        status=201,
    ),
    Case("confluence.list_labels", f"GET {API}/pages/{{page}}/labels?prefix=global", "id name prefix", "results"),
    Case(
        "confluence.add_labels",
        f"POST {OLD}/content/{{page}}/label",
        "name",
        "results",
        [{"prefix": "global", "name": "red"}],
    ),
    Case("confluence.remove_label", f"DELETE {OLD}/content/{{page}}/label?name=flower", status=204),
    Case(
        "confluence.list_attachments",
        f"GET {API}/pages/{{page}}/attachments?filename=rose.png",
        "id title mediaType fileSize version.number downloadLink",
        "results",
    ),
    Case(
        "confluence.list_versions",
        f"GET {API}/pages/{{page}}/versions?body-format=storage",
        "number message createdAt authorId minorEdit",
        "results",
    ),
    Case("confluence.list_ancestors", f"GET {API}/pages/{{page}}/ancestors", "id type", "results"),
    Case(
        "confluence.list_inline_comments",
        f"GET {API}/pages/{{page}}/inline-comments?body-format=storage",
        "id resolutionStatus version.createdAt body.storage.value",
        "results",
    ),
]
