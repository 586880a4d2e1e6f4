"""Questions in sentences search their topic."""

import pytest

from tokonoma.modules.manual.terms import parse_query

ENGLISH = """
What does the manual say about seccomp? | seccomp
What is seccomp? | seccomp
What's a refund voucher? | refund voucher
What are service accounts? | service accounts
What does RBAC mean? | RBAC
What does VPN stand for? | VPN
What is the meaning of force majeure? | force majeure
What is meant by "retention period"? | retention period
How do I configure the firewall? | firewall
How do I configure a proxy for the office network? | proxy
How can I set up two-factor authentication? | two-factor authentication
How to use expense codes | expense codes
How does leader election work? | leader election
How is overtime defined? | overtime
How are backups handled? | backups
How should we handle lost badges? | lost badges
Where can I find information about parental leave? | parental leave
Where is the audit log documented? | audit log
Where do the docs mention rate limits? | rate limits
Which sections mention garbage collection? | garbage collection
Which pages describe the approval workflow? | approval workflow
Tell me everything about travel expenses. | travel expenses
Tell me about sick leave | sick leave
Please explain the escalation process. | escalation process
Can you show me all information on data retention? | data retention
Could you tell me what a purchase order is? | purchase order
Give me all the details on parking permits, please | parking permits
Is there anything about remote work? | remote work
Is there any documentation on webhooks? | webhooks
Are there rules about visitors? | visitors
Do you have information on safety shoes? | safety shoes
I want to know about probation. | probation
I need to know everything about notice periods | notice periods
I'm looking for information on invoices. | invoices
I would like to learn about pension plans | pension plans
Collect every mention of asbestos | asbestos
Find all places that mention forklifts. | forklifts
List all references to Annex B | Annex B
Show me what the handbook says about smoking. | smoking
What do the rules say on dress code? | dress code
"""
HELD_ENGLISH = """
What does our documentation state regarding chargebacks? | chargebacks
Explain how canary releases work | canary releases
What is the purpose of the holding tank? | holding tank
How do we deal with duplicate invoices? | duplicate invoices
Does the guide say anything about earplugs? | earplugs
Where does the manual talk about torque limits? | torque limits
Who can tell me about stock options? | stock options
Can I get details about the loyalty program? | loyalty program
What should I know about cold storage? | cold storage
Please list everything on fire drills. | fire drills
What information is there about mileage allowance? | mileage allowance
Help me understand deferred tax | deferred tax
How would I use the label printer? | label printer
Find me the section on calibration | calibration
Is there a definition of gross negligence? | gross negligence
Summarize what is written about shift swaps | shift swaps
Search the manual for spare keys | spare keys
What exactly is a dead letter queue? | dead letter queue
I have a question about gift cards. | gift cards
Could you please find all sections about hot desking? | hot desking
"""
JAPANESE = """
seccompとは何ですか | seccomp
seccompとは？ | seccomp
有給休暇とは何でしょうか。 | 有給休暇
本契約とはどういう意味ですか | 本契約
稟議って何ですか？ | 稟議
稟議とはどのようなものですか | 稟議
ファイアウォールの設定方法を教えてください | ファイアウォール
経費精算のやり方を教えて | 経費精算
プリンターの使い方を知りたい | プリンター
二段階認証の設定手順を教えてください。 | 二段階認証
返品について教えてください | 返品
返品について網羅的に取得して | 返品
返品に関する情報をすべて集めてください | 返品
返品に関する記述を全部探して | 返品
返品についての説明はどこにありますか | 返品
安全靴についてどこに書いてありますか | 安全靴
安全靴はどこに記載されていますか？ | 安全靴
通勤手当は何ですか | 通勤手当
通勤手当について詳しく説明してください | 通勤手当
通勤手当について知りたいのですが | 通勤手当
マニュアルでは残業についてどう書かれていますか | 残業
規程には残業について何と書いてありますか？ | 残業
このマニュアルに監査ログの説明はありますか | 監査ログ
監査ログに関する箇所を列挙してください | 監査ログ
レート制限はありますか | レート制限
在宅勤務はできますか | 在宅勤務
在宅勤務は可能ですか？ | 在宅勤務
在宅勤務をすることはできますか | 在宅勤務
プロキシを設定するにはどうすればよいですか | プロキシ
プロキシはどうやって設定しますか | プロキシ
どうやってプロキシを設定すればいいですか | プロキシ
バックアップはどのように行いますか | バックアップ
バックアップを取得する方法を教えてください | バックアップを取得
名刺の発注はどうすればいいですか？ | 名刺の発注
名刺の発注方法について教えていただけますか | 名刺の発注
試用期間の定義を教えてください | 試用期間
試用期間の詳細を教えて下さい | 試用期間
喫煙に関してまとめてください | 喫煙
喫煙についての記述をもれなく挙げてください | 喫煙
服装規定の概要を説明して | 服装規定
"""
HELD_JAPANESE = """
来客用駐車場って何のことですか | 来客用駐車場
忘れ物の扱いについて確認したいです | 忘れ物の扱い
防災訓練に関する資料を見せてください | 防災訓練
フォークリフトについて書かれている箇所を教えてください | フォークリフト
フォークリフトの利用方法がわかりません | フォークリフト
育児休業について何か情報はありますか？ | 育児休業
育児休業はどのような制度ですか | 育児休業
ラベルプリンターはどうやって使うのですか | ラベルプリンター
社用車の予約方法は？ | 社用車の予約
ドキュメントで年末調整について触れている部分を探してください | 年末調整
年末調整についてすべて教えてほしいです | 年末調整
懲戒処分の意味は何ですか | 懲戒処分
冷却水とはどんなものですか | 冷却水
冷却水についての情報が欲しい | 冷却水
交通費に関する内容を抜き出してください | 交通費
健康診断についてはどこを見ればいいですか | 健康診断
入館証を紛失した場合はどうすればいいですか | 入館証を紛失
ギフトカードは使えますか | ギフトカード
棚卸しの手順が知りたいです | 棚卸し
校正証明書について説明をお願いします | 校正証明書
"""


def split(table: str) -> list[tuple[str, str]]:
    return [
        (question.strip(), topic.strip())
        for question, _, topic in (line.partition("|") for line in table.split("\n") if line)
    ]


@pytest.mark.parametrize(("question", "topic"), split(ENGLISH + JAPANESE))
def test_a_question_searches_its_topic(question, topic):
    assert parse_query(question).phrase.written == topic


def test_questions_that_the_rules_were_not_written_for_search_their_topic():
    missed = [
        (question, parse_query(question).phrase.written)
        for question, topic in split(HELD_ENGLISH + HELD_JAPANESE)
        if parse_query(question).phrase.written != topic
    ]
    assert missed == []


@pytest.mark.parametrize(
    "term",
    [
        "kubectl explain", "use case", "list operations", "What's New", "how-to guide", "find command",
        "show interfaces", "設定方法", "使い方ガイド", "手順書", "方法論", "目的", "all-purpose cleaner", "About us",
        "where clause", "概要",
        "the about page", "explain plan", "説明書", "何でも箱", "if statement", "Getting started with labels",
    ],
)  # fmt: skip
def test_a_term_with_such_words_is_searched_as_it_is(term):
    assert parse_query(term).phrase.written == term
