"""Words of home and of trying tools."""

WORDS = {
    # Trying one tool
    "Call a tool as an agent would, from a form. What you call is done: it stores, changes or deletes.": (
        "エージェントと同じようにツールを呼び出せます。実際に実行されるため、保存・変更・削除も行われます。"
    ),
    "Many calls at once": "まとめて呼び出す",
    "only reads": "読み取りのみ",
    "can delete": "削除の可能性あり",
    "writes": "書き込みあり",
    "The tool has refused": "ツールがエラーを返しました",
    "The result is longer. Only its beginning is shown.": "結果が長いため、先頭だけを表示しています。",
    "The same call elsewhere": "同じ呼び出しを別の方法で行う",
    "Copied": "コピーしました",
    "required": "必須",
    "Write JSON.": "JSON で入力します。",
    "Default: {value}": "既定値: {value}",
    "This tool takes no parameters.": "このツールにパラメーターはありません。",
    "This tool can delete or overwrite. Tick the box to run it.": (
        "このツールは削除や上書きを行う可能性があります。実行するにはチェックを入れてください。"
    ),
    "Run it, although it can delete or overwrite": "削除や上書きの可能性を理解したうえで実行する",
    "Run": "実行",
    # Batch
    "One step a line. A step waits for those that it names in after, or reads with a reference. First look at the "
    "plan: nothing runs yet.": (
        "1 行に 1 つのステップを書きます。after に書いたステップや参照先のステップが終わるまで待ちます。"
        "まず実行計画を確認してください。この時点では何も実行されません。"
    ),
    "line {n}": "{n} 行目",
    "Show the plan": "実行計画を表示",
    "How the steps ended": "各ステップの結果",
    "Plan": "実行計画",
    "{n} steps in {m} waves. The steps of a wave run at the same time.": (
        "{n} 個のステップを {m} 段で実行します。同じ段のステップは同時に実行されます。"
    ),
    "Step": "ステップ",
    "Steps": "ステップの一覧",
    "Wave": "段",
    "Waits for": "待つ相手",
    "State": "状態",
    "done": "完了",
    "planned": "予定",
    "skipped": "スキップ",
    "too slow": "時間切れ",
    "needs an approval": "承認が必要",
    # Home
    "Calls that wait for your approval: {n}": "{n} 件の呼び出しが承認を待っています",
    "No call waits for your approval.": "承認待ちの呼び出しはありません。",
    "State of the server": "サーバーの状態",
    "database": "データベース",
    "disk": "ディスク",
    "search": "検索機能",
    "policy": "適用中のポリシー",
    "records in {module}": "{module} の記録",
    "size of the database": "データベースのサイズ",
    "entries of the journal": "操作記録の件数",
    "records without a vector yet": "ベクトル未作成の記録",
    "records hidden by the policy": "ポリシーで隠された記録",
    "All is well.": "正常に動作しています。",
    "Something needs your attention.": "確認が必要な箇所があります。",
    "Version {version}, running since": "バージョン {version}、起動日時:",
    "fine": "正常",
    "look here": "要確認",
    "You may not see the state of the server.": "サーバーの状態を見る権限がありません。",
    "Stored lately": "最近の記録",
    "Nothing yet. Connect a client below and say: remember that …": (
        "まだ何もありません。下の手順でクライアントをつなぎ、「〜を覚えて」と伝えてみてください。"
    ),
    "Run the line for your client on the machine of the server.": (
        "サーバーのあるマシンで、使うクライアントのコマンドを実行してください。"
    ),
    "Run this line, then use /mcp in Claude Code to sign in.": (
        "次のコマンドを実行し、Claude Code の /mcp からサインインします。"
    ),
    "Settings, Connectors, Add custom connector: enter this address.": (
        "設定の「コネクタ」で「カスタムコネクタを追加」を選び、次の URL を入力します。"
    ),
    "Settings, Apps, Advanced settings, Developer mode. Then create an app with this address and OAuth.": (
        "設定の「アプリ」→「高度な設定」で開発者モードを有効にし、次の URL と OAuth でアプリを作成します。"
    ),
    "Write this into ~/.cursor/mcp.json, then sign in there.": (
        "~/.cursor/mcp.json に次の内容を書き、Cursor からサインインします。"
    ),
    "Write this into mcp.json; the editor asks you to sign in.": (
        "mcp.json に次の内容を書くと、サインインを求められます。"
    ),
    "Run this line on the machine of the server. It adds the entry.": (
        "サーバーのあるマシンで次のコマンドを実行すると、設定が追加されます。"
    ),
    "It connects from the internet: publish the server over HTTPS with public_url first.": (
        "インターネット経由で接続するため、先に public_url を設定し、HTTPS でサーバーを公開してください。"
    ),
}
