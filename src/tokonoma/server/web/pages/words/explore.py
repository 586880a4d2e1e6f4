"""Words of search, graph and timeline."""

WORDS = {
    # Search
    "One search over all modules that you may search, with the reasons for each place.": (
        "使えるモジュールをまとめて検索し、なぜその順位になったかも表示します。"
    ),
    "Query": "検索する内容",
    "Filters": "絞り込み",
    "Since": "開始日",
    "Until": "終了日",
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
    "Why it was found": "見つかった理由",
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
}
