"""What the audit is asked: sources, attempts to fool it, and honest artifacts, all written for these tests."""

from typing import Any

# ruff: noqa: E501 - one case is one line

HANDBOOK = """\
# Handbook of the Harbour Library

Backups run every night at 2 and are kept for 30 days.
The administrator must approve new accounts.
Passwords must be changed every 90 days.
Do not share the master key with contractors.
Refunds are paid within 14 days of the purchase.

## Loans

Members may borrow up to 6 books for 21 days.
Alice reports to Bob.
Overdue books cost 50 yen per day.
Reference books cannot be borrowed.
The reading room is closed on Mondays.

| item | limit |
|------|-------|
| maps | 2 |
| records | 4 |

## Servers

The catalogue server restarts after every update.
Carol approves invoices and Dan deletes old logs.
Logs are encrypted before they leave the building.
A failed import is repeated three times.
The export has a limit of 1.5 GB.
"""

KISOKU = """\
# 図書室の規則

バックアップは毎晩2時に実行し、30日間保管する。
新しいアカウントは管理者が承認しなければならない。
パスワードは90日ごとに変更する。
資料の写真を共有できる。
返金は購入から14日以内に支払う。

## 貸出

会員は6冊まで21日間借りることができる。
田中が鈴木に報告する。
参考図書は貸し出しできない。
閲覧室は月曜日に休みである。
延滞料は1日につき50円とする。
"""

_SAID = {"text": "Backups run every night at 2", "source_lines": "3"}

Attempt = tuple[str, str, str]
"""A name, what the artifact says, and the source: en or ja."""

ATTEMPTS: tuple[Attempt, ...] = (
    ("everything is cited for something made up", "- The moon is cheese (source_lines: 1-28)", "en"),
    ("everything is cited for something true", "- The moon is cheese and backups run (source_lines: 1-28)", "en"),
    ("one line is cited for something made up", "- Dragons guard the vault (source_lines: 3)", "en"),
    ("a number is ten times as large", "- Backups are kept for 300 days (source_lines: 3)", "en"),
    ("a number is ten times as large, in Japanese", "- バックアップは300日間保管する (source_lines: 3)", "ja"),
    ("a unit is another one", "- Backups are kept for 30 hours (source_lines: 3)", "en"),
    ("a unit is another one, in Japanese", "- バックアップを30年間保管する (source_lines: 3)", "ja"),
    ("a number of another sentence", "- Overdue books cost 90 yen per day (source_lines: 1-28)", "en"),
    ("two numbers of one sentence change places", "- Members may borrow up to 21 books for 6 days (source_lines: 11)", "en"),
    ("a decimal point is gone", "- The export has a limit of 15 GB (source_lines: 28)", "en"),
    ("a negation is added", "- Backups do not run every night at 2 (source_lines: 3)", "en"),
    ("a negation is removed", "- Share the master key with contractors (source_lines: 6)", "en"),
    ("a negation is removed from cannot", "- Reference books can be borrowed (source_lines: 14)", "en"),
    ("a negation is added in Japanese", "- 資料の写真を共有できない (source_lines: 6)", "ja"),
    ("a negation is removed in Japanese", "- 参考図書は貸し出しできる (source_lines: 13)", "ja"),
    ("subject and object change places", "- Bob reports to Alice (source_lines: 12)", "en"),
    ("subject and object by their particles", "- 田中に鈴木が報告する (source_lines: 12)", "ja"),
    ("the passive turns it round", "- Alice is reported to by Bob (source_lines: 12)", "en"),
    ("words of two statements in one sentence", "- Carol deletes old logs (source_lines: 25)", "en"),
    ("words of far lines in another order", "- The administrator encrypted 6 invoices (source_lines: 1-28)", "en"),
    ("before becomes after", "- Logs are encrypted after they leave the building (source_lines: 26)", "en"),
    ("within becomes after", "- Refunds are paid after 14 days of the purchase (source_lines: 7)", "en"),
    ("may becomes must", "- Members must borrow up to 6 books for 21 days (source_lines: 11)", "en"),
    ("a name is another one", "- The gardener must approve new accounts (source_lines: 4)", "en"),
    ("the claim is in a comment and the text is empty", "- <!-- Backups run every night --> (source_lines: 3)", "en"),
    ("the words are hidden in a comment", "- The moon is cheese <!-- Backups run --> (source_lines: 3)", "en"),
    ("words with invisible characters", "- The m\u200boon is ch\u00adeese (source_lines: 3)", "en"),
    ("the claim is the text of a picture", "- ![The moon is cheese](backups.png) (source_lines: 3)", "en"),
    ("letters of another script", "- B\u0430ckups are kept f\u043er 30 d\u0430ys of che\u0435se (source_lines: 3)", "en"),
    ("the citation is in a code block", "Backups run every night at 2.\n\n```\nsource_lines: 3\n```", "en"),
    ("a reversed range", "- Backups run every night at 2 (source_lines: 5-3)", "en"),
    ("line 0", "- Backups run every night at 2 (source_lines: 0)", "en"),
    ("a negative line", "- Backups run every night at 2 (source_lines: -3)", "en"),
    ("lines beyond the end", "- Backups run every night at 2 (source_lines: 3-4000)", "en"),
    ("a line number of fifty digits", f"- Backups run every night at 2 (source_lines: {'9' * 50})", "en"),
    ("ranges that overlap, one of them beyond the end", "- Backups run (source_lines: 3-4, 3-5, 4-99)", "en"),
    ("an element without text", "- (source_lines: 3)", "en"),
    ("an element of stop words", "- It is what they are (source_lines: 3)", "en"),
    ("an element of numbers", "- 30 (source_lines: 3)", "en"),
    ("a blank line is cited", "- Backups run every night at 2 (source_lines: 2)", "en"),
    ("a row cites the header of the table", "| a | b |\n|---|---|\n| maps | 2 <!-- source_lines: 17 --> |", "en"),
    ("a row with the number of another row", "| a | b |\n|---|---|\n| maps | 4 <!-- source_lines: 17-20 --> |", "en"),
    ("the words are only in a heading", "- The harbour library has a handbook (source_lines: 1)", "en"),
    ("a claim in a quotation", "> The moon is cheese (source_lines: 3)", "en"),
    ("a claim in raw HTML", "<div>The moon is cheese</div> (source_lines: 3)", "en"),
    ("a claim after the items of a list", "- Backups run every night (source_lines: 3)\n  - Alice reports to Bob (source_lines: 12)\n\n  The moon is cheese (source_lines: 3)", "en"),
    ("a second sentence is made up", "- Alice reports to Bob. The moon is cheese. (source_lines: 12)", "en"),
    ("a label with quotes in quotes", '```mermaid\nflowchart TD\nA["Backups run \\"and the moon is cheese\\""] %% source_lines: 3\n```', "en"),
    ("an arrow is turned round", "```mermaid\nsequenceDiagram\nBob->>Alice: reports %% source_lines: 12\n```", "en"),
    ("a note in a sequence diagram", "```mermaid\nsequenceDiagram\nNote over Alice: The moon is cheese %% source_lines: 12\n```", "en"),
    ("a title of a subgraph", "```mermaid\nflowchart TD\n%% source_lines: 3\nsubgraph The moon is cheese\nend\n```", "en"),
    ("a chart of another kind", '```mermaid\npie\n"The moon is cheese" : 30 %% source_lines: 3\n```', "en"),
    ("another language, made up", "- 月はチーズでできている (source_lines: 3)", "en"),
    ("another language, another number", "- バックアップは300日間保管する (source_lines: 3)", "en"),
    ("another language, denied", "- 新しいアカウントは管理者が承認しない (source_lines: 4)", "en"),
    ("another language, another subject", "- 新しいアカウントは庭師が承認しなければならない (source_lines: 4)", "en"),
    ("an older version is cited", "- Backups run every night at 2 (source_lines: 3@0123456789ab)", "en"),
    ("a source that is not given", "- Backups run every night at 2 (source_lines: other.md:3)", "en"),
    ("the last of many sentences is made up", f"{'Backups run every night at 2. ' * 45}The moon is cheese. (source_lines: 3)", "en"),
    ("a number in thousands", "- Backups are kept for 30k days (source_lines: 3)", "en"),
    ("a number in ten thousands", "- 会員は6万冊まで借りることができる (source_lines: 11)", "ja"),
    ("a number becomes negative", "- Members may borrow up to -6 books (source_lines: 11)", "en"),
    ("a number becomes a share", "- Members may borrow up to 6% books (source_lines: 11)", "en"),
    ("the claim is the title of a link", '- [Backups](http://x "The moon is cheese") run every night (source_lines: 3)', "en"),
    ("the claim is the text of a picture in HTML", '- Backups run every night <img src="a" alt="The moon is cheese"> (source_lines: 3)', "en"),
    ("the claim is shown by a pointer", "- <b title='The moon is cheese'>Backups run every night</b> (source_lines: 3)", "en"),
    ("the claim is the name of a column", "| The moon is cheese | b |\n|---|---|\n| maps | 2 <!-- source_lines: 17-19 --> |", "en"),
    ("the claim is the name of a column, in Japanese", "| 月はチーズでできている | b |\n|---|---|\n| パスワード | 90日 <!-- source_lines: 5 --> |", "ja"),
    ("the claim is the title of a chart", "```mermaid\n---\ntitle: The moon is cheese\n---\nflowchart TD\nA[Backups run every night] %% source_lines: 3\n```", "en"),
    ("the claim is the description of a chart", "```mermaid\nflowchart TD\naccTitle: The moon is cheese\nA[Backups run every night] %% source_lines: 3\n```", "en"),
    ("the claim is shown by a pointer in a chart", '```mermaid\nflowchart TD\nA[Backups run every night] %% source_lines: 3\nclick A "http://x" "The moon is cheese"\n```', "en"),
)  # fmt: skip

JSON_ATTEMPTS: tuple[tuple[str, Any], ...] = (
    ("a list of texts", ["The moon is cheese"]),
    ("a text", "The moon is cheese"),
    ("a text beside an object", [_SAID, "The moon is cheese"]),
    ("a list in a list", _SAID | {"more": [["The moon is cheese"]]}),
    ("a list in a list in a list", [[[["The moon is cheese"]]]]),
    ("a key", _SAID | {"The moon is cheese": None}),
    ("a key in Japanese", _SAID | {"月はチーズでできている": None}),
    ("a key of an object", _SAID | {"The moon is cheese": _SAID}),
    ("an id", _SAID | {"id": "The moon is cheese"}),
    ("a type", _SAID | {"type": "The moon is cheese"}),
    ("the start", _SAID | {"start": "The moon is cheese"}),
    ("an end of an object that is no edge", _SAID | {"id": "a", "from": "The moon is cheese", "to": "a"}),
    ("an edge between names that are no objects", [_SAID | {"id": "a"}, {"from": "The moon is cheese", "to": "a"}]),
    ("a negative number", _SAID | {"days": -30}),
    ("nothing", {}),
    ("only true", {"source_lines": "3", "backups": True}),
)

HONEST: tuple[Attempt, ...] = (
    ("", "# Backups (source_lines: 3)", "en"),
    ("", "- Backups run every night at 2 (source_lines: 3)", "en"),
    ("", "- Backups are kept for 30 days (source_lines: 3)", "en"),
    ("", "- The backups are kept for thirty days. (source_lines: 3)", "en"),
    ("", "- New accounts are approved by the administrator (source_lines: 4)", "en"),
    ("", "- The administrator approves accounts (source_lines: 4)", "en"),
    ("", "- Passwords must be changed every 90 days (source_lines: 5)", "en"),
    ("", "- Passwords change every 90 days (source_lines: 5)", "en"),
    ("", "- Never share the master key with contractors (source_lines: 6)", "en"),
    ("", "- Contractors must not get the master key (source_lines: 6)", "en"),
    ("", "- A refund is paid within 14 days of the purchase (source_lines: 7)", "en"),
    ("", "- Refunds within two weeks (source_lines: 7)", "en"),
    ("", "- Members may borrow 6 books (source_lines: 9-11)", "en"),
    ("", "- Loans last 21 days (source_lines: 9-11)", "en"),
    ("", "- Alice reports to Bob (source_lines: 12)", "en"),
    ("", "- Bob receives the reports of Alice (source_lines: 12)", "en"),
    ("", "- Overdue books: 50 yen per day (source_lines: 13)", "en"),
    ("", "- It is not possible to borrow reference books (source_lines: 14)", "en"),
    ("", "- On Mondays the reading room is closed (source_lines: 15)", "en"),
    ("", "| item | limit | source_lines |\n|---|---|---|\n| maps | 2 | 17-19 |\n| records | 4 | 17-20 |", "en"),
    ("", "- The server restarts after updates (source_lines: 24)", "en"),
    ("", "- Dan deletes old logs (source_lines: 25)", "en"),
    ("", "- Logs are encrypted before leaving the building (source_lines: 26)", "en"),
    ("", "- Imports that fail are repeated 3 times (source_lines: 27)", "en"),
    ("", "- The limit of the export is 1.5 GB (source_lines: 28)", "en"),
    ("", "Logs are encrypted. The catalogue server restarts. (source_lines: 24-26)", "en"),
    ("", "```mermaid\nsequenceDiagram\nAlice->>Bob: reports %% source_lines: 12\n```", "en"),
    ("", "```mermaid\nstateDiagram-v2\n%% source_lines: 24\nupdate --> restarts\n```", "en"),
    ("", "```mermaid\nerDiagram\n%% source_lines: 11\nMEMBERS ||--o{ BOOKS : borrow\n```", "en"),
    ("", "```mermaid\nflowchart TD\nA{Borrowed?} -- no --> B[Reference books] %% source_lines: 14\n```", "en"),
    ("", "```mermaid\nclassDiagram\n%% source_lines: 26\nclass Logs\n```", "en"),
    ("", "```mermaid\nflowchart TD\nA[Backups run every night] --> B[Backups are kept for 30 days] %% source_lines: 3\n```", "en"),
    ("", "# バックアップ (source_lines: 3)", "ja"),
    ("", "- バックアップは毎晩2時に実行する (source_lines: 3)", "ja"),
    ("", "- バックアップは三十日間保管される (source_lines: 3)", "ja"),
    ("", "- 新しいアカウントは管理者の承認が必要 (source_lines: 4)", "ja"),
    ("", "- 管理者が新しいアカウントを承認する (source_lines: 4)", "ja"),
    ("", "- パスワードは90日ごとに変える (source_lines: 5)", "ja"),
    ("", "- 写真は共有してよい (source_lines: 6)", "ja"),
    ("", "- 購入から14日以内に返金する (source_lines: 7)", "ja"),
    ("", "- 会員は6冊まで借りられる (source_lines: 9-11)", "ja"),
    ("", "- 貸出は21日間 (source_lines: 9-11)", "ja"),
    ("", "- 田中が鈴木に報告する (source_lines: 12)", "ja"),
    ("", "- 参考図書の貸出は不可 (source_lines: 13)", "ja"),
    ("", "- 閲覧室の休みは月曜日 (source_lines: 14)", "ja"),
    ("", "- 延滞料は一日50円 (source_lines: 15)", "ja"),
    ("", "- バックアップは毎晩2時に実行され、30日間保管される (source_lines: 3)", "en"),
    ("", "- 新しいアカウントは管理者が承認しなければならない (source_lines: 4)", "en"),
    ("", "- パスワードは90日ごとに変更しなければならない (source_lines: 5)", "en"),
    ("", "- マスターキーを業者と共有してはならない (source_lines: 6)", "en"),
    ("", "- 返金は購入から14日以内に支払われる (source_lines: 7)", "en"),
    ("", "- 会員は6冊まで21日間借りることができる (source_lines: 11)", "en"),
    ("", "- 閲覧室は月曜日に閉まる (source_lines: 15)", "en"),
    ("", "- ログは暗号化される (source_lines: 26)", "en"),
    ("", "- Backups run every night at 2 and are kept for 30 days (source_lines: 3)", "ja"),
    ("", "- The administrator must approve new accounts (source_lines: 4)", "ja"),
    ("", "- Passwords are changed every 90 days (source_lines: 5)", "ja"),
    ("", "- Refunds are paid within 14 days of the purchase (source_lines: 7)", "ja"),
    ("", "- Members can borrow up to 6 books for 21 days (source_lines: 11)", "ja"),
    ("", "- The reading room is closed on Monday (source_lines: 14)", "ja"),
    ("", "- The late fee is 50 yen per day (source_lines: 15)", "ja"),
)  # fmt: skip
