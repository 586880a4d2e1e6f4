"""Words of approvals, and those that several pages about access use."""

WORDS = {
    "There is no profile with this name.": "この名前のプロファイルはありません。",
    "This account is no longer connected.": "このアカウントはもう接続されていません。",
    # Several pages
    "Who": "呼び出し元",
    "Account": "アカウント",
    "State": "状態",
    "Expires": "期限",
    "read": "読み取り",
    "write": "書き込み",
    "destroy": "削除・破壊",
    "approved": "承認済み",
    "ready": "利用可",
    "broken": "要対応",
    "active": "有効",
    "revoked": "取り消し済み",
    "new": "新規",
    "changed": "変更あり",
    "gone": "なくなったツール",
    # Approvals
    (
        "Calls for which a rule of the policy says ask. An approval is for one call with exactly these parameters. "
        "Agents cannot approve."
    ): (
        "ポリシーの規則が ask になっている呼び出しです。承認は、表示されたパラメーターの呼び出し 1 回だけに有効です"
        "。エージェントが自分で承認することはできません。"
    ),
    "Waiting": "承認待ち",
    "Asked": "要求日時",
    "Without parameters.": "パラメーターはありません。",
    "The stored parameters were changed. Do not approve this call.": (
        "保存されているパラメーターが改変されています。この呼び出しは承認しないでください。"
    ),
    "Approve once": "1 回だけ承認する",
    "Refuse": "拒否",
    "No call is waiting. Calls appear here when a rule under tools in the policy says ask.": (
        "承認待ちの呼び出しはありません。ポリシーの tools の規則が ask になっていると、呼び出しがここに表示されます。"
    ),
    "Recent decisions": "最近の判断",
    "Decided": "判断日時",
    "approved and used": "承認済み（使用済み）",
    "refused": "拒否",
    "expired": "期限切れ",
    "None in the last seven days.": "過去 7 日間はありません。",
    "Choose: approve or refuse.": "承認するか拒否するかを選んでください。",
    "This call does not wait any more: it was decided elsewhere, or its time is over.": (
        "この呼び出しはもう承認待ちではありません。ほかで判断されたか、期限が切れています。"
    ),
    "Approved. The caller can make this call once now.": (
        "承認しました。呼び出し元は、この呼び出しを 1 回だけ実行できます。"
    ),
    "Refused.": "拒否しました。",
}

NOTICES = {
    "approved": "Approved. The caller can make this call once now.",
    "refused": "Refused.",
}
