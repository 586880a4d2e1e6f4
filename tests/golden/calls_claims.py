"""Claims, and the policy that decides what is seen of every module."""

from golden.steps import Json, ToolStep, call

AT = "2020-01-15T09:00:00Z"
SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MAIL = "hanako.tanaka@example.co.jp"
GONE = "clm_0190a00000007000800000000000000a"


def claim(tool: str, says: str, params: Json, **keep: str) -> ToolStep:
    """By the name of the specification."""
    return call(f"claims.pce.memory.{tool}", says, params, **{name: f"data.{path}" for name, path in keep.items()})


KEEPING = [
    claim(
        "upsert",
        "a whole claim",
        {
            "text": "POST /subscriptions/{id}/cancel は非同期",
            "kind": "fact",
            "scope": "project",
            "boundary_class": "internal",
            "provenance": {"at": AT, "actor": "me", "git": {"commit": "abc1234", "repo": "tea"}, "note": "read"},
            "entities": [
                {"id": "e1", "type": "Artifact", "name": "API", "attrs": {"v": 2}},
                {"id": "e2", "type": "Concept", "name": "cancel"},
            ],
            "relations": [{"id": "r1", "src_id": "e1", "dst_id": "e2", "type": "offers"}],
        },
        cancel="id",
    ),
    claim("upsert", "the same again, from elsewhere", {
        "text": " POST /subscriptions/{id}/cancel は非同期 ", "scope": "project",
        "provenance": {"at": AT, "url": "https://example.org"},
    }),
    claim("upsert", "for the session", {"text": "Tea is at four today.", "provenance": {}, "kind": "task"}, tea="id"),
    claim("upsert", "an older one", {"text": "集合は九時", "scope": "project", "provenance": {"at": AT}}, nine="id"),
    claim("upsert", "a newer one", {"text": "集合は十時", "scope": "project", "provenance": {"at": AT}}, ten="id"),
    claim("upsert", "personal", {"text": f"Write to {MAIL}", "provenance": {"at": AT, "actor": "ci"}}, mail="id"),
    claim("upsert", "several problems", {"kind": "rumour", "colour": "red", "provenance": {"who": "me"}}),
    claim("upsert", "an unknown scope", {"text": "x", "provenance": {}, "scope": "global"}),
    claim("upsert", "an unknown class", {"text": "x", "provenance": {}, "boundary_class": "top"}),
    claim("upsert", "no time for what stays", {"text": "x", "provenance": {}, "scope": "project"}),
    claim("upsert", "a wrong hash", {"text": "x", "provenance": {}, "content_hash": "sha256:" + "0" * 64}),
    claim("upsert", "a secret", {"text": f"use {SECRET}", "provenance": {"note": SECRET}}),
    claim("upsert", "evidence that is not there", {
        "text": "x", "provenance": {},
        "relations": [{"id": "r", "src_id": "a", "dst_id": "b", "type": "t", "evidence_claim_id": GONE}],
    }),
    claim("get", "one", {"claim_id": "<<cancel>>"}),
    claim("get", "nobody", {"claim_id": GONE}),
    claim("get", "no id", {}),
    claim("list", "all", {}),
    claim("list", "of a scope and a kind", {"scope": "session", "kind": "task"}),
    claim("list", "the first page", {"limit": 2}, claims="next_cursor"),
    claim("list", "the next page", {"limit": 2, "cursor": "<<claims>>"}),
    claim("list", "several problems", {"scope": "all", "kind": "rumour", "limit": 0}),
    claim("search", "words", {"query": "cancel 非同期"}),
    claim("search", "with its parts", {"query": "集合", "include_meta": True, "scope": ["project"]}),
    claim("search", "the first page", {"query": "集合は", "top_k": 1}, found="next_cursor"),
    claim("search", "the next page", {"query": "集合は", "top_k": 1, "cursor": "<<found>>"}),
    claim("search", "a cursor of another query", {"query": "other", "top_k": 1, "cursor": "<<found>>"}),
    claim("search", "an unknown scope", {"query": "x", "scope": ["all"]}),
    claim("search", "a purpose that is not mine", {"query": "x", "allow": ["admin:all"]}),
    claim("search", "too many", {"query": "x", "top_k": 51}),
    claim("activate", "a context", {"q": "subscriptions cancel", "allow": ["answer:task"], "top_k": 3},
          context="active_context_id"),
    claim("activate", "with its parts", {"q": "集合", "include_meta": True}),
    claim("activate", "no question", {}),
    claim("context.get", "again", {"active_context_id": "<<context>>"}),
    claim("context.get", "none", {"active_context_id": "ac_0190a00000007000800000000000000a"}),
    claim("feedback", "it helped", {"claim_id": "<<cancel>>", "signal": "helpful"}),
    claim("feedback", "once more", {"claim_id": "<<cancel>>", "signal": "helpful"}),
    claim("feedback", "a little outdated", {"claim_id": "<<cancel>>", "signal": "outdated", "score": 0.5}),
    claim("feedback", "nobody", {"claim_id": GONE, "signal": "helpful"}),
    claim("feedback", "several problems", {"claim_id": "<<cancel>>", "signal": "great", "score": 2}),
    claim("supersede", "an older one", {"claim_id": "<<nine>>", "by": "<<ten>>", "expected_version": 1}),
    claim("supersede", "the other way", {"claim_id": "<<ten>>", "by": "<<nine>>"}),
    claim("supersede", "stale", {"claim_id": "<<nine>>", "by": "<<ten>>", "expected_version": 1}),
    claim("supersede", "nobody", {"claim_id": GONE, "by": "<<ten>>"}),
    claim("list", "with those that are shadowed", {"superseded": True, "scope": "project"}),
    claim("history", "of one", {"claim_id": "<<cancel>>"}),
    claim("history", "of one that shadows", {"claim_id": "<<ten>>"}),
    claim("history", "nobody", {"claim_id": GONE}),
    claim("boundary.validate", "clean", {"payload": "床の間に花を活ける"}),
    claim("boundary.validate", "with a secret", {"payload": f"key {SECRET} と {MAIL}"}),
    claim("boundary.validate", "a purpose that is not mine", {"payload": "x", "allow": ["admin:all"]}),
    claim("boundary.validate", "no payload", {"scope": "all"}),
    claim("forget", "one, stale", {"claim_id": "<<tea>>", "expected_version": 9}),
    claim("forget", "one", {"claim_id": "<<tea>>"}),
    claim("forget", "once more", {"claim_id": "<<tea>>"}),
    claim("forget", "by its source, which is none", {"provenance": {"actor": "nobody"}}),
    claim("forget", "by a source of an unknown kind", {"provenance": {"colour": "red"}}),
    claim("forget", "nothing named", {}),
    call("claims.pce_memory_search", "by its listed name", {"query": "x"}),
    call("claims.serch", "an unknown tool", {"query": "x"}),
]  # fmt: skip

MASKING = """version: 2
boundary_classes:
  pii: { allow: ['answer:task'], redact: [pii] }
labels:
  - { module: memory, space: /hr, class: secret }
masks:
  - { module: manual, path: 'rules/*', kinds: [secret], class: internal }
"""


def settled() -> ToolStep:
    """Records follow a policy in the background."""
    return call("claims.policy.get", "every record follows", {}, until="data.relabelling")


POLICY = [
    call("memory.save", "personal", {
        "content": f"田中の連絡先は{MAIL}", "title": f"mail {MAIL}", "metadata": {"mail": MAIL}, "namespace": "people",
    }, person="memo_id"),
    call("memory.save", "of a space that will be hidden", {
        "content": "人事の話", "namespace": "hr/2020",
    }, staff="memo_id"),
    call("items.create_item", "personal", {
        "type": "person", "title": "Hanako", "content": f"Call 090-1234-5678 or {MAIL}",
    }, hanako="id"),
    claim("policy.get", "the first", {}),
    claim("policy.get", "one that never was", {"version": "9.9.9"}),
    claim("policy.apply", "only checked", {"yaml": MASKING, "validate_only": True}),
    claim("policy.apply", "tried", {"yaml": MASKING, "dry_run": True}),
    claim("policy.apply", "no YAML", {"yaml": "version: ["}),
    claim("policy.apply", "with mistakes", {
        "yaml": "version: 1\nfoo: 2\nboundary_classes: { pii: { allow: 5 }, top: {} }\nkinds: { email: huge }\n",
    }),
    claim("policy.apply", "stale", {"yaml": MASKING, "expected_version": "9.9.9"}),
    claim("policy.apply", "several problems", {"yaml": 5, "dry_run": "yes", "extra": 1}),
    claim("policy.apply", "in force", {"yaml": MASKING, "expected_version": "0.1.0", "approver": "me"}),
    settled(),
    call("memory.get", "masked", {"memo_id": "<<person>>"}),
    call("memory.search", "masked", {"query": "田中 連絡先", "namespace": "people"}),
    call("memory.list", "masked", {"namespace": "people"}),
    call(
        "memory.save",
        "a masked text is not written back",
        {"memo_id": "<<person>>", "content": "[masked:email] and more"},
    ),
    call("memory.get", "hidden", {"memo_id": "<<staff>>"}),
    call("memory.namespaces", "without what is hidden", {}),
    call("items.get_item_detail", "masked", {"type": "person", "id": "<<hanako>>"}),
    call("items.search_items", "masked", {"query": "Hanako", "mode": "text"}),
    claim("get", "masked", {"claim_id": "<<mail>>"}),
    claim("search", "masked", {"query": "write"}),
    claim("boundary.validate", "under the new policy", {"payload": MAIL, "allow": ["answer:task"]}),
    call("manual.read", "masked", {
        "ref": {"manual_id": "rules", "path": "keys.md", "start_line": 1}, "scope": "section",
    }),
    call("vault.read", "masked", {"path": "people.md", "full": True}),
    call("bridge.copy_section", "of what is masked", {
        "from_ref": {"address": "tokonoma://memory/<<person>>"}, "to_path": "copies/person.md",
    }),
    claim("policy.history", "all", {}),
    claim("policy.history", "the first page", {"limit": 1}, policies="next_cursor"),
    claim("policy.history", "the next page", {"limit": 1, "cursor": "<<policies>>"}),
    claim("policy.history", "a limit too large", {"limit": 101}),
    claim("policy.rollback", "to one that never was", {"version": "9.9.9"}),
    claim("policy.rollback", "stale", {"version": "0.1.0", "expected_version": "9.9.9"}),
    claim("policy.rollback", "to the first", {"version": "0.1.0", "expected_version": "2.0.0"}),
    settled(),
    call("memory.get", "plain again", {"memo_id": "<<person>>"}),
    call("memory.get", "seen again", {"memo_id": "<<staff>>"}),
    call("manual.read", "hidden again", {"ref": {"manual_id": "rules", "path": "keys.md", "start_line": 1}}),
]  # fmt: skip

CLAIMS = [*KEEPING, *POLICY]
