"""Words of merging, moving and removing memos."""

WORDS = {
    # Duplicates and merging
    "Groups of memos that say nearly the same, newest first.": "ほぼ同じ内容のメモを、新しい順にまとめて表示します。",
    "At least this alike": "類似度の下限",
    "Look": "探す",
    "{count} memos, {share} % alike": "{count} 件のメモ（類似度 {share}%）",
    "None among these {count} memos.": "{count} 件のメモを調べましたが、重複はありませんでした。",
    "{count} memos were compared with the others.": "{count} 件のメモをほかのメモと比較しました。",
    "Compare and merge": "比較して統合",
    "Merge memos": "メモの統合",
    "Which one stays?": "残すメモ",
    "Leave this one alone": "このメモは統合しない",
    "What differs from the first choice": "選択中のメモとの違い",
    "Text of the memo that stays": "残すメモの本文",
    "As it is": "そのまま",
    "With the texts of the others after it, unless it contains them": (
        "ほかのメモの本文を後ろに加える（すでに含まれている場合を除く）"
    ),
    "What happens": "統合の内容",
    "The memo that stays gets the metadata and the relations of the others. Where values differ, its own stay.": (
        "残すメモが、ほかのメモのメタデータと関係を引き継ぎます。値が異なる場合は、残すメモの値を使います。"
    ),
    "The others go to the trash and say where they went. Each can be restored.": (
        "ほかのメモはごみ箱に移り、統合先が記録されます。1 件ずつ復元できます。"
    ),
    "The version before stays in the history.": "統合前の版は履歴に残ります。",
    "Choose the memo that stays.": "残すメモを選んでください。",
    "Choose at least two memos.": "メモを 2 件以上選んでください。",
    # Several at once
    "Memos to move: {count}": "{count} 件のメモを移動",
    "Memos for the trash: {count}": "{count} 件のメモをごみ箱へ移動",
    "Memos to restore: {count}": "{count} 件のメモを復元",
    "To the namespace": "移動先の名前空間",
    "Give the namespace that they move to.": "移動先の名前空間を入力してください。",
    "All of them move, or none. Their history and relations go along.": (
        "すべて移動するか、1 件も移動しないかのどちらかです。履歴と関係も一緒に移動します。"
    ),
    "They are not found any more, and their relations are hidden. The trash brings both back.": (
        "検索で見つからなくなり、関係も表示されなくなります。ごみ箱から復元すると、どちらも元に戻ります。"
    ),
    # Trash
    "Deleted memos, with their history. They can be restored until they are purged.": (
        "削除したメモと、その履歴です。完全に削除するまで復元できます。"
    ),
    "Memos whose time is over. A restored one does not expire again.": (
        "期限が切れたメモです。復元したメモに期限はつきません。"
    ),
    "Expired at": "期限切れ日時",
    "Restore the selected": "選択したメモを復元",
    "The trash is empty. Memos that you or agents delete appear here.": (
        "ごみ箱は空です。あなたやエージェントが削除したメモがここに表示されます。"
    ),
    "No memo has expired. Memos that are saved with an expiry appear here afterwards.": (
        "期限切れのメモはありません。期限つきで保存したメモは、期限が切れるとここに表示されます。"
    ),
    "Purge old memos": "古いメモを完全に削除",
    "Deleted and expired memos are removed for good, with their history and relations. Backups may still hold them.": (
        "削除済みと期限切れのメモを、履歴や関係とともに完全に削除します。バックアップには残っている場合があります。"
    ),
    "Older than this many days": "経過日数（これより古いもの）",
    "Give a number of days from 0 to 36500.": "日数は 0 から 36500 までの数値で入力してください。",
    "Count": "件数を確認",
    "{deleted} deleted and {expired} expired memos would be removed.": (
        "削除済み {deleted} 件と期限切れ {expired} 件が対象です。"
    ),
    "Remove them for good. This cannot be undone.": "完全に削除する。この操作は取り消せません。",
    "Tick the box first: this cannot be undone.": "取り消せない操作です。先に確認欄にチェックを入れてください。",
    "Purge": "完全に削除",
    # After a form
    "Moved to the trash.": "ごみ箱へ移動しました。",
    "Merged.": "統合しました。",
    "Removed for good.": "完全に削除しました。",
    "Nothing is selected. Tick memos first.": "何も選択されていません。先にメモを選択してください。",
}

NOTICES = {
    "moved": "Moved.",
    "trashed": "Moved to the trash.",
    "merged": "Merged.",
    "purged": "Removed for good.",
    "none_chosen": "Nothing is selected. Tick memos first.",
}
