"""What pages of claims call the values of the tools: kinds, scopes, classes, signals, parts of a score, events."""

from tokonoma.server.web.page_parts import Language

_VALUES = {
    "fact": ("Fact", "事実"),
    "preference": ("Preference", "好み"),
    "task": ("Task", "タスク"),
    "policy_hint": ("Hint for the policy", "ポリシーのヒント"),
    "session": ("Session", "セッション"),
    "project": ("Project", "プロジェクト"),
    "principle": ("Principle", "原則"),
    "public": ("Public", "公開"),
    "internal": ("Internal", "内部"),
    "pii": ("Personal data", "個人情報"),
    "secret": ("Secret", "機密"),
    "Actor": ("Person or agent", "人・エージェント"),
    "Artifact": ("Thing", "もの"),
    "Event": ("Event", "出来事"),
    "Concept": ("Idea", "概念"),
    "part score": ("Score", "総合"),
    "part text": ("Words", "語の一致"),
    "part vector": ("Meaning", "意味の近さ"),
    "part recency": ("Recency", "新しさ"),
    "part confidence": ("Confidence", "確からしさ"),
    "part quality": ("Quality", "品質"),
    "part utility": ("Utility", "有用性"),
    "signal helpful": ("Helpful", "役に立った"),
    "signal harmful": ("Harmful", "誤りを招いた"),
    "signal outdated": ("Outdated", "古くなった"),
    "signal duplicate": ("Duplicate", "重複"),
    "say helpful": ("It helped", "役に立った"),
    "say harmful": ("It misled", "誤りを招いた"),
    "say outdated": ("It is outdated", "古くなった"),
    "say duplicate": ("It is a duplicate", "重複している"),
    "event made": ("Stored", "保存"),
    "event feedback": ("Feedback", "フィードバック"),
    "event superseded": ("Superseded", "置き換え"),
    "event restored": ("Recalled again", "再び有効化"),
    "event forgotten": ("Forgotten", "忘却"),
    "event evidence": ("New source", "情報源の追加"),
    "source at": ("Time", "日時"),
    "source actor": ("From", "提供者"),
    "source url": ("Address", "アドレス"),
    "source note": ("Note", "メモ書き"),
    "source git": ("Git", "Git リポジトリ"),
    "source signed": ("Signed", "署名"),
}


def name_claim_values(language: Language) -> dict[str, str]:
    """Value of a tool → what a page calls it."""
    return {value: names[1] if language == "ja" else names[0] for value, names in _VALUES.items()}
