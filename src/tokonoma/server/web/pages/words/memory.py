"""Words of the pages of memos."""

WORDS = {
    # Tabs and headings
    "Memos": "メモ一覧",
    "Duplicates": "重複",
    "Trash": "ごみ箱",
    "Expired": "期限切れ",
    "New memo": "新しいメモ",
    "Notes in free text that agents and you have saved.": "エージェントやあなたが保存した、自由な文章のメモです。",
    # Search and filters
    "Search in memos": "メモを検索",
    "How": "検索方法",
    "Words and meaning": "語と意味",
    "Only words": "語のみ",
    "Only meaning": "意味のみ",
    "Order of the list": "一覧の並び順",
    "Last changed first": "更新が新しい順",
    "Longest unchanged first": "更新が古い順",
    "Newest first": "作成が新しい順",
    "Oldest first": "作成が古い順",
    "By title": "タイトル順",
    "Next to expire first": "期限が近い順",
    "Filters": "絞り込み",
    "Thread": "スレッド",
    "Thread {name}": "スレッド「{name}」",
    "Since": "開始日",
    "Until": "終了日",
    "Valid on": "この日に有効",
    "Metadata": "メタデータ",
    "Key": "キー",
    "Key of the metadata": "メタデータのキー",
    "Condition": "条件",
    "Value": "値",
    "is": "が次と等しい",
    "contains": "が次を含む",
    "starts with": "が次で始まる",
    "one of": "が次のいずれか",
    "at least": "が次以上",
    "at most": "が次以下",
    "is there": "がある",
    "is not there": "がない",
    "All conditions must hold. Write nested keys with dots. An empty key removes its line.": (
        "すべての条件を満たすメモだけを表示します。入れ子のキーはドットでつなぎます。キーを空にした行は無視されます。"
    ),
    "A key can have each condition once. Use one of for several values.": (
        "同じキーに同じ条件を 2 回指定することはできません。複数の値には「次のいずれか」を使ってください。"
    ),
    "Why is a memo not found? Its id or address": "見つからない理由を調べるメモ（ID またはアドレス）",
    "Apply": "適用",
    "Clear": "クリア",
    "Namespaces": "名前空間",
    "All": "すべて",
    "Below {name}": "{name} の下",
    "Only the first 1000 are listed. Type others into the filters.": (
        "最初の 1000 件だけを表示しています。ほかの名前空間は絞り込み欄に入力してください。"
    ),
    "All memos": "すべてのメモ",
    "{count} found": "{count} 件",
    "Why it is not here": "見つからない理由",
    "{count} memos are not yet searched by meaning.": "意味による検索の準備ができていないメモが {count} 件あります。",
    "No memo fits. Take away a filter, or use other words.": (
        "当てはまるメモはありません。条件を減らすか、別の語で検索してください。"
    ),
    "No memo here yet. Write one with New memo, or let an agent call memory.save.": (
        "ここにはまだメモがありません。「新しいメモ」で書くか、エージェントから memory.save を呼び出してください。"
    ),
    # A line of the list
    "Select {name}": "{name} を選択",
    "Edit {name}": "{name} を編集",
    "replaced": "置き換え済み",
    "Date": "日付",
    "Valid until": "有効期間の終わり",
    "Expires": "期限",
    "Move the selected": "選択したメモを移動",
    "Merge the selected": "選択したメモを統合",
    "Selected to the trash": "選択したメモをごみ箱へ",
    # Scores
    "Score": "総合",
    "Words": "語",
    "Words covered": "語の網羅",
    "Meaning": "意味",
    "Why it was found": "見つかった理由",
    "Words and their weight": "一致した語と重み",
    "Nearness of meaning (cosine)": "意味の近さ（コサイン）",
    "Signs and their weight": "手がかりと重み",
    "Counts less because of its age": "古さによる減点",
    "Score before newer memos were put first": "新しいメモを優先する前のスコア",
    # Keys
    "Keys": "キー操作",
    "Enter": "Enter キー",
    "next, previous memo": "次のメモ、前のメモ",
    "open": "開く",
    "edit": "編集",
    "new memo": "新しいメモ",
    "search field": "検索欄",
    "select": "選択",
    "move": "移動",
    "to the trash": "ごみ箱へ",
    # One memo
    "About this memo": "このメモについて",
    "A newer memo replaces this one": "新しいメモに置き換えられています",
    "History": "履歴",
    "Move": "移動",
    "To the trash": "ごみ箱へ移動",
    "Earlier memos that this one may correct or repeat": "このメモが訂正または重複している可能性のある以前のメモ",
    "This one replaces it": "このメモで置き換える",
    "Merge": "統合",
    "Before": "前",
    "After": "次",
    "Write the next one": "続きを書く",
    "Valid": "有効期間",
    "from": "開始",
    "until": "終了",
    "Saved at": "作成日時",
    "Changed at": "更新日時",
    "Version": "版",
    "Id": "ID（識別子）",
    "As JSON": "JSON で表示",
    # Relations
    "Relations": "関係",
    "Source": "元のメモ",
    "Target": "先のメモ",
    "Kind": "種類",
    "Weight": "重み",
    "Reason": "理由",
    "this memo": "このメモ",
    "Remove": "削除する",
    "Remove the relation {tag}": "関係「{tag}」を削除する",
    "There are more relations. The graph shows them.": "関係はほかにもあります。グラフで確認できます。",
    "This memo is not related to others yet.": "このメモには、まだほかのメモとの関係がありません。",
    "Add a relation": "関係を追加",
    "Direction": "向き",
    "from this memo": "このメモから",
    "to this memo": "このメモへ",
    "Id or address of the other memo": "相手のメモの ID またはアドレス",
    "Give the id or the address of the other memo.": "相手のメモの ID またはアドレスを入力してください。",
    "The weight is a number from 0 to 1.": "重みは 0 から 1 までの数値で入力してください。",
    "Add": "追加",
    "Replaces": "置き換えたメモ",
    "It replaces none of them": "置き換えの指定をすべて外す",
    "Mark older memos that are outdated because of this one. Searches then put this one first.": (
        "このメモによって古くなったメモを指定できます。検索では、このメモが先に表示されます。"
    ),
    "This memo replaces another": "ほかのメモをこのメモで置き換える",
    "Id or address of the older memo, in the same namespace": "同じ名前空間にある、古いメモの ID またはアドレス",
    "Mark it as replaced": "置き換え済みにする",
    "Write a newer memo that replaces this one": "このメモを置き換える新しいメモを書く",
    # Removed memos
    "This memo was merged into": "このメモの統合先",
    "This memo is in the trash. It was deleted at": "このメモはごみ箱にあります。削除日時:",
    "This memo has expired.": "このメモは期限が切れています。",
    # Editor
    "Both texts": "両方の文章",
    "Someone else has changed this memo since you opened it. Nothing of yours is lost.": (
        "このメモは、開いたあとにほかで変更されました。入力した内容は失われていません。"
    ),
    "Your text stands in the form below. If you save it now, it replaces the stored one, which stays in the history.": (
        "入力した文章は下のフォームに残っています。このまま保存すると保存済みの内容を置き換えます。"
        "置き換えられた内容は履歴に残ります。"
    ),
    "Stored, version {number}": "保存済み（第 {number} 版）",
    "Yours": "あなたの文章",
    "From the stored text to yours": "保存済みの文章からの変更点",
    "Comparison": "比較",
    "This memo will replace": "このメモで置き換えるメモ",
    "Title": "タイトル",
    "Text, in Markdown": "本文（Markdown）",
    "Preview": "プレビュー",
    "What you write is shown here.": "入力した内容がここに表示されます。",
    "Show the preview": "プレビューを表示",
    "More fields": "その他の項目",
    "When it happened": "出来事の日付",
    "Valid from": "有効期間の始まり",
    "Expires at": "期限日時",
    "Metadata, as JSON": "メタデータ（JSON）",
    "Anything to filter by, such as tags. Empty fields remove what was there.": (
        "タグなど、絞り込みに使う情報です。項目を空にすると、保存されていた値は削除されます。"
    ),
    "Metadata must be a JSON object, with its names in quotation marks.": (
        "メタデータは、キーを引用符で囲んだ JSON オブジェクトで入力してください。"
    ),
    "Parts of this text are masked. If you save it, the masks replace what they hide.": (
        "この文章の一部は伏せられています。保存すると、伏せられた部分は元に戻せず、伏せ字のまま保存されます。"
    ),
    "Save the masks in place of what they hide": "伏せ字のまま保存する",
    # History
    "History of {name}": "{name} の履歴",
    "Every change keeps the version before it; up to 100 are kept.": (
        "変更するたびに以前の版を残します。残るのは 100 版までです。"
    ),
    "Versions": "版の一覧",
    "Older": "古い版",
    "Newer": "新しい版",
    "When": "日時",
    "Who": "変更者",
    "What": "操作",
    "Text": "本文",
    "Compare": "比較する",
    "Compare from version {number}": "第 {number} 版から比較",
    "Compare to version {number}": "第 {number} 版と比較",
    "(from version {number})": "（第 {number} 版から）",
    "From version {old} to {new}": "第 {old} 版から第 {new} 版への変更点",
    "Both are the same.": "違いはありません。",
    "Version {number}": "第 {number} 版",
    "version {number}": "第 {number} 版",
    "Restore version {number}": "第 {number} 版を復元",
    "A new version with this text is made. The present one stays in the history.": (
        "この内容で新しい版を作ります。現在の版は履歴に残ります。"
    ),
    "The memo has a newer version. Nothing was restored.": "メモに新しい版があるため、復元しませんでした。",
    "The memo was changed while it was read. Open the page again.": (
        "読み込み中にメモが変更されました。ページを開き直してください。"
    ),
    "saved": "保存",
    "deleted": "削除",
    "restored": "復元",
    "moved": "移動",
    "merged": "統合",
    "imported": "取り込み",
    # Duplicates and merging
    "Groups of memos that say nearly the same, newest first.": "ほぼ同じ内容のメモを、新しい順にまとめて表示します。",
    "At least this alike": "類似度の下限",
    "Look": "探す",
    "{count} memos, {share} % alike": "{count} 件のメモ（類似度 {share}%）",
    "None among these {count} memos.": "{count} 件のメモを調べましたが、重複はありませんでした。",
    "{count} memos were compared with the others.": "{count} 件のメモをほかのメモと比較しました。",
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
    "Move {count} memos": "{count} 件のメモを移動",
    "{count} memos to the trash": "{count} 件のメモをごみ箱へ移動",
    "Restore {count} memos": "{count} 件のメモを復元",
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
    "Deleted at": "削除日時",
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
    "Moved.": "移動しました。",
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
