"""Words of the pages of claims."""

WORDS = {
    "Your active contexts": "有効なコンテキストの一覧",
    "You have no active context. The page for a task makes one.": (
        "有効なコンテキストはありません。「タスクに使われる主張」で作成できます。"
    ),
    # Views
    "Views of claims": "主張の表示",
    "All claims": "すべての主張",
    "For a task": "タスクに使われる主張",
    "Active context": "有効なコンテキスト",
    "Entities": "エンティティ",
    "New claim": "新しい主張",
    "No claim is there yet. A claim is one fact, preference, task or hint with its source. Agents store them with claims.upsert, and you with “New claim”.": (  # noqa: E501
        "まだ主張がありません。主張とは、情報源のある 1 つの事実・好み・タスク・ヒントのことです。"
        "エージェントは claims.upsert で、あなたは「新しい主張」から保存できます。"
    ),
    # List and search
    "Words or a question": "語または質問",
    "Kind": "分類",
    "Scope": "有効範囲",
    "Class": "公開区分",
    "State": "現在の扱い",
    "Current ones": "現行のみ",
    "Superseded ones, too": "置き換え済みも含む",
    "superseded": "置き換え済み",
    "A search finds only current claims. Empty the search field to list superseded ones.": (
        "検索の対象は現行の主張だけです。置き換え済みの主張を表示するには、検索欄を空にしてください。"
    ),
    # For a task
    "What an agent gets from claims.activate for a task, with the parts of each score. It makes an active context, as the agent would.": (  # noqa: E501
        "エージェントが claims.activate で受け取る主張と、スコアの内訳です。"
        "エージェントの場合と同じように、有効なコンテキストが作成されます。"
    ),
    "Task or question": "タスクまたは質問",
    "Purposes": "目的",
    "Purposes are words such as answer:task. Without any, all of yours count.": (
        "目的は answer:task のような語です。空欄の場合は、自分に許可されたすべての目的が対象になります。"
    ),
    "At most": "最大件数",
    "As the policy says": "ポリシーに従う",
    "{number} claims": "主張 {number} 件",
    "Context": "コンテキスト",
    "expires": "期限",
    "Policy {version}": "ポリシー {version}",
    "{share} % words, {rest} % meaning": "語 {share} %、意味 {rest} %",
    "No claim fits this task, or the policy allows none for these purposes.": (
        "このタスクに合う主張がないか、この目的ではポリシーにより使えません。"
    ),
    # Active context
    "A context that you made before: its claims as they are now, with the scores of that time. Contexts of agents can be read only by them.": (  # noqa: E501
        "以前に作成したコンテキストです。主張は現在の内容、スコアは作成時の値です。"
        "エージェントのコンテキストは、そのエージェントだけが読めます。"
    ),
    "Id of the context": "コンテキストの ID",
    "Open it": "開く",
    "Made": "作成日時",
    # One claim
    "This claim": "この主張",
    "A newer claim has replaced this one; it is no longer recalled.": (
        "この主張は新しい主張に置き換えられたため、もう使われません。"
    ),
    "Show the newer one": "新しい主張を表示",
    "Feedback": "フィードバック",
    "Signal": "評価",
    "Given": "件数",
    "Your feedback": "あなたの評価",
    "Yours of each kind counts once in ten minutes.": ("同じ人からの同じ評価は、10 分に 1 回だけ数えます。"),
    "Thank you. The feedback counts from now on.": "フィードバックを記録しました。",
    "Replaced claims": "置き換えの流れ",
    "recalled now": "現行",
    "This claim replaces no other, and none replaces it.": "置き換えた主張も、置き換えられた主張もありません。",
    "Replace it by a newer claim": "新しい主張に置き換える",
    "Id of the newer claim": "新しい主張の ID",
    "Its id, clm_…, or its address. This claim stays stored, but only the newer one is recalled.": (
        "clm_… またはアドレス。この主張は残りますが、使われるのは新しい主張だけになります。"
    ),
    "Replace": "置き換える",
    "Replaced by the newer claim.": "新しい主張に置き換えました。",
    "Events": "出来事の記録",
    "Sources": "情報源",
    "Expires": "有効期限",
    "Never": "なし（無期限）",
    "Evidence": "根拠",
    "No evidence is stored.": "根拠は保存されていません。",
    "This claim names no entity.": "この主張にはエンティティがありません。",
    "Forget": "忘れる",
    "Forget this claim": "この主張を忘れる",
    "Forget it": "完全に忘れる",
    "Forgotten.": "主張を忘れました。",
    "Its text, sources and entities are deleted and cannot be restored. That it existed stays recorded. Claims that it replaced are recalled again.": (  # noqa: E501
        "本文・情報源・エンティティを削除します。元には戻せません。存在したことの記録は残ります。"
        "この主張が置き換えた主張は、再び使われるようになります。"
    ),
    # Entities
    "No claim names an entity yet. Entities are people, things, events and ideas that agents name with claims.upsert.": (  # noqa: E501
        "エンティティはまだありません。エンティティとは、エージェントが claims.upsert で名前を付けた人・もの・出来事・"
        "概念のことです。"
    ),
    "{number} steps": "{number} 段階",
    "From": "起点",
    "Relation": "関係の種類",
    "Leads to": "終点",
    "Stated by": "根拠の主張",
    "No relation is stored.": "関係は保存されていません。",
    "There are more relations than can be shown here.": "ここに表示しきれない関係があります。",
    "Claims that name it": "このエンティティを含む主張",
    "{shown} of {all} claims": "主張 {all} 件中 {shown} 件",
    # New claim
    "One fact, preference, task or hint": "事実・好み・タスク・ヒントのいずれか 1 つ",
    "Address of its source": "情報源のアドレス",
    "A web page, or the address of a record: tokonoma://memory/….": (
        "Web ページ、または記録のアドレス: tokonoma://memory/…。"
    ),
    "Note on its source": "情報源についてのメモ",
    "Secrets are refused, and personal data makes the class stricter. The same text in the same scope is the same claim.": (  # noqa: E501
        "機密情報は保存できません。個人情報を含む場合は、公開区分が厳しくなります。"
        "同じ範囲の同じ文は、同じ主張として扱われます。"
    ),
}

NOTICES = {
    "feedback": "Thank you. The feedback counts from now on.",
    "superseded": "Replaced by the newer claim.",
    "forgotten": "Forgotten.",
}
