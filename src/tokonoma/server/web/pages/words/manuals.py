"""Words of the pages of manuals, and of what they share with the vault: coverage, searches, reasons."""

WORDS = {
    # Manuals
    "Folders of Markdown and JSON files that agents search and read. Find everything about a topic, and see which"
    " lines were read.": (
        "エージェントが検索して読む、Markdown と JSON のフォルダーです。"
        "ある話題に関する記述を漏れなく探し、どの行が読まれたかを確認できます。"
    ),
    "All manuals": "すべてのマニュアル",
    "Manual": "マニュアル名",
    "No manual is here yet. Put a folder with .md or .json files into the folder of the manuals; it appears here by"
    " itself. This command prints where that is:": (
        "マニュアルはまだありません。"
        ".md または .json のファイルを入れたフォルダーをマニュアルの場所に置くと、自動的にここに表示されます。"
        "場所は次のコマンドで確認できます。"
    ),
    "Files: {count}": "ファイル {count}",
    "Sections: {count}": "セクション {count}",
    "Lines: {count}": "全 {count} 行",
    "Files and coverage": "ファイルと読了範囲",
    "Each strip is a file from its first to its last line. It shows which lines were read and cited. What you open"
    " here counts as read.": (
        "帯は、ファイルの先頭行から最終行までを表します。読んだ行と引用した行を示します。"
        "ここで開いた箇所も既読になります。"
    ),
    "Previous files": "前のファイル",
    "Next files": "次のファイル",
    "{done} of {total} files are indexed": "{total} ファイル中 {done} ファイルを索引に登録済み",
    "{done} of {total} files are indexed. The others are in no answer yet.": (
        "{total} ファイル中 {done} ファイルを索引に登録しました。残りはまだどの結果にも表示されません。"
    ),
    # Reader
    "Where this is": "現在の場所",
    "Outline": "目次",
    "Beginning of the file": "ファイルの先頭",
    "lines {lines}": "{lines} 行目",
    "How it is shown": "表示方法",
    "Formatted": "整形表示",
    "With line numbers": "行番号つき",
    "Plain text": "テキスト",
    "Lines of the file": "ファイルの行",
    "Previous section": "前のセクション",
    "Next section": "次のセクション",
    "Rest of this section": "このセクションの続き",
    "Links to this file": "このファイルへのリンク",
    "This file cannot be shown.": "このファイルは表示できません。",
    "It is in no answer of a search either. Searches count it among what they did not search.": (
        "検索結果にも表示されません。検索では「未調査」として数えられます。"
    ),
    # Coverage
    "{path}: {read} % read, {cited} % cited, {unread} parts unread, {cited_unread} parts cited but unread": (
        "{path}: 既読 {read} %、引用 {cited} %、未読 {unread} か所、引用したが未読 {cited_unread} か所"
    ),
    "Whose reading": "だれの読了範囲か",
    "Yours": "あなた",
    "Of all callers together": "すべての呼び出し元",
    "Show": "表示する",
    "{percent} % read": "既読 {percent} %",
    "{percent} % cited": "引用 {percent} %",
    "read and cited": "既読・引用あり",
    "read": "既読",
    "cited but unread": "引用したが未読",
    "changed after it was read": "読んだあとに変更",
    "unread": "未読",
    "Unread:": "未読の行:",
    "Cited but unread:": "引用したが未読の行:",
    "Changed since:": "読んだあとに変更された行:",
    "and {count} more": "ほか {count} か所",
    # Search of lines
    "Search lines": "行を検索",
    "Lines that contain a text, in order of manual, file and line. Find everything also finds other names and"
    " spellings.": (
        "文字列を含む行を、マニュアル・ファイル・行の順に表示します。別名や表記ゆれも探すには「漏れなく探す」を使ってください。"
    ),
    "Text": "文字列",
    "How to compare": "比較方法",
    "Ignore case and width": "大文字・小文字、全角・半角を区別しない",
    "Also ignore hyphens, spaces and okurigana": "ハイフン・空白・送り仮名の違いも無視する",
    "Regular expression, RE2": "正規表現（RE2）",
    "Only files like": "対象ファイル（例: *.md）",
    "{count} lines on this page, {files} files searched": "このページに {count} 行（{files} ファイルを検索）",
    # Find everything
    "Find everything": "漏れなく探す",
    "Find everything about": "漏れなく探す話題",
    "Find everything in this manual about": "このマニュアルで漏れなく探す話題",
    "All options of this search": "詳しい条件を指定する",
    "Every section about a topic, in any spelling, in Japanese and English, with an account of what was searched and"
    " what was not.": (
        "ある話題に関するセクションを、日本語・英語の表記ゆれも含めてすべて探し、調べた範囲と調べていない範囲を示します。"
    ),
    "Topic, term or question": "話題・用語・質問",
    "What it is about": "知りたい内容",
    "As the topic says": "話題から判断",
    "A definition": "定義",
    "A procedure": "手順",
    "Who may, and when": "対象・条件",
    "Exceptions": "例外",
    "A comparison": "比較",
    "Terms that must be searched, with commas": "必ず探す用語（コンマ区切り）",
    "Seconds at most": "最大秒数",
    "Hits at most": "最大件数",
    "Do not widen to single words and other manuals": "個々の単語やほかのマニュアルまで広げない",
    "Sections found: {count}": "{count} セクションが見つかりました",
    "complete": "調査完了",
    "something is left to look at": "確認が必要な箇所あり",
    "not enough was found": "十分に見つかっていません",
    "round {count}": "{count} 回目",
    "The search stopped early.": "検索は途中で終わりました。",
    "Go on where it stopped": "続きから探す",
    "Search again": "もう一度探す",
    "What was searched": "調べた範囲",
    "Files searched": "調べたファイル",
    "Sections searched": "調べたセクション",
    "Sections not searched": "調べていないセクション",
    "Files of which nothing was searched": "まったく調べていないファイル",
    "Files left out:": "除外したファイル:",
    "Hidden by the policy": "ポリシーで非表示",
    "Not searched by meaning yet": "意味による検索がまだのセクション",
    "Sufficient": "十分さ",
    "Hits in one file": "1 ファイルへの集中度",
    "How it was searched": "調べ方",
    "done": "実施",
    "not needed": "不要",
    "not reached": "未実施",
    "The words in different notations: width, case, numerals, long vowels": (
        "表記の違い（全角・半角、大文字・小文字、数字、長音）を含めた語"
    ),
    "Other forms of the words, words without spaces and hyphens, synonyms, similar meaning": (
        "語形の違い、空白・ハイフンなしの表記、同義語、近い意味"
    ),
    "Exceptions among the hits, and next to them": "見つかった箇所とその周辺の例外規定",
    "What the hits refer to: links, articles, appendices": "見つかった箇所の参照先（リンク、条文、別表）",
    "Possible contradictions, gaps, and whether the result is sufficient": "矛盾の可能性、不足、結果の十分さ",
    "Any single word, and other manuals, if too little was found": "（結果が少ない場合）個々の単語とほかのマニュアル",
    "How hits were found": "見つかり方の内訳",
    "in the heading": "見出しにある",
    "in the text": "本文にある",
    "in another spelling": "別の表記",
    "by another name": "別名",
    "an exception": "例外",
    "referred to": "参照先",
    "by its meaning": "意味が近い",
    "What was found": "見つかったもの",
    "Lists of this search": "この検索の一覧",
    "Hits": "該当箇所",
    "Best hits": "主な該当箇所",
    "Referred to": "参照先の一覧",
    "Possible contradictions": "矛盾の可能性",
    "Gaps": "不足",
    "Not searched": "未調査",
    "Hints: sentences with the same words but another number, or that allow and refuse the same. Read both.": (
        "同じ語で数値だけが違う文や、同じことを許可する文と禁止する文の組です。あくまで目安なので、両方を読んで確認してください。"
    ),
    "Words that no section contains, links that lead nowhere, articles that should be there.": (
        "どのセクションにもない語、リンク切れ、あるはずの条文や別表です。"
    ),
    "{count} hits are not there any more.": "{count} 件はすでになくなっています。",
    "changed since": "検索後に変更",
    "and {count} more lines": "ほか {count} 行",
    "Score": "スコア",
    "{first} to {last} of {total}": "全 {total} 件中 {first}〜{last} 件目",
    "Previous hits": "前の結果",
    "Next hits": "次の結果",
    "Copy all hits into the vault": "該当箇所をまとめてファイルにコピー",
    "Each part comes after a comment with its address, lines and hash. Hits that have changed since are left out.": (
        "各部分の前に、アドレス・行・ハッシュを示すコメントが入ります。検索後に変更された箇所はコピーされません。"
    ),
    "Path of the file": "ファイルのパス",
    "If the file exists": "ファイルがすでにある場合",
    "Do nothing": "何もしない",
    "Append to it": "末尾に追記する",
    "Replace it; the old content stays as a version": "置き換える（元の内容は版として残ります）",
    "Which hits": "コピーする箇所",
    "All hits": "すべて",
    "Only those that name the topic": "話題の語を含むものだけ",
    "Copied.": "コピーしました。",
    # Why something was not searched
    "Its name begins with a dot.": "名前がドットで始まっています。",
    "It is a link, and links are not followed. Replace it with a copy.": (
        "シンボリックリンクはたどりません。コピーに置き換えてください。"
    ),
    "It has several names on the disk. Replace it with a copy.": (
        "ディスク上に複数の名前があります（ハードリンク）。コピーに置き換えてください。"
    ),
    "Its name has control characters, invisible ones, or bytes that are not UTF-8.": (
        "名前に制御文字、見えない文字、または UTF-8 でないバイトが含まれています。"
    ),
    "Another name differs from it only in how its letters are composed. Rename one of them.": (
        "文字の合成方法だけが違う同じ名前のファイルがあります。どちらかの名前を変えてください。"
    ),
    "The server has no permission to read it.": "サーバーに読み取りの権限がありません。",
    "It lies in more than 32 folders.": "フォルダーの階層が 32 を超えています。",
    "It is not a file.": "ファイルではありません。",
    "It is larger than 16 MiB.": "16 MiB を超えています。",
    "It is not a text.": "テキストファイルではありません。",
    "It is not UTF-8, and its encoding cannot be recognised. Convert it to UTF-8.": (
        "UTF-8 ではなく、文字コードも判別できません。UTF-8 に変換してください。"
    ),
    "It changed while it was read.": "読み込み中に変更されました。",
    "The disk is full or read-only, so it could not be indexed.": (
        "ディスクに空きがないか読み取り専用のため、索引に登録できませんでした。"
    ),
    "It is in no folder of a manual.": "マニュアルのフォルダーに入っていません。",
    "It is neither a Markdown nor a JSON file.": "Markdown でも JSON でもありません。",
    "The policy hides it. Only the owner sees that it is there.": (
        "ポリシーにより非表示です。存在が分かるのは所有者だけです。"
    ),
    "The time of the search was over.": "検索の制限時間に達しました。",
    "The search had as many hits as it was allowed to have.": "検索が件数の上限に達しました。",
    "The search was not allowed to go further.": "検索がこれ以上広げない設定になっていました。",
    "It is too long to be searched whole. Split it.": "長すぎて全体を検索できません。分割してください。",
    "It is not indexed yet.": "まだ索引に登録されていません。",
}

NOTICES = {"copied": "Copied."}
