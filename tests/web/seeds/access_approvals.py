from web.site import Site

from tokonoma.core.call import Principal
from tokonoma.core.ids import uuid7
from tokonoma.core.reach import Reach
from tokonoma.policy.approvals import ApprovalRequest, decide_approval, find_or_ask
from tokonoma.policy.versions import read_head

PATH = "/admin/approvals"


def fill(site: Site, text: str) -> list[str]:
    """A call that waits, and one that was refused. They are asked for without a policy, which other pages need."""
    agent = Principal(f"key:agent {uuid7()}", "key", Reach())
    params = {"content": text, "metadata": {text[:50] or "a": [text]}}
    with site.app.database.writing() as statements:
        salt, at = read_head(statements).salt, site.app.clock()
        find_or_ask(statements, ApprovalRequest(agent, "memory.save", text[:20], params), salt, at)
        other = find_or_ask(statements, ApprovalRequest(agent, "memory.delete", "", params), salt, at)
        decide_approval(statements, other.id, "denied", "owner", salt, at)
    return [PATH]
