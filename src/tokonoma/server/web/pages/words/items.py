"""Words of the pages of items."""

WORDS = {
    # Views
    "Views of items": "項目の表示",
    "Parts of this item": "この項目のページ",
    "Board": "ボード",
    "Table": "一覧",
    "Ready and due": "着手可能と期限",
    "Tags": "タグ",
    "Change many": "一括変更",
    "Project state": "プロジェクトの現況",
    "New item": "新しい項目",
    "No item is there yet. An item is anything with a status: an issue, a decision, a document. Agents store them with items.create_item, and you with “New item”.": (  # noqa: E501
        "まだ項目がありません。項目とは、課題・決定・文書など状態を持つもののことです。"
        "エージェントは items.create_item で、あなたは「新しい項目」から作成できます。"
    ),
    "There is no such item.": "この項目はありません。",
    # Board
    "Only items of this query": "クエリで絞り込む",
    "Closed ones, too": "終了した項目も表示",
    "Show": "表示",
    "Keys: j and k walk through the cards, h and l through the columns, < and > move a card.": (
        "キー操作: j / k でカードを、h / l で列を移動し、< / > でカードの状態を変更します。"
    ),
    "Items by status": "状態ごとの項目",
    "Status of {item}": "{item} の状態",
    "Move {item}": "{item} を移動",
    "All of this column": "この列をすべて表示",
    "due {day}": "期限 {day}",
    "overdue": "期限切れ",
    "held by {name}": "担当: {name}",
    # Table
    "Query": "クエリ",
    "Order": "並び順",
    "Direction": "方向",
    "Best first": "関連度順",
    "As it comes": "標準",
    "Usual": "標準の向き",
    "Ascending": "昇順",
    "Descending": "降順",
    "On a page": "表示件数",
    "Back to the table": "一覧に戻る",
    "Change all of these": "これらを一括変更",
    "Restore {item}": "{item} を復元",
    "The trash is empty. Items that are deleted stand here until the owner purges them.": (
        "ごみ箱は空です。削除した項目は、所有者が完全に削除するまでここに残ります。"
    ),
    # Fields
    "Item": "項目",
    "Type": "種類",
    "Status": "状態",
    "Priority": "優先度",
    "Due": "期限",
    "Start": "開始",
    "Assignee": "担当",
    "Category": "カテゴリー",
    "Version": "バージョン",
    "Tag": "タグ名",
    "Text": "本文",
    "Description": "説明",
    "Related": "関連",
    "Created": "作成",
    "Changed": "更新",
    "Field": "フィールド",
    "Fields": "フィールドの一覧",
    "Revision {number}": "リビジョン {number}",
    # Query language
    "How to write a query": "クエリの書き方",
    "this text must occur": "この語句を含む",
    "both words must occur": "両方の語を含む",
    "one of the two": "どちらかに一致",
    "without it": "一致するものを除く",
    "this word in the title": "タイトルにこの語を含む",
    "of this type": "この種類",
    "with this tag": "このタグが付いている",
    "with this status": "この状態",
    "open or closed": "未終了または終了",
    "with this priority": "この優先度",
    "held by this agent or person": "このエージェントまたは人が担当",
    "by category and version": "カテゴリーとバージョンで絞り込む",
    "changed in the last seven days; also created:": "過去 7 日間に更新（created: も可）",
    "due in this time; also start:": "この期間が期限（start: も可）",
    "with a due date, or without an assignee": "期限あり、または担当なし",
    "by its number": "番号で指定",
    "Words side by side rank the items; fields side by side must all hold. Parentheses group.": (
        "並べた語は順位付けに使われ、並べたフィールドはすべて満たす必要があります。丸かっこでまとめられます。"
    ),
    # Editor
    "Markdown. docs-12 and [[a title]] become links.": (
        "Markdown で書けます。docs-12 や [[タイトル]] はリンクになります。"
    ),
    "Markdown, up to 100 KB.": "Markdown、100 KB まで。",
    "Markdown.": "Markdown で書けます。",
    "Separated by commas.": "カンマで区切ります。",
    "Any name of a-z, 0-9 and _, such as issue, decision or docs.": (
        "a-z、0-9、_ からなる任意の名前です（issue、decision、docs など）。"
    ),
    "Addresses, separated by spaces: docs-12, tokonoma://memory/….": (
        "アドレスを空白で区切って書きます: docs-12、tokonoma://memory/…。"
    ),
    "Nothing was saved yet.": "まだ何も保存されていません。",
    "Comment on this change": "変更についてのコメント",
    "It is added to the comments of the item.": "項目のコメントに追加されます。",
    "This item was changed after you opened it. Nothing was saved yet.": (
        "開いたあとに、この項目が変更されています。まだ何も保存されていません。"
    ),
    "What is stored now, and what you typed": "保存されている内容と入力した内容",
    "Stored now": "保存されている内容",
    "Yours": "入力した内容",
    "The form below holds what you typed. If you save it, it replaces what is stored now.": (
        "下のフォームには入力した内容が残っています。保存すると、いまの内容を置き換えます。"
    ),
    "Keep what is stored": "保存されている内容を残す",
    # One item
    "No description.": "説明はありません。",
    "This item is not linked to anything.": "この項目にはリンクがありません。",
    "Not there any more:": "すでに存在しないリンク先:",
    "Add links, see what comes first": "リンクの追加と依存関係",
    "Comments": "コメント",
    "Show {number} earlier comments": "以前のコメント {number} 件を表示",
    "No comments yet.": "コメントはまだありません。",
    "New comment": "新しいコメント",
    "Add comment": "コメントを追加",
    "Write a comment first.": "コメントを入力してください。",
    "until": "期限:",
    "Assign or claim": "割り当て・引き受け",
    "Of an agent or a person. Empty: you, if you claim it; no one, if you assign it.": (
        "エージェントまたは人の名前。空欄の場合、引き受けでは自分、割り当てでは担当なしになります。"
    ),
    "Minutes": "分",
    "For a claim. Empty: until it is released.": "引き受ける時間。空欄の場合は、手放すまで続きます。",
    "Claim": "引き受ける",
    "Claim {item}": "{item} を引き受ける",
    "Claimed for you.": "引き受けました。",
    "Assign": "割り当てる",
    "Release": "手放す",
    "Change the type": "種類を変更",
    "New type": "新しい種類",
    "The number stays, and the old address still leads here.": ("番号は変わらず、以前のアドレスも引き続き使えます。"),
    "Choose what to do.": "操作を選んでください。",
    "The item moves to the trash, where you can restore it with its links. Searches no longer find it.": (
        "項目をごみ箱に移します。ごみ箱からリンクごと復元できます。検索の対象からは外れます。"
    ),
    "Move to the trash": "ごみ箱に移動",
    # History
    "History of {item}": "{item} の履歴",
    "Back to revision {number}: what would change": "リビジョン {number} に戻すと変わる内容",
    "From revision {old} to {new}": "リビジョン {old} から {new} への変更",
    "Type, links and comments stay.": "種類・リンク・コメントは変わりません。",
    "Their fields are the same.": "フィールドの違いはありません。",
    "Go back to revision {number}": "リビジョン {number} に戻す",
    "Back to this one": "このリビジョンに戻す",
    "This item is in the trash.": "この項目はごみ箱にあります。",
    "Compare revision": "比較するリビジョン",
    "With revision": "比較先のリビジョン",
    "Compare": "比較",
    # Links
    "Links of this item": "この項目のリンク",
    "Link": "リンクの種類",
    "To": "リンク先",
    "Remove": "外す",
    "Remove the link to {item}": "{item} へのリンクを外す",
    "from the text": "本文から自動",
    "This item": "この項目は",
    "Address": "アドレス",
    "An address looks like docs-12 or tokonoma://memory/…. Items that block each other in a circle are refused.": (
        "アドレスは docs-12 や tokonoma://memory/… の形で書きます。循環する依存関係は登録できません。"
    ),
    "The way to another item": "ほかの項目までの経路",
    "Find": "探す",
    "No way of at most five links leads there.": "5 つ以内のリンクでたどれる経路はありません。",
    "Must be done first": "先に必要な項目",
    "Nothing blocks this item.": "この項目を妨げているものはありません。",
    "Can be done afterwards": "後に続く項目",
    "This item blocks nothing.": "この項目が妨げているものはありません。",
    "Parts": "構成する項目",
    "Items around it": "周辺の項目",
    "{number} links away": "リンク {number} つ先",
    "There are more than can be shown here.": "ここに表示しきれない項目があります。",
    # Tags
    "Rename {tag}": "{tag} の名前を変更",
    "Rename or merge": "名前の変更・統合",
    "New name": "新しい名前",
    "A tag in use: the two become one. Empty: the tag is removed from all items.": (
        "使用中のタグ名を指定すると統合されます。空欄の場合は、すべての項目からタグを外します。"
    ),
    "Next": "次へ",
    "No item has a tag yet. Tags are words that you or agents give to items, to find them together.": (
        "タグの付いた項目はまだありません。タグは、項目をまとめて探すために付ける語です。"
    ),
    "No item has this tag.": "このタグが付いた項目はありません。",
    "Remove {tag} from all items": "すべての項目から {tag} を外す",
    "Merge {tag} into {other}": "{tag} を {other} に統合",
    "Rename {tag} to {other}": "{tag} を {other} に変更",
    "Both tags are in use. Afterwards their items have one tag, and which item had which is only in the history.": (
        "どちらのタグも使用中です。統合後は 1 つのタグになり、元のタグは履歴でしか確認できません。"
    ),
    "{number} items change:": "{number} 件の項目が変わります:",
    "Change the tags": "タグを変更",
    # Ready and due
    "Ready": "着手可能",
    "Open items that no open item blocks, in the order in which agents get them.": (
        "ほかの未終了の項目に妨げられていない項目を、エージェントが受け取る順に表示します。"
    ),
    "Due until": "期限がこの日まで",
    "Only unclaimed ones": "担当なしのみ",
    "Nothing is ready. Items stand here while they are open and no open item blocks them.": (
        "着手できる項目はありません。未終了で、ほかの未終了の項目に妨げられていない項目がここに並びます。"
    ),
    "Due dates": "期限",
    "All open items with a due date, the earliest first.": "期限のある未終了の項目を、期限の早い順に表示します。",
    "No open item has a due date.": "期限のある未終了の項目はありません。",
    # Change many
    "The same change for all items of a query, at most 500. The next page shows what would change; nothing changes before.": (  # noqa: E501
        "クエリに一致する項目（最大 500 件）に同じ変更を加えます。"
        "まず変更内容を確認でき、確定するまで何も変わりません。"
    ),
    "All words must occur.": "すべての語を含む項目が対象です。",
    "Changes": "変更内容",
    "As it is": "変更しない",
    "Add tags": "追加するタグ",
    "Remove tags": "外すタグ",
    "Clear": "空にするフィールド",
    "Show what would change": "変更内容を確認",
    "Write a query first: it says which items are changed.": "対象の項目を示すクエリを入力してください。",
    "Choose at least one change.": "変更内容を 1 つ以上指定してください。",
    "What would change": "変更内容の確認",
    "The query finds {found} items; {changing} of them would change.": (
        "クエリに一致する項目は {found} 件、そのうち変わるのは {changing} 件です。"
    ),
    "nothing": "変更なし",
    "The query finds no item.": "クエリに一致する項目はありません。",
    "Change {number} items": "{number} 件を変更",
    "The items have changed since the preview. Look at it again.": (
        "確認のあとに項目が変更されています。もう一度確認してください。"
    ),
    "The items were changed.": "項目を変更しました。",
    # Project state
    "One text about where the project stands. Agents read it first and write it last, with items.get_current_state and items.update_current_state.": (  # noqa: E501
        "プロジェクトの現況をまとめた文章です。エージェントは items.get_current_state で作業の最初に読み、"
        "items.update_current_state で最後に書きます。"
    ),
    "This text was changed after you opened it. Nothing was saved yet.": (
        "開いたあとに、この文章が変更されています。まだ何も保存されていません。"
    ),
    "What has changed since": "その後の変更",
    "Nothing.": "変更はありません。",
}

NOTICES = {
    "moved": "Moved.",
    "claimed": "Claimed for you.",
    "changed-many": "The items were changed.",
}
