"""Words of the pages about the whole server."""

WORDS = {
    # Journal
    "Every call: who, what and how it ended. Parameters and results are never in it.": (
        "すべての呼び出しについて、だれが何を実行し、どう終わったかを記録しています。パラメーターと結果は含まれません。"
    ),
    "Caller": "呼び出し元",
    "Module": "モジュール",
    "Outcome": "結果",
    "Show": "表示",
    "Verify the chains": "連鎖を検証",
    "Export": "書き出し",
    "Pause": "一時停止",
    "Newest, live": "最新の記録を自動更新",
    "Time": "日時",
    "Call": "呼び出し",
    "Duration": "所要時間",
    "No call matches.": "条件に合う呼び出しはありません。",
    "The journal was damaged or changed.": "操作記録が壊れているか、書き換えられています。",
    "Restore a backup, or go on with the data as it is: tokonoma accept.": (
        "バックアップを復元するか、いまのデータのまま続ける場合は tokonoma accept を実行してください。"
    ),
    "The journal holds: {entries} entries in {chains} chains.": (
        "操作記録に問題はありません（{chains} 本の連鎖、{entries} 件）。"
    ),
    "This place in the journal is not known.": "操作記録のこの位置は存在しません。",
    # Jobs
    "Background work of this process: vectors, reclassification, indexing of files, refreshed tokens.": (
        "このプロセスのバックグラウンド処理です。ベクトルの作成、再分類、ファイルの索引付け、トークンの更新などがあります。"
    ),
    "{count} texts wait for their vectors.": "ベクトルの作成待ち: {count} 件",
    "Job": "ジョブ",
    "State": "状態",
    "Failures in a row": "連続失敗回数",
    "Last problem": "直近の問題",
    "Action": "操作",
    "Run now": "いま実行",
    "Nothing is running, and nothing waits.": "実行中・待機中のジョブはありません。",
    "There is no such job any more: it is done.": "このジョブはもうありません。すでに完了しています。",
    "Started.": "開始しました。",
    "running": "実行中",
    "waiting": "待機中",
    # Settings
    "The values in force, and where each comes from: a flag, the environment, tokonoma.toml, or the default.": (
        "現在の設定値と、その出どころ（コマンドのオプション、環境変数、tokonoma.toml、既定値）です。"
    ),
    "Changed": "変更したもの",
    "Setting": "設定",
    "From": "出どころ",
    "default": "既定値",
    "All settings have their defaults.": "すべて既定値のままです。",
    "To change one, write a line into this file and start the server again:": (
        "変更するには、次のファイルに 1 行書いてサーバーを再起動します。"
    ),
    "Places": "保存場所",
    "Keyring": "キーリング",
    "It encrypts the credentials of services. Its master key is not in the database and not in a backup.": (
        "サービスの認証情報を暗号化します。マスターキーはデータベースにもバックアップにも含まれません。"
    ),
    "Master key": "マスターキー",
    "Secrets": "保存している秘密情報",
    "Encrypt all with a new data key": "新しいデータキーですべて暗号化し直す",
    "All secrets are encrypted with a new data key.": "すべての秘密情報を新しいデータキーで暗号化し直しました。",
    "empty": "未使用",
    "open": "利用可能",
    "sealed": "封印中",
    # Health
    "The same checks as tokonoma doctor, run now, with what to do.": (
        "tokonoma doctor と同じ検査をいま実行した結果と、必要な対処です。"
    ),
    "Left out: the checks that read every page of the database, every entry of the journal and every file.": (
        "データベースの全ページ、操作記録の全項目、全ファイルを読む検査は省略しました。"
    ),
    "Check everything": "すべて検査する",
    "Problems": "問題",
    "Needs a look": "要確認",
    "In order": "正常",
    "Sizes": "件数とサイズ",
    # Backups
    "Everything in one file: the database, the vault with its versions, the manuals. The keyring's key is not in it.": (
        "データベース、ファイルとその版、マニュアルを 1 つのファイルにまとめます。キーリングの鍵は含まれません。"
    ),
    "With the files of the vault and the manuals": "ファイルとマニュアルを含める",
    "Back up now": "いまバックアップする",
    "The backup is made.": "バックアップを作成しました。",
    "Verify": "検証",
    "Download": "ダウンロード",
    "There is no backup yet. The button above makes one; servers keep running.": (
        "バックアップはまだありません。上のボタンで作成できます。サーバーは止まりません。"
    ),
    "They are in this folder. Keep a copy on another machine, too:": (
        "次のフォルダーにあります。別のマシンにもコピーを保管してください。"
    ),
    "The whole backup was read: it is in order.": "バックアップ全体を読み込みました。問題ありません。",
    "Database": "データベース",
    "Contents": "内容",
    "{rows} rows in {tables} tables": "{tables} 個の表、{rows} 行",
    "Files": "ファイル数",
    "not included": "含まれていません",
    "Not saved": "保存されなかったもの",
    "It contains encrypted secrets of accounts. Keep their key elsewhere: tokonoma keyring export-key.": (
        "暗号化されたアカウントの秘密情報を含みます。"
        "鍵は tokonoma keyring export-key で取り出し、別の場所に保管してください。"
    ),
    "Stop the server, then run this command. A backup of the present data is made first.": (
        "サーバーを停止してから次のコマンドを実行します。先に現在のデータのバックアップが作成されます。"
    ),
    # Policy
    "What each caller may see and do. In force: {version}.": (
        "呼び出し元ごとに、見えるものと実行できることを定めます。現在の版: {version}"
    ),
    "Text": "本文",
    "Try a text": "文章で試す",
    "Versions": "版",
    "Proposals": "提案",
    "Proposals that wait for you: {count}": "承認待ちの提案: {count} 件",
    "Records are being reclassified: {done} of {total}.": "レコードを再分類しています（{total} 件中 {done} 件）。",
    "Line {line}": "{line} 行目",
    "What would change": "変更の影響",
    "Records": "レコード",
    "For you": "あなたの場合",
    "{vanish} vanish, {appear} appear": "{vanish} 件が見えなくなり、{appear} 件が見えるようになります",
    "loosens": "制限が緩む",
    "The texts are the same.": "本文に違いはありません。",
    "The text is valid. Nothing was changed.": "本文に問題はありません。まだ何も変更していません。",
    "The policy, as YAML": "ポリシー（YAML）",
    "Check": "検査",
    "The policy is in force.": "ポリシーを適用しました。",
    "The proposal was rejected.": "提案を却下しました。",
    "in force": "適用中",
    "with the text of {version}": "{version} の本文",
    "Put this text in force again": "この本文をもう一度適用",
    "An agent may tighten the policy. What would loosen it waits here for you.": (
        "エージェントはポリシーを厳しくできます。緩める変更は、ここで所有者の承認を待ちます。"
    ),
    "Approve": "承認",
    "Reject": "却下",
    "No policy is waiting.": "承認待ちのポリシーはありません。",
    "What the caller would get": "呼び出し元に見える内容",
    "Found": "検出",
    "nothing": "なし",
    "Class": "分類",
    "Decision": "判定",
    "Nothing of it is stored.": "入力した文章は保存されません。",
    "Write owner, or key: and the name of a key.": "owner、または key: に続けて API キーの名前",
    "A policy to try instead of the one in force": "適用中のものの代わりに試すポリシー",
}

CHOSEN_BY_DATA = (
    *("running", "waiting", "failed"),  # states of jobs
    *("empty", "open", "sealed"),  # states of the keyring
    *("Problems", "Needs a look", "In order"),
)
"""Words that no template and no call names, because values of tools choose them."""

NOTICES = {
    "started": "Started.",
    "rotated": "All secrets are encrypted with a new data key.",
    "backed_up": "The backup is made.",
    "policy_applied": "The policy is in force.",
    "policy_rejected": "The proposal was rejected.",
}
