"""Words of the pages of memos."""

WORDS = {
    "Threads": "スレッド",
    "Conversations and documents that memos belong to, last changed first.": (
        "メモが属する会話や文書を、更新が新しい順に表示します。"
    ),
    "Memos: {count}": "メモ {count} 件",
    "Begun": "開始",
    "Last changed": "最終更新",
    "No memo belongs to a thread. Agents give one to memos of a conversation, and the editor has a field for it.": (
        "スレッドに属するメモはありません。会話のメモにはエージェントが付け、編集画面でも設定できます。"
    ),
    # Tabs and headings
    "Memos": "メモ一覧",
    "Duplicates": "重複",
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
    "Thread": "スレッド",
    "Thread {name}": "スレッド「{name}」",
    "Since": "開始日",
    "Valid on": "この日に有効",
    "Metadata": "メタデータ",
    "Key of the metadata": "メタデータのキー",
    "Condition": "条件",
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
    "Clear": "クリア",
    "Namespaces": "名前空間",
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
    "Text, in Markdown": "本文（Markdown）",
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
    "Who": "変更者",
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
}
