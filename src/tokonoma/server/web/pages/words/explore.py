"""Words of search, graph and timeline."""

WORDS = {
    "Remove": "外す",
    "Remove the link from {source} to {target}": "{source} から {target} へのリンクを外す",
    "Link from here": "ここからリンク",
    "Link to here": "ここへリンク",
    (
        "Between two memos the relation is any word. An item can be linked to any record: related, or between"
        " items also blocks, blocked_by, parent_of, child_of."
    ): (
        "メモどうしの関係は自由な語です。項目はどの記録ともリンクできます（related。項目どうしは blocks、bloc"
        "ked_by、parent_of、child_of も可）。"
    ),
    "A link can be made between two memos, and between an item and any record.": (
        "リンクできるのは、メモどうし、または項目とほかの記録です。"
    ),
    "A link of an item is one of: related, blocks, blocked_by, parent_of, child_of.": (
        "項目のリンクは related、blocks、blocked_by、parent_of、child_of のいずれかです。"
    ),
    "Between an item and another record there is only the link related.": (
        "項目とほかの記録のリンクは related だけです。"
    ),
    "This link stands in a text or a source. Change it there.": (
        "このリンクは本文または情報源にあります。そちらで変更してください。"
    ),
    "There is no such link; it may stand in the text of the item.": (
        "このリンクはありません。項目の本文に書かれているのかもしれません。"
    ),
    "There is no such link.": "このリンクはありません。",
    "This is not the address of an item.": "項目のアドレスではありません。",
    "Link added.": "リンクを追加しました。",
    "Link removed.": "リンクを外しました。",
    # Search
    "One search over all modules that you may search, with the reasons for each place.": (
        "使えるモジュールをまとめて検索し、なぜその順位になったかも表示します。"
    ),
    "Query": "検索する内容",
    "Since": "開始日",
    "Kind": "種類",
    "Write what you look for: words, a question or a time, such as “the meeting in March”. Memos, items, claims, "
    "manuals and files are searched together, by their words and their meaning.": (
        "探したい言葉、質問、時期などを入力してください（例:「3月の会議」）。"
        "メモ・項目・主張・マニュアル・ファイルを、語句と意味の両方でまとめて検索します。"
    ),
    "The best {n}": "上位 {n} 件",
    "{n} found": "{n} 件",
    "Without filters": "絞り込みを解除",
    "A newer record says otherwise": "新しい記録に置き換えられています",
    "valid until {time}": "{time} まで有効",
    "also in {n} other records": "同じ内容の記録がほかに {n} 件",
    "Words that count:": "効いた語:",
    "It holds {share} % of the query.": "検索語の {share} % を含みます。",
    "It is of another time than the query names: {share} % of its score is left.": (
        "検索で指定された時期と異なるため、スコアが {share} % に下がっています。"
    ),
    "score": "総合",
    "words": "語句",
    "meaning": "意味",
    "date": "日付",
    "thread": "スレッド",
    "Nothing fits with these filters. Remove some, or use other words.": (
        "この条件に合うものはありません。絞り込みを減らすか、別の言葉で検索してください。"
    ),
    "Nothing fits. Use other words, or ask below why a record is not here.": (
        "合うものはありません。別の言葉で検索するか、記録が出てこない理由を下で調べてください。"
    ),
    "Why is a record not here?": "記録が出てこない理由",
    "Address or title of the record": "記録のアドレスまたはタイトル",
    "Explain": "理由を調べる",
    "found at place {rank} of its module, with {score}": "モジュール内で {rank} 位（スコア {score}）",
    "not compared: no embedding model is set": "比較していません（埋め込みモデルが設定されていません）",
    "not compared: the record has no vector yet": "比較していません（この記録のベクトルはまだありません）",
    "does not find it": "見つかりません",
    "There is no such record for you.": "該当する記録はありません。",
    "It does not exist, it was deleted, or you may not see it. Check the address, or write its exact title.": (
        "存在しないか、削除されたか、閲覧が許可されていません。アドレスを確かめるか、正確なタイトルを入力してください。"
    ),
    "It exists, but it is not in the index, so no search finds it. An owner can run:": (
        "記録はありますが、索引に入っていないため検索では見つかりません。所有者は次のコマンドを実行できます:"
    ),
    "These filters exclude it:": "次の絞り込みで除外されています:",
    "It is here, at place {rank}.": "{rank} 位に表示されています。",
    "It stands further down, at place {rank} of {n}, with {score}.": (
        "表示範囲より下の {rank} 位（{n} 件中、スコア {score}）です。"
    ),
    "It is not among the {n} records that were compared.": "比較した {n} 件の記録に含まれていません。",
    "By words alone": "語句だけの検索",
    "By meaning alone": "意味だけの検索",
    # Graph
    "Records of all modules and how they are linked. Choose a node to read its links; the table holds the same.": (
        "すべてのモジュールの記録と、そのつながりです。点を選ぶとリンク先を読み込みます。表にも同じ内容があります。"
    ),
    "Start from a record": "記録を起点にする",
    "Address of the record": "記録のアドレス",
    "Empty: the newest records.": "空欄の場合は最新の記録を表示します。",
    "Number of steps": "たどる段数",
    "also what is near in meaning": "意味の近い記録も含める",
    "Show": "表示",
    "Path between two records": "2 つの記録の間の経路",
    "From": "起点",
    "To": "終点",
    "Find the path": "経路を探す",
    "No links lead from the one to the other.": "2 つの記録をつなぐリンクはありません。",
    "No path was found among the records that were read. There may be a longer one.": (
        "読み込んだ範囲では経路が見つかりませんでした。さらに長い経路があるかもしれません。"
    ),
    "{n} records, {m} links": "記録 {n} 件、リンク {m} 件",
    "There is more than one picture can hold. Start from a record, or take fewer steps.": (
        "1 つの図に収まりません。記録を起点にするか、段数を減らしてください。"
    ),
    "Picture of the records and links in the table below": "下の表にある記録とリンクの図",
    "Open the record": "記録を開く",
    "Start here": "ここを起点にする",
    "The same as a table": "同じ内容の表",
    "Relation": "関係",
    "These records have no links.": "これらの記録にリンクはありません。",
    "Without links": "リンクのない記録",
    "No records yet. When agents or you store memos, items, claims or files, they and their links stand here.": (
        "まだ記録がありません。メモ・項目・主張・ファイルを保存すると、そのつながりがここに表示されます。"
    ),
    # Timeline
    "What was stored and changed in all modules, by day (UTC).": (
        "すべてのモジュールで保存・変更された記録を日ごとに示します（UTC）。"
    ),
    "Day": "日",
    "Week": "週",
    "Month": "月",
    "Module": "モジュール名",
    "all": "すべて",
    "A year by day": "1 年間の日ごとの件数",
    "Earlier": "さらに前",
    "Span": "期間",
    "{n} changes": "{n} 件の変更",
    "Before": "前へ",
    "After": "次へ",
    "changed": "変更",
    "Nothing was stored or changed in this span. Choose a square with colour, or another span.": (
        "この期間に保存・変更された記録はありません。色の付いたマスか、別の期間を選んでください。"
    ),
    "The year as a table": "1 年間の表",
    "Changes": "変更",
}

CHOSEN_BY_DATA = ("Week", "Month")

NOTICES = {
    "link_added": "Link added.",
    "link_removed": "Link removed.",
}
