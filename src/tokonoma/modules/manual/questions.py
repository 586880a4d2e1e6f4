"""The topic of a question: "What does the manual say about refunds?" asks for refunds. Pure functions.

Frames of asking are removed from both ends, one after another. A query that is no question stays as it is: "kubectl
explain", "use case" and 設定方法 are terms. Words that only follow or precede a frame ("configure", "the", の方法) are
removed after one was found.
"""

import re
from typing import NamedTuple

_MAX_ROUNDS = 12

_DOC = (
    "(?:(?:the|this|that|our|your|my|these) )?"
    "(?:manuals?|docs?|documentation|guides?|handbooks?|books?|rules?|polic(?:y|ies)|regulations?|library|terms|contract)"
)
_SAY = (
    "(?:say|state|tell|mention|describe|cover|explain|discuss|contain|define|specify|write|talk|deal|refer|treat|have|is|are)"
    "s?(?: (?:me|us))?(?: (?:anything|something|any information|information))?(?: (?:about|on|of|to|with|regarding))?"
)
_THING = (
    "(?:information|info|details?|mentions?|references?|places?|sections?|pages?|chapters?|passages?|parts?|files?"
    "|documentation|docs|rules?|facts?|occurrences?|definitions?|explanations?|guides?|limits?)"
)
_ABOUT = "(?:about|on|of|to|for|in|regarding|concerning|related to)"
_DO = "(?:do|does|did|can|could|should|would|will|must|may|to|is|are|was|were)"
_ME = "(?:i|we|you|one|people|users)"

# At the start of a query.
_OPENERS = re.compile(
    "|".join(
        (
            f"(?:what|which) {_THING} (?:is|are) there {_ABOUT} ",
            f"what {_DO} {_DOC} {_SAY} ",
            f"what {_DOC} {_SAY} ",
            f"(?:do|does) (?:you|we|{_DOC}) {_SAY} ",
            f"(?:which|what|where) (?:{_DO} )?(?:{_DOC}|{_THING}) (?:(?:of|in) {_DOC} )?{_SAY} ",
            (
                "what(?: exactly)?(?:'s|’s| is| are| was| were)(?: exactly)? (?!new$)(?:(?:the )?(?:meaning|definition"
                "|purpose|role|use|idea|concept) of |meant by |(?:written|said|known|there to know) (?:about|on) )?"
            ),
            (
                f"what {_DO} {_ME} (?:need to )?(?:know|learn|do|have)(?: to know| to do)? "
                "(?:(?:about|on|with|if|when|for|to) )?"
            ),
            "what happens (?:when|if|to|with) ",
            "what (?=(?:a|an|the) )",
            "what does ",
            f"how (?:exactly )?{_DO} (?:{_ME} )?",
            f"where {_DO} {_ME} (?:find|see|read|get|learn)(?: more)? ",
            f"(?:where|when|why) {_DO} (?:{_ME} )?",
            "who (?:is|are|can|may|must|should) (?:(?:tell me about|allowed to|responsible for|entitled to) )?",
            f"(?:is|are) there (?:(?:any|a|an|some) )?(?:(?:anything|something|way|{_THING}) )?(?:{_ABOUT} )?",
            "is it (?:possible|allowed|permitted|necessary|ok) to ",
            f"(?:can|may|must|should|do|am|are) {_ME} (?:(?:have to|need to|allowed to|get|use) )?",
            "(?:can|could|would|will) you (?:please )?",
            (
                "(?:i|we)(?: would like|'d like|’d like| want| need)"
                "(?: to (?:know|learn|read|find out|understand|see|find|ask))? "
            ),
            "(?:i'm|i’m|i am|we are|we're) (?:looking for|searching for|interested in|trying to(?: find)?) ",
            "(?:i|we) have (?:a|some) questions? ",
            "help me (?:to )?(?:understand|find|with|learn) ",
            "(?:please|kindly|hi|hello|hey)[,!]? ",
            "(?:tell|show|give|teach|find|get) (?:me|us) ",
            "(?:explain|describe|summari[sz]e)(?: to (?:me|us))? (?=(?:the|a|an|what|how|why|when|all|everything) )",
            (
                "(?:find|list|collect|gather|show|get|search)(?: for)? "
                f"(?=(?:all|every|everything|any|anything|the {_THING}|{_THING} (?:about|on)) )"
            ),
            f"(?:search|look through|look up) {_DOC} (?:for|about) ",
            f"(?:everything|anything|all|more) (?:{_THING} )?(?:there is )?(?:to know )?(?:about|on|regarding) ",
        )
    ),
    re.IGNORECASE,
)
# Also there, once it is known to be a question.
_AFTER_OPENERS = re.compile(
    "|".join(
        (
            f"(?:(?:all|every|any|some|more) )?(?:the )?{_THING} (?:(?:that|which) {_SAY}|{_ABOUT}) ",
            f"(?:find|list|collect|explain|describe|summari[sz]e|know|learn|understand|read) (?:(?:more )?{_ABOUT} )?",
            "(?:about|on|regarding|concerning|everything|anything|how|why|what|where|when) ",
            "(?:a|an|the|my|our|your|any|some|this|all|every) ",
        )
    ),
    re.IGNORECASE,
)
_GENERIC_VERB = re.compile(
    "(?:configure|set ?up|use|work with|implement|define|specify|handle|deal with|get started with) ", re.IGNORECASE
)
_FURTHER = re.compile(" (?:for|in|with|on|from|when|if|using|at|inside|via|without) ", re.IGNORECASE)
_CLOSERS = re.compile(
    f"(?: (?:in|according to|of) {_DOC}|,? please|,? thanks| in detail| exactly)$",
    re.IGNORECASE,
)
_ASKS_VERB = re.compile("(?:.{0,40} )?(?:how|where|when|why|what (?:do|does|a|an|the)) ", re.IGNORECASE)
_VERB_CLOSERS = re.compile(
    " (?:mean|stand for|works?|defined|described|documented|explained|mentioned|configured|handled|used|set up|is|are"
    "|used for)$",
    re.IGNORECASE,
)

_CAN = "(?:る|ます|です|ません|ない)?(?:の|ん)?(?:です|でしょう|ます)?か"
_ASK = (
    "(?:ください(?:ませんか)?|下さい|いただけますか|いただけませんか|頂けますか|もらえますか"
    "|くれますか|くれませんか|ほしい|欲しい)?"
)
# At the end of a query in Japanese.
_ENDINGS = re.compile(
    "(?<=.)(?:"
    + "|".join(
        (
            (
                "(?:を|(?<!的)に|が)?お?(?:教えて|説明して|解説して|知らせて|示して|見せて|探して|調べて|集めて|取得して|まとめて|列挙して|検索して"
                f"|抽出して|抜き出して|挙げて|確認して|紹介して){_ASK}(?:です)?(?:ね|よ)?"
            ),
            "(?:の?(?:説明|解説|案内|紹介))?をお願い(?:し|いたし|致し)ます",
            (
                "(?:を|が)?(?:知りたい|確認したい|調べたい|見たい|聞きたい|わかりません|分かりません|わからない|分からない|欲しい|ほしい)"
                "(?:です|のですが|んですが)?"
            ),
            (
                "(?:とは|って|は)(?:何|なに|なん|どういう(?:もの|こと|意味)|ど(?:のような|んな)(?:もの|こと|機能|制度|仕組み|意味))"
                "(?:のこと)?(?:なの|なん)?(?:です|でしょう)?か?"
            ),
            "(?:とは|って|(?<=[^ぁ-ん])は)",
            (
                "(?:は|が|について(?:は)?|に関して(?:は)?)?(?:何|なん)?(?:どこ|どう|どのように|どうやって|何と|なんと)(?:に|を|で)?"
                "(?:書か?れて|書いて|記載されて|記載して|載って|説明されて|定義されて|扱われて|なって)(?:い|あり)(?:る|ます)(?:の|ん)?(?:です)?か"
            ),
            (
                "(?:は|が|を)?(?:どこ|どう|どのように|どうやって)(?:に|を|で)?(?:すれば|したら|見れば|やれば|行えば|設定すれば|使えば)?"
                f"(?:よい|いい|良い|行い|設定し|使い|やり|使う|あり|なり|し)?{_CAN}"
            ),
            "(?:すれば|したら)(?:よい|いい|良い)(?:の|ん)?(?:です|でしょう)か",
            f"(?:は|が|を|も)?(?:する)?(?:こと(?:は|が|も)?)?(?:でき|可能|使え|利用でき|使用でき|あり|必要|許可されてい|禁止されてい){_CAN}",
            "(?:について|に関して|に関する|に関わる|にまつわる)(?:の|は|も|を)?",
        )
    )
    + ")$"
)
# Also there, once it is known to be a question.
_AFTER_ENDINGS = re.compile(
    "(?<=.)(?:"
    + "|".join(
        (
            "の?(?:設定|使用|利用)?(?:方法|やり方|仕方|手順|使い方|書き方)(?:を|は|が|に)?",
            "(?:の|という)?(?:何か)?(?:意味|定義|説明|概要|詳細|情報|記述|記載|箇所|部分|内容|資料|こと)(?:を|は|が|も)?",
            "(?:すべて|全て|全部|網羅的に|漏れなく|もれなく|詳しく|簡単に|具体的に|何か)",
            "(?:について|に)(?:書かれ|触れ|述べ|記載され)(?:てい)?[るた]",
            "(?:を|の|は)?(?:設定|利用|使用)(?:する|し)?(?:には|ためには)?",
            "(?:を使う(?:には)?|した場合は?|する場合は?|するには|するためには|する)",
            "[をはがのにでも]",
        )
    )
    + ")$"
)
_DOC_JA = re.compile(
    "(?:この|本|当)?(?:マニュアル|規程|規定|規約|ドキュメント|文書|資料|ガイド|手順書|ルール|説明書|就業規則)"
    "(?:では|には|によると|によれば|の中で|の中に|で|に)(?:は)?、?"
)
_OPENERS_JA = re.compile(
    "(?:どのように(?:して)?|どうやって|どうすれば|どうしたら|なぜ|どうして|すみません、?|質問ですが、?)"
)
_MARKS = " \t\n\r\u3000。．.!！?？、,"


class QuestionTopic(NamedTuple):
    """`topic` is what is asked for; `whole` also has what narrows it: "a proxy for the office network"."""

    topic: str
    whole: str


def find_topic(query: str) -> QuestionTopic:
    text = " ".join(query.split())
    bare = text.strip(_MARKS)
    found = _strip_english(bare) or _strip_japanese(bare)
    return found or QuestionTopic(text, text)


def _strip_english(text: str) -> QuestionTopic | None:
    rest, verb, asks_verb = text, False, _ASKS_VERB.match(text) is not None
    for round in range(_MAX_ROUNDS):
        before = rest
        match = _OPENERS.match(rest) or (_AFTER_OPENERS.match(rest) if round else None)
        rest = rest[match.end() :] if match else rest
        if not round and match is None:
            return None
        generic = _GENERIC_VERB.match(rest)
        if generic:
            rest, verb = rest[generic.end() :], True
        rest = _CLOSERS.sub("", rest).strip(_MARKS)
        rest = _VERB_CLOSERS.sub("", rest) if asks_verb else rest
        if rest == before:
            break
    if not rest:
        return None
    further = _FURTHER.search(rest) if verb else None
    return QuestionTopic(rest[: further.start()] if further else rest, rest)


def _strip_japanese(text: str) -> QuestionTopic | None:
    rest = text
    for round in range(_MAX_ROUNDS):
        before = rest
        match = _ENDINGS.search(rest) or (_AFTER_ENDINGS.search(rest) if round else None)
        if match is None:
            break
        rest = rest[: match.start()].rstrip(_MARKS)
        if rest == before:
            break
    if rest == text:
        return None
    for pattern in (_OPENERS_JA, _DOC_JA):
        match = pattern.match(rest)
        if match and match.end() < len(rest):
            rest = rest[match.end() :].lstrip(_MARKS)
    return QuestionTopic(rest, rest) if rest else None
