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
    "Result": "結果",
    "The result is longer. Only its beginning is shown.": "結果が長いため、先頭だけを表示しています。",
    "The same call elsewhere": "同じ呼び出しを別の方法で行う",
    "Copy": "コピー",
    "Copied": "コピーしました",
    "Parameters": "パラメーター",
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
    "Tool": "ツール",
    "Wave": "段",
    "Waits for": "待つ相手",
    "State": "状態",
    "done": "完了",
    "planned": "予定",
    "skipped": "スキップ",
    "too slow": "時間切れ",
    "failed": "失敗",
    "needs an approval": "承認が必要",
}
