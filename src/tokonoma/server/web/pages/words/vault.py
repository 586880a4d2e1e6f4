"""Words of the pages of the vault: files, versions, audits."""

WORDS = {
    # Folders
    "Plain files in a folder that agents and you share. Every change keeps the version before it.": (
        "エージェントとあなたが共有するフォルダーの、ふつうのファイルです。変更のたびに、変更前の版が残ります。"
    ),
    "Files and folders": "ファイルとフォルダー",
    "New file": "新しいファイル",
    "Coverage": "読了範囲",
    "Deleted files": "削除したファイル",
    "Lines": "行数",
    "Changed": "更新日時",
    "Not listed": "一覧にないファイル",
    "No file is in this folder.": "このフォルダーにファイルはありません。",
    "No file is here yet. Agents write files with vault_create; you can write the first one here with New file, or put"
    " files into the folder of the vault.": (
        "ファイルはまだありません。エージェントは vault_create でファイルを書きます。"
        "「新しいファイル」で作成するか、vault のフォルダーにファイルを置くこともできます。"
    ),
    "Only below this folder": "このフォルダーの下だけ",
    "Every section of the vault about a topic, with an account of what was searched and what was not.": (
        "ある話題に関するファイル内のセクションをすべて探し、調べた範囲と調べていない範囲を示します。"
    ),
    # Reading
    "This file is empty.": "このファイルは空です。",
    "This is an earlier version of the file.": "これはファイルの以前の版です。",
    "Current version": "現在の版",
    "More lines": "続きの行",
    "A line is too long to be shown whole.": "長すぎて全体を表示できない行があります。",
    "This file is not there any more. Its versions are kept.": "このファイルはもうありませんが、版は残っています。",
    # Writing
    "Content": "内容",
    "Your text": "あなたの内容",
    "It is written in {encoding}. Saving stores it in UTF-8.": (
        "文字コードは {encoding} です。保存すると UTF-8 になります。"
    ),
    "This file is too long to be edited here. Open it on the disk with a program of yours.": (
        "長すぎるため、ここでは編集できません。ディスク上のファイルを手元のエディターで開いてください。"
    ),
    "The policy hides parts of this file from you. Saving it here would overwrite them, so it cannot be edited here.": (
        "ポリシーにより、このファイルの一部が隠されています。保存するとその部分が失われるため、ここでは編集できません。"
    ),
    "The file was changed while you wrote. Lines with a minus are there now, lines with a plus are yours. Saving again"
    " replaces the other text, which stays as a version.": (
        "編集中に、ほかでファイルが変更されました。− の行はいまの内容、+ の行はあなたの内容です。"
        "もう一度保存すると、いまの内容は版として残り、あなたの内容に置き換わります。"
    ),
    "What is there now": "いまの内容",
    "Folders are made as needed. artifacts/ takes .md and .json only.": (
        "フォルダーは必要に応じて作成されます。artifacts/ に置けるのは .md と .json だけです。"
    ),
    "Open the file that is there": "すでにあるファイルを開く",
    # Moving and deleting
    "New path": "新しいパス",
    "Folders are made as needed. The history moves with the file.": (
        "フォルダーは必要に応じて作成されます。履歴も一緒に移動します。"
    ),
    "Change links to this file, and its own relative links": (
        "このファイルへのリンクと、ファイル内の相対リンクを書き換える"
    ),
    "{count} sections link to this file.": "このファイルへのリンクがあるセクション: {count}",
    "Links were changed in": "リンクを書き換えたファイル",
    "Links could not be changed in": "リンクを書き換えられなかったファイル",
    "Open the file": "ファイルを開く",
    "The file is removed from the vault and from searches. Its content stays as a version, so that it can be restored"
    " from the deleted files.": (
        "ファイルは一覧と検索結果から消えます。内容は版として残るため、「削除したファイル」から復元できます。"
    ),
    "The last content of each is kept as a version. Restoring it puts the file back in its place.": (
        "最後の内容が版として残っています。復元すると、ファイルは元の場所に戻ります。"
    ),
    "No file was deleted.": "削除したファイルはありません。",
    "By": "操作した人",
    "Restore {name}": "{name} を復元",
    # History
    "Changes": "変更の一覧",
    "Version before": "変更前の版",
    "This file was not changed through Tokonoma yet.": "このファイルは、まだ Tokonoma から変更されていません。",
    "overwritten": "上書き",
    "appended to": "追記",
    "text replaced": "置換",
    "moved": "移動済み",
    "links changed": "リンクの書き換え",
    "restored": "復元済み",
    "deleted": "削除済み",
    "Compare two versions": "2 つの版を比べる",
    "current": "現在",
    "Compare": "比べる",
    "What differs": "違い",
    "Nothing differs.": "違いはありません。",
    "These versions are too long to be compared here.": "長すぎるため、ここでは比べられません。",
    "The file gets the content of version {version} again. Its present content stays as a version.": (
        "ファイルの内容を版 {version} に戻します。いまの内容も版として残ります。"
    ),
    "The file is put back with the content of version {version}.": "版 {version} の内容でファイルを元に戻します。",
    # Audit
    "Audit": "監査",
    "Whether the lines that each element cites say what it says, and whether you have read them as they are now. The"
    " audit compares words; it does not understand them.": (
        "各要素が引用した行に同じ内容が書かれているか、その行をいまの内容で読んだかを調べます。"
        "監査は語を比べるだけで、意味を理解するわけではありません。"
    ),
    "Sources, one per line": "出典（1 行に 1 つ）",
    "A file of the vault by its path; a file of a manual as manual:NAME/path. Citations that name none mean the"
    " first.": (
        "ファイルはパスで、マニュアルのファイルは manual:名前/パス で指定します。"
        "出典名のない引用は、先頭の出典を指します。"
    ),
    "Run the audit": "監査する",
    "Elements": "要素",
    "Element": "要素の内容",
    "All elements": "すべての要素",
    "Line": "行",
    "Status": "判定",
    "Cited lines": "引用した行",
    "Found in": "見つかった行:",
    "Words found together": "まとまって見つかった語の割合",
    "Supported": "裏づけのある要素",
    "With a citation": "引用のある要素",
    "Sources read and cited": "読んで引用した出典の行",
    "supported": "裏づけあり",
    "weak": "裏づけが弱い",
    "unsupported": "裏づけなし",
    "cited lines unread": "引用行が未読",
    "out of date": "古い引用",
    "Words are missing in the cited lines.": "引用した行にない語があります。",
    "It has no words that could be compared.": "比べられる語がありません。",
    "Numbers are not in the cited lines.": "引用した行にない数値があります。",
    "Only its numbers are there.": "数値だけが一致しています。",
    "The cited lines say the opposite.": "引用した行は反対のことを述べています。",
    "Must and may differ.": "義務と許可の表現が異なります。",
    "The words are spread over several sentences.": "語が複数の文に分かれています。",
    "The words are there in another order.": "語の順序が異なります。",
    "The words are related in another way.": "語の関係が異なります。",
    "It cites more than 40 lines.": "引用が 40 行を超えています。",
    "The words are only in a heading.": "語が見出しにしかありません。",
    "Without an embedding model its meaning cannot be compared.": "埋め込みモデルがないため、意味を比べられません。",
    "It cites no lines.": "引用がありません。",
    "It cites a file that is not among the sources.": "出典に含まれないファイルを引用しています。",
    "It cites lines that the source does not have.": "出典にない行を引用しています。",
    "It cites another version of the source.": "出典の別の版を引用しています。",
    "The cited lines changed after they were read.": "引用した行は、読んだあとに変更されています。",
    "The cited lines were not read as they are now.": "引用した行を、いまの内容でまだ読んでいません。",
    "heading": "見出し",
    "paragraph": "段落",
    "list item": "箇条書き",
    "table row": "表の行",
    "node": "ノード",
    "edge": "エッジ",
    "group": "グループ",
    "JSON object": "JSON のオブジェクト",
    "How elements are connected": "要素のつながり",
    "No path leads to it.": "ここへたどり着く経路がありません。",
    "There is no such element.": "その要素はありません。",
    "There is no reference back.": "逆向きの参照がありません。",
    "Coverage of the sources": "出典の読了範囲",
}

NOTICES = {"moved": "Moved."}
