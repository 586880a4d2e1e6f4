"""Manuals, the vault, and copies from anywhere into the vault."""

from golden.steps import call

TERMS = """---
title: 利用規約
---
前文です。

# 第1条 定義
サービス利用契約（以下「本契約」という）をいう。

## 第３条 返品
利用者は返品を30日前に通知する。ただし、別表第1に定める場合はこの限りでない。詳しくは[料金](fees.md#fee)を参照。

# 別表第1
返品の例外: 天災。

# 連絡
窓口は平日に開く。
"""
CHART = """# Flow
source_lines: 1-10

```mermaid
flowchart TD
    %% source_lines: 1-2
    A([Start]) --> B{Ready?}
    B -- yes --> C[Ship it]
    %% source_lines: 7
    X[Nobody comes here] --> Y[Nor here]
```
"""
FILES = {
    "manuals/rules/terms.md": TERMS,
    "manuals/rules/fees.md": "# 料金 {#fee}\n返品手数料は1,000円。返品は14日前まで。[無い](nothing.md)\n",
    "manuals/rules/data.json": '{"返品": {"days": 30}}',
    "manuals/rules/keys.md": "# Keys\nUnless told so, a key looks like AKIAQ3EGRT5ZL2PWX7VN.\n\n# Other\nPlain.\n",
    "manuals/other/a.md": "# Printers\nHow to return a printer.\n",
    "vault/source.txt": "".join(f"line {number} of the source\n" for number in range(1, 101)),
    "vault/chart.md": CHART,
    "vault/notes/a.md": "# データベース\n設定の方法\n\n# 別の話\n何もない\n",
    "vault/notes/b.md": "# Setup\nデータ・ベースの設定はこちら\n",
    "vault/people.md": "# People\nhanako.tanaka@example.co.jp\n",
}
TERM = {"manual_id": "rules", "path": "terms.md", "start_line": 9}

MANUAL = [
    call("manual.list", "all", {}),
    call("manual.list", "an unknown field", {"page": 1}),
    call("manual.ls", "all", {}),
    call("manual.ls", "one", {"manual_id": "rules"}),
    call("manual.ls", "nobody", {"manual_id": "rulez"}),
    call("manual.ls", "a wrong cursor", {"cursor": "x"}),
    call("manual.toc", "one", {"manual_id": "rules"}),
    call("manual.toc", "one file", {"manual_id": "rules", "path": "terms.md"}),
    call("manual.toc", "a file that is not there", {"manual_id": "rules", "path": "none.md"}),
    call("manual.toc", "no manual", {}),
    call(
        "manual.find",
        "everything about it",
        {"query": "返品について網羅的に取得して", "manual_id": "rules"},
        run="trace_id",
    ),
    call("manual.find", "in all, with a term", {"query": "return", "must_include": ["深海魚"]}, wide="trace_id"),
    call("manual.find", "nothing", {"query": "xyzzy", "intent": "definition", "max_stage": 3}),
    call("manual.find", "with little to spend", {"query": "返品", "budget": {"max_candidates": 1}}, cut="trace_id"),
    call("manual.find", "the rest", {"query": "返品", "only_unscanned_from_trace_id": "<<cut>>"}),
    call("manual.find", "in a manual that is not there", {"query": "x", "manual_id": "none"}),
    call("manual.find", "several problems", {"query": "", "intent": "guess", "max_stage": 9, "budget": {"time_ms": 0}}),
    call("manual.hits", "candidates", {"trace_id": "<<run>>"}),
    call("manual.hits", "by file", {"trace_id": "<<run>>", "by": "file"}),
    call("manual.hits", "by words", {"trace_id": "<<run>>", "signals": ["heading", "normalized"], "limit": 2}),
    call("manual.hits", "contradictions", {"trace_id": "<<run>>", "kind": "conflicts"}),
    call("manual.hits", "gaps", {"trace_id": "<<wide>>", "kind": "gaps"}),
    call("manual.hits", "what was cut", {"trace_id": "<<cut>>", "kind": "unscanned"}),
    call("manual.hits", "the best", {"trace_id": "<<run>>", "kind": "integrated_top"}),
    call("manual.hits", "no such search", {"trace_id": "none"}),
    call("manual.hits", "several problems", {"trace_id": 5, "kind": "all", "limit": 0}),
    call("manual.read", "a snippet", {"ref": TERM}),
    call("manual.read", "a section", {"ref": TERM, "scope": "section", "trace_id": "<<run>>"}),
    call("manual.read", "several sections", {"ref": TERM, "scope": "sections", "limits": {"max_sections": 2}}),
    call("manual.read", "a file, cut", {"ref": TERM, "scope": "file", "limits": {"allow_file": True, "max_chars": 40}}),
    call("manual.read", "a file that may not be read whole", {"ref": TERM, "scope": "file"}),
    call("manual.read", "JSON", {"ref": {"manual_id": "rules", "path": "data.json"}}),
    call("manual.read", "what shows a key", {"ref": {"manual_id": "rules", "path": "keys.md", "start_line": 1}}),
    call("manual.read", "a file that is not there", {"ref": {"manual_id": "rules", "path": "none.md"}}),
    call("manual.read", "a path that leaves", {"ref": {"manual_id": "rules", "path": "../../x"}}),
    call("manual.read", "several problems", {"ref": [], "scope": "all", "limits": {"max_chars": 0}}),
    call("manual.excepts", "all", {}),
    call("manual.excepts", "of one file", {"ref": {"manual_id": "rules", "path": "terms.md"}}),
    call("manual.excepts", "nobody", {"manual_id": "none"}),
    call("manual.serch", "an unknown tool", {}),
]

HALF = {"start_line": 1, "end_line": 50}

VAULT = [
    call("vault.ls", "all", {}),
    call("vault.ls", "by folder and glob", {"relative_dir": "notes", "glob": "*.md"}),
    call("vault.ls", "a folder that is not there", {"relative_dir": "nowhere"}),
    call("vault.ls", "a glob that does not close", {"glob": "{a"}),
    call("vault.create", "a file", {
        "path": "drafts/one.md", "content": "# One\nfirst\n\n# Two\nsecond\n",
    }, one="version"),
    call("vault.create", "once more", {"path": "drafts/one.md", "content": "x"}),
    call("vault.create", "in other letters", {"path": "drafts/ONE.md", "content": "x"}),
    call("vault.create", "a path that leaves", {"path": "../x.md", "content": "x"}),
    call("vault.create", "a kind that may not be there", {"path": "artifacts/x.txt", "content": "x"}),
    call("vault.create", "a secret", {"path": "drafts/key.md", "content": "AKIAQ3EGRT5ZL2PWX7VN"}),
    call("vault.create", "several problems", {"path": 5, "text": "x"}),
    call("vault.write", "appended", {"path": "drafts/one.md", "content": "third", "mode": "append"}, two="version"),
    call("vault.write", "overwritten", {
        "path": "drafts/one.md", "content": "# One\n1st\n# Two\n2nd\n", "mode": "overwrite",
        "expected_version": "<<two>>",
    }),
    call("vault.write", "stale", {
        "path": "drafts/one.md", "content": "x", "mode": "overwrite", "expected_version": "<<one>>",
    }),
    call("vault.write", "what is not there", {"path": "drafts/none.md", "content": "x", "mode": "append"}),
    call("vault.write", "several problems", {"path": "drafts/one.md", "content": 5, "mode": "prepend"}),
    call("vault.replace", "a word", {"path": "drafts/one.md", "find": "1st", "replace": "first"}),
    call("vault.replace", "under a heading", {"path": "drafts/one.md", "heading": "Two", "replace": "second\n"}),
    call("vault.replace", "a word that is not there", {"path": "drafts/one.md", "find": "zebra", "replace": "x"}),
    call("vault.replace", "a heading that is not there", {"path": "drafts/one.md", "heading": "Three", "replace": "x"}),
    call("vault.replace", "both", {"path": "drafts/one.md", "find": "a", "heading": "Two", "replace": "x"}),
    call("vault.read", "whole", {"path": "drafts/one.md", "full": True}),
    call("vault.read", "a range", {"path": "source.txt", "range": {"start_line": 10, "end_line": 12}}),
    call("vault.read", "cut", {"path": "source.txt", "full": True, "limits": {"max_chars": 50}}),
    call("vault.read", "neither whole nor a range", {"path": "source.txt"}),
    call("vault.read", "beyond the end", {"path": "source.txt", "range": {"start_line": 101, "end_line": 102}}),
    call("vault.read", "what is not there", {"path": "none.md", "full": True}),
    call("vault.read", "several problems", {"path": "source.txt", "full": 5, "lines": 3}),
    call("vault.search", "plain", {"query": "設定"}),
    call("vault.search", "loose", {"query": "データベース", "mode": "loose"}),
    call("vault.search", "a pattern", {"query": r"line \d0 ", "mode": "regex", "limit": 2}, lines="next_cursor"),
    call("vault.search", "the next page", {"query": r"line \d0 ", "mode": "regex", "limit": 2, "cursor": "<<lines>>"}),
    call("vault.search", "a pattern that does not close", {"query": "(", "mode": "regex"}),
    call("vault.search", "several problems", {"query": "", "mode": "best", "limit": 201}),
    call("vault.find", "everything about it", {"query": "データベースの設定"}, places="trace_id"),
    call("vault.find", "gaps", {"query": "line zebra", "scope": {"glob": "*.txt"}}),
    call("vault.find", "with little to spend", {"query": "設定", "budget": {"max_candidates": 1}}, few="trace_id"),
    call("vault.find", "several problems", {"query": "", "budget": {"max_candidates": 201}}),
    call("vault.hits", "candidates", {"trace_id": "<<places>>"}),
    call("vault.hits", "what was cut", {"trace_id": "<<few>>", "kind": "unscanned"}),
    call("vault.hits", "no such search", {"trace_id": "none"}),
    call("vault.scan", "the first step", {"path": "source.txt", "chunk_lines": 20}, walk="next_cursor"),
    call("vault.scan", "the next step", {"path": "source.txt", "chunk_lines": 20, "cursor": "<<walk>>"}),
    call("vault.scan", "a cursor of another file", {"path": "chart.md", "cursor": "<<walk>>"}),
    call("vault.scan", "what is not there", {"path": "none.md"}),
    call("vault.scan", "a step too long", {"path": "source.txt", "chunk_lines": 201}),
    call("vault.coverage", "half", {"path": "source.txt", "cited_ranges": [HALF]}),
    call("vault.coverage", "as before", {"path": "source.txt"}),
    call("vault.coverage", "beyond the end", {
        "path": "source.txt", "cited_ranges": [{"start_line": 5, "end_line": 999}],
    }),
    call("vault.coverage", "what is not there", {"path": "none.md"}),
    call("vault.audit", "a flowchart", {"artifact_path": "chart.md", "source_path": "source.txt"}),
    call("vault.artifact_audit", "by its listed name", {
        "artifact_path": "chart.md", "source_path": "source.txt", "cited_ranges": [HALF],
    }),
    call("vault.audit", "what is not there", {"artifact_path": "none.md", "source_path": "source.txt"}),
    call("vault.move", "to another name", {"from_path": "drafts/one.md", "to_path": "drafts/moved.md"}),
    call("vault.move", "what is not there", {"from_path": "drafts/one.md", "to_path": "drafts/x.md"}),
    call("vault.move", "where something is", {"from_path": "drafts/moved.md", "to_path": "chart.md"}),
    call("vault.history", "also before it was moved", {"path": "drafts/moved.md"}),
    call("vault.history", "the first page", {"path": "drafts/moved.md", "limit": 1}, older="next_cursor"),
    call("vault.history", "the next page", {"path": "drafts/moved.md", "limit": 1, "cursor": "<<older>>"}),
    call("vault.history", "what is not there", {"path": "none.md"}),
    call("vault.restore", "the first version", {"path": "drafts/moved.md", "version": "<<one>>"}),
    call("vault.restore", "a version that never was", {"path": "drafts/moved.md", "version": "0" * 64}),
    call("vault.restore", "stale", {"path": "drafts/moved.md", "version": "<<two>>", "expected_version": "<<two>>"}),
    call("vault.reed", "an unknown tool", {}),
]  # fmt: skip

BRIDGE = [
    call("bridge.copy_section", "of a manual", {
        "from_ref": {"target": "manual", **TERM}, "to_path": "artifacts/two.md",
    }),
    call("bridge.copy_section", "appended", {"from_ref": TERM, "to_path": "artifacts/two.md", "mode": "append"}),
    call("bridge.copy_section", "a memo", {
        "from_ref": {"address": "tokonoma://memory/<<kettle>>"}, "to_path": "copies/memo.md", "trace_id": "<<run>>",
    }),
    call("bridge.copy_section", "an item", {
        "from_ref": {"address": "tokonoma://items/<<oil>>"}, "to_path": "copies/i.md",
    }),
    call("bridge.copy_section", "lines of the vault", {
        "from_ref": {"target": "vault", "path": "source.txt", "start_line": 2, "end_line": 4}, "to_path": "copies/v.md",
    }),
    call("bridge.copy_section", "where something is", {"from_ref": TERM, "to_path": "artifacts/two.md"}),
    call("bridge.copy_section", "too long", {"from_ref": TERM, "to_path": "new.md", "limits": {"max_chars": 5}}),
    call("bridge.copy_section", "from nowhere", {"from_ref": {}, "to_path": "x.md"}),
    call("bridge.copy_section", "a memo that is not there", {
        "from_ref": {"address": "tokonoma://memory/none"}, "to_path": "x.md",
    }),
    call("bridge.copy_section", "of a search that never was", {
        "from_ref": TERM, "to_path": "x.md", "trace_id": "none",
    }),
    call("bridge.copy_section", "several problems", {"from_ref": 5, "mode": "move", "to_path": 7}),
    call("bridge.copy_file", "whole", {"manual_id": "rules", "from_path": "fees.md", "to_path": "copies/fees.md"}),
    call("bridge.copy_file", "what is not there", {"manual_id": "rules", "from_path": "none.md", "to_path": "x.md"}),
    call("bridge.copy_file", "a path that leaves", {"manual_id": "rules", "from_path": "../../x", "to_path": "x.md"}),
    call("bridge.copy_file", "with a secret in it", {"manual_id": "rules", "from_path": "keys.md", "to_path": "x.md"}),
    call("bridge.copy_file", "no manual", {"from_path": "a.md"}),
]  # fmt: skip
