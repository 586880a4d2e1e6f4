"""Times as people write them, and the days that they mean on Wednesday, 18 March 2026. `..` is an open side."""

ENGLISH = """
how was lunch yesterday                             2026-03-17
what did I eat the day before yesterday             2026-03-16
plans for tomorrow                                  2026-03-19
anything on the day after tomorrow?                 2026-03-20
today's to-do list                                  2026-03-18
who rang this morning?                              2026-03-18
the film we saw last night                          2026-03-17
the noise in the night before last                  2026-03-16
dinner tonight                                      2026-03-18
what did Noor say yesterday afternoon               2026-03-17
what broke three days ago                           2026-03-15
the parcel that came 10 days ago                    2026-03-08
that thing a couple of days ago                     2026-03-16
a few days ago I wrote about moss                   2026-03-13 2026-03-16
the storm two weeks ago                             2026-03-01 2026-03-07
the visit a fortnight ago                           2026-03-01 2026-03-07
two or three weeks ago we met a vet                 2026-02-22 2026-03-07
5 months ago                                        2025-10-03 2025-11-02
half a year ago                                     2025-08-19 2025-10-18
three years ago in August                           2023-08-01 2023-08-31
two weeks ago on Tuesday                            2026-03-03
a year ago today                                    2025-03-18
the minutes of last week                            2026-03-09 2026-03-15
agenda for next week                                2026-03-23 2026-03-29
how much did I walk this week                       2026-03-16 2026-03-22
the week before last                                2026-03-02 2026-03-08
what is planned for the week after next             2026-03-30 2026-04-05
bills of last month                                 2026-02-01 2026-02-28
rent due this month                                 2026-03-01 2026-03-31
travel next month                                   2026-04-01 2026-04-30
the month before last                               2026-01-01 2026-01-31
last year's insurance                               2025-01-01 2025-12-31
goals for this year                                 2026-01-01 2026-12-31
the year before last                                2024-01-01 2024-12-31
what happened last weekend                          2026-03-14 2026-03-15
the hike this weekend                               2026-03-21 2026-03-22
next weekend's guests                               2026-03-28 2026-03-29
the last 30 days                                    2026-02-16 2026-03-18
expenses of the past two weeks                      2026-03-04 2026-03-18
sleep over the past week                            2026-03-11 2026-03-18
what is due in the next 10 days?                    2026-03-18 2026-03-28
the call on Monday                                  2026-03-16
what did the plumber say on Thursday                2026-03-12
last Friday's talk                                  2026-03-13
the meeting next Friday                             2026-03-20
dinner with Ola this Saturday                       2026-03-21
Friday last week                                    2026-03-13
Tuesday of next week                                2026-03-24
Monday morning's accident                           2026-03-16
who came on Sunday evening?                         2026-03-15
what have I written since Monday                    2026-03-16 ..
how did I sleep from Tuesday to Thursday last week  2026-03-10 2026-03-12
the talk of 25 May 2022                             2022-05-25
May 25th, 2022                                      2022-05-25
the 3rd of February                                 2026-02-03
on Sept. 5                                          2025-09-05
8-Oct-2025                                          2025-10-08
minutes of 2022-05-25                               2022-05-25
the release of 2025-11                              2025-11-01 2025-11-30
report of 24.12.2025                                2025-12-24
the receipt of 12/25/2025                           2025-12-25
what broke around the 10th?                         2026-03-08 2026-03-12
the letter that arrived on the 4th                  2026-03-04
the trip in June                                    2025-06-01 2025-06-30
what did we plant in May?                           2025-05-01 2025-05-31
the wedding in May 2019                             2019-05-01 2019-05-31
the concert last November                           2025-11-01 2025-11-30
where will we stay in August?                       2026-08-01 2026-08-31
last year, what did I sow in April?                 2025-04-01 2025-04-30
what did I sow in April last year                   2025-04-01 2025-04-30
early June 2025                                     2025-06-01 2025-06-10
mid-January's cold                                  2026-01-11 2026-01-20
what did we order in late February                  2026-02-21 2026-02-28
at the end of January                               2026-01-25 2026-01-31
the beginning of last year                          2025-01-01 2025-01-17
the first week of February                          2026-02-01 2026-02-07
the last week of February                           2026-02-22 2026-02-28
the second Tuesday of February                      2026-02-10
the state she visited in summer 2021                2021-06-01 2021-08-31
the garden in the spring of 2024                    2024-03-01 2024-05-31
which coat did I wear last winter                   2025-12-01 2026-02-28
plans for this summer                               2026-06-01 2026-08-31
what did we harvest in autumn                       2025-09-01 2025-11-30
everything in 2023                                  2023-01-01 2023-12-31
music of the 1990s                                  1990-01-01 1999-12-31
revenue in Q3 2025                                  2025-07-01 2025-09-30
the second quarter of 2024                          2024-04-01 2024-06-30
results of last quarter                             2025-10-01 2025-12-31
the first half of 2025                              2025-01-01 2025-06-30
the budget of FY2024                                2024-04-01 2025-03-31
fiscal year 2023                                    2023-04-01 2024-03-31
what did we eat at Christmas                        2025-12-24 2025-12-26
gifts last Christmas                                2025-12-24 2025-12-26
over Easter 2025                                    2025-04-18 2025-04-21
on New Year's Eve                                   2025-12-31
since 2 March                                       2026-03-02 ..
changes since last week                             2026-03-09 ..
notes after 5 January                               2026-01-06 ..
all before 5 January 2026                           .. 2026-01-04
until the end of February                           .. 2026-02-28
everything before 2024                              .. 2023-12-31
by last Friday                                      .. 2026-03-13
since the beginning of the year                     2026-01-01 ..
between May 3 and June 2                            2025-05-03 2025-06-02
May 3-5                                             2025-05-03 2025-05-05
3–5 May 2024                                        2024-05-03 2024-05-05
between October and February                        2025-10-01 2026-02-28
from November 2024 to February                      2024-11-01 2025-02-28
from 2019 to 2021                                   2019-01-01 2021-12-31
2025-02-01 to 2025-02-14                            2025-02-01 2025-02-14
what happened Wednesday                             2026-03-18
Friday before last, who came?                       2026-03-06
a week ago today                                    2026-03-11
a month ago today I fell                            2026-02-18
this time last year                                 2025-03-03 2025-04-02
what did I do on this day last year                 2025-03-18
this past Friday                                    2026-03-13
the coming Monday                                   2026-03-23
over the weekend                                    2026-03-14 2026-03-15
what are we doing at the weekend?                   2026-03-21 2026-03-22
the weekend before last                             2026-03-07 2026-03-08
on Friday the 13th                                  2026-03-13
since last Tuesday                                  2026-03-17 ..
since the 3rd                                       2026-03-03 ..
since 2019                                          2019-01-01 ..
since June                                          2025-06-01 ..
since Christmas                                     2025-12-24 ..
until Thursday                                      .. 2026-03-12
before March 2025                                   .. 2025-02-28
by the end of next week                             .. 2026-03-29
prior to June 2025                                  .. 2025-05-31
up to 3 May 2025                                    .. 2025-05-03
starting May 1, 2025                                2025-05-01 ..
from May 2025 onwards                               2025-05-01 ..
from 3 March on                                     2026-03-03 ..
after the summer                                    2025-09-01 ..
before the weekend                                  .. 2026-03-13
Jan-Mar 2025                                        2025-01-01 2025-03-31
May 28 – June 3                                     2025-05-28 2025-06-03
between 3 and 10 May                                2025-05-03 2025-05-10
from the 3rd to the 5th of May                      2025-05-03 2025-05-05
May 3 to 5                                          2025-05-03 2025-05-05
5/2024                                              2024-05-01 2024-05-31
Oct '25                                             2025-10-01 2025-10-31
summer '24                                          2024-06-01 2024-08-31
Wednesday, 8 October 2025                           2025-10-08
October the 8th                                     2025-10-08
the invoice of the 15th of last month               2026-02-15
Q4 of last year                                     2025-10-01 2025-12-31
Q4 last year                                        2025-10-01 2025-12-31
the last quarter of 2024                            2024-10-01 2024-12-31
this quarter                                        2026-01-01 2026-03-31
first half of last year                             2025-01-01 2025-06-30
H1 2025                                             2025-01-01 2025-06-30
last fiscal year                                    2024-04-01 2025-03-31
three hours ago                                     2026-03-18
in the last year                                    2025-03-18 2026-03-18
over the last month                                 2026-02-18 2026-03-18
the last few weeks                                  2026-02-11 2026-03-18
late last year                                      2025-09-01 2025-12-31
early this year                                     2026-01-01 2026-05-01
early in May                                        2025-05-01 2025-05-10
late in 2024                                        2024-09-01 2024-12-31
end of the week                                     2026-03-20 2026-03-22
towards the end of February                         2026-02-22 2026-02-28
in the middle of June                               2025-06-11 2025-06-20
in October of last year                             2025-10-01 2025-10-31
in October this year                                2026-10-01 2026-10-31
back in February                                    2026-02-01 2026-02-28
the March invoice                                   2026-03-01 2026-03-31
in March and May                                    2026-03-01 2026-03-31
"""

JAPANESE = """
昨日の昼ごはん                      2026-03-17
きのう会った人                      2026-03-17
一昨日の電話                        2026-03-16
おとといから調子が悪い              2026-03-16 ..
今日やったこと                      2026-03-18
本日の議題                          2026-03-18
今朝の気温                          2026-03-18
昨夜の地震                          2026-03-17
ゆうべ考えたこと                    2026-03-17
明日の持ち物                        2026-03-19
あさっての来客                      2026-03-20
明後日の飛行機                      2026-03-20
三日前に届いた荷物                  2026-03-15
3日後の締め切り                     2026-03-21
数日前のメモ                        2026-03-13 2026-03-16
2週間前の打ち合わせ                 2026-03-01 2026-03-07
２、３週間前に読んだ記事            2026-02-22 2026-03-07
三ヶ月前の通院                      2025-12-03 2026-01-02
半年前の契約                        2025-08-19 2025-10-18
三年前の五月                        2023-05-01 2023-05-31
先週の決定                          2026-03-09 2026-03-15
先週の木曜の会議                    2026-03-12
先々週の出張                        2026-03-02 2026-03-08
今週の買い物                        2026-03-16 2026-03-22
来週の予定                          2026-03-23 2026-03-29
再来週の月曜日                      2026-03-30
来週の水曜までにやること            .. 2026-03-25
先月の電気代                        2026-02-01 2026-02-28
先々月の残業                        2026-01-01 2026-01-31
今月の目標                          2026-03-01 2026-03-31
来月の家賃                          2026-04-01 2026-04-30
先月20日の面談                      2026-02-20
去年の健康診断                      2025-01-01 2025-12-31
昨年の冬の雪かき                    2025-12-01 2026-02-28
一昨年の引っ越し                    2024-01-01 2024-12-31
おととしの秋の旅行                  2024-09-01 2024-11-30
来年の計画                          2027-01-01 2027-12-31
去年の6月の旅行                     2025-06-01 2025-06-30
週末に作った料理                    2026-03-14 2026-03-15
先週末の試合                        2026-03-14 2026-03-15
今週末の天気                        2026-03-21 2026-03-22
土日の予定は?                       2026-03-21 2026-03-22
月曜日に頼まれたこと                2026-03-16
金曜の飲み会                        2026-03-13
日曜の夜に見た映画                  2026-03-15
2022年5月25日の会議                 2022-05-25
２０２２年５月の会議                2022-05-01 2022-05-31
二〇二三年八月十日の手紙            2023-08-10
2022/5/25の議事録                   2022-05-25
2025.11.30 振込                     2025-11-30
2022/05 の経費                      2022-05-01 2022-05-31
10/8の夕食                          2025-10-08
3/10(火)の通話                      2026-03-10
3月10日(火)の通話                   2026-03-10
十二月二十四日の夜                  2025-12-24
7月の旅行                           2025-07-01 2025-07-31
10日ごろ何があった                  2026-03-08 2026-03-12
5日に買ったもの                     2026-03-05
2月上旬の発注                       2026-02-01 2026-02-10
1月中旬に読んだ本                   2026-01-11 2026-01-20
6月下旬の出張先                     2025-06-21 2025-06-30
2月末の残高                         2026-02-22 2026-02-28
1月第2月曜日                        2026-01-12
2月第1週の記録                      2026-02-01 2026-02-07
2024年の夏                          2024-06-01 2024-08-31
この冬に使った灯油                  2025-12-01 2026-02-28
昨夏の電気代                        2025-06-01 2025-08-31
秋に植えた球根                      2025-09-01 2025-11-30
夏休みに行った島                    2025-07-20 2025-08-31
2023年の抱負                        2023-01-01 2023-12-31
1990年代の音楽                      1990-01-01 1999-12-31
80年代の映画                        1980-01-01 1989-12-31
2024年度の予算                      2024-04-01 2025-03-31
昨年度の報告書                      2024-04-01 2025-03-31
今年度の目標                        2025-04-01 2026-03-31
2025年度上期の成績                  2025-04-01 2025-09-30
2024年度第3四半期                   2024-10-01 2024-12-31
2025年第二四半期の売上              2025-04-01 2025-06-30
令和5年の手帳                       2023-01-01 2023-12-31
令和元年十二月                      2019-12-01 2019-12-31
平成30年度の決算                    2018-04-01 2019-03-31
昭和60年の写真                      1985-01-01 1985-12-31
R6.5.1の申請                        2024-05-01
H30.12.3付の書類                    2018-12-03
年末年始の休館日                    2025-12-28 2026-01-04
去年のお盆の帰省                    2025-08-13 2025-08-16
ゴールデンウィークに行った店        2025-04-29 2025-05-06
一昨年のGWの渋滞                    2024-04-29 2024-05-06
クリスマスにもらった本              2025-12-24 2025-12-26
大晦日の夕飯                        2025-12-31
正月に会った親戚                    2026-01-01 2026-01-03
年末に買った靴                      2025-12-15 2025-12-31
3月2日以降のメモ                    2026-03-02 ..
先月以降の変更                      2026-02-01 ..
2020年以前の写真                    .. 2020-12-31
1月5日までの記録                    .. 2026-01-05
2月より前の議事録                   .. 2026-01-31
今年度に入ってからの欠席            2025-04-01 ..
3月3日から5日まで                   2026-03-03 2026-03-05
2月25日〜3月2日の旅行               2026-02-25 2026-03-02
11月から1月までの電気代             2025-11-01 2026-01-31
12月と2月の間に読んだ本             2025-12-01 2026-02-28
2019年から2021年の記録              2019-01-01 2021-12-31
過去30日の支出                      2026-02-16 2026-03-18
直近2週間の睡眠                     2026-03-04 2026-03-18
ここ1か月の体重                     2026-02-18 2026-03-18
今後10日の予定                      2026-03-18 2026-03-28
先月の15日                          2026-02-15
今度の日曜                          2026-03-22
この前の土曜                        2026-03-14
次の金曜日の会議                    2026-03-20
今週の月曜から水曜                  2026-03-16 2026-03-18
月曜から今日まで                    2026-03-16 2026-03-18
去年の今頃                          2025-03-03 2025-04-02
1年前の今日                         2025-03-18
10日の会議                          2026-03-10
年内にやりたいこと                  2026-01-01 2026-12-31
年度末の処理                        2026-03-15 2026-03-31
今年度末の処理                      2026-03-15 2026-03-31
昨年度末                            2025-03-15 2025-03-31
来春の旅行                          2027-03-01 2027-05-31
昨秋の展示                          2025-09-01 2025-11-30
3/3-3/5の出張                       2026-03-03 2026-03-05
4月1日から今日まで                  2025-04-01 2026-03-18
先月から今月にかけて                2026-02-01 2026-03-31
昨年末から今年初めにかけて          2025-12-15 2026-01-17
GW明けの会議                        2025-05-07 ..
お盆前に届いた荷物                  .. 2025-08-12
昨日までの進捗                      .. 2026-03-17
3日以内に返す本                     2026-03-18 2026-03-21
半月前の件                          2026-03-03
ひと月前                            2026-02-03 2026-03-05
1か月ほど前に見た車                 2026-02-03 2026-03-05
さっきの話                          2026-03-18
R6.5の申請                          2024-05-01 2024-05-31
令和六年五月                        2024-05-01 2024-05-31
先週月曜                            2026-03-09
今週初めの件                        2026-03-16 2026-03-18
来週前半の予定                      2026-03-23 2026-03-24
梅雨に壊れた傘                      2025-06-05 2025-07-20
最近読んだ本                        2026-02-16 2026-03-18
先日の件                            2026-03-04 2026-03-18
二月の終わりごろ                    2026-02-22 2026-02-28
5月の連休                           2025-05-01 2025-05-31
木曜の午後                          2026-03-12
去年の12月                          2025-12-01 2025-12-31
去年12月24日                        2025-12-24
一昨年の年末                        2024-12-15 2024-12-31
今年の元日                          2026-01-01
年始の挨拶                          2026-01-01 2026-01-15
上期の目標                          2025-04-01 2025-09-30
今年の上半期                        2026-01-01 2026-06-30
来年度の予算                        2026-04-01 2027-03-31
第3四半期の売上                     2025-10-01 2025-12-31
先週金曜から今週月曜                2026-03-13 2026-03-16
2025年3月から5月まで                2025-03-01 2025-05-31
2025年12月から2月                   2025-12-01 2026-02-28
一週間前                            2026-03-08 2026-03-14
昨日の夜中                          2026-03-17
明日の午前                          2026-03-19
来週中に                            2026-03-23 2026-03-29
今月中に払うもの                    2026-03-01 2026-03-31
先月下旬                            2026-02-21 2026-02-28
去年の春ごろ                        2025-03-01 2025-05-31
2019年頃                            2019-01-01 2019-12-31
5月頃                               2025-05-01 2025-05-31
3月1日以前                          .. 2026-03-01
昨年4月以降                         2025-04-01 ..
2月10日より後                       2026-02-11 ..
先週以来                            2026-03-09 ..
火曜以降                            2026-03-17 ..
"""

NO_TIME = """
May I ask where the keys are?
what may happen if the boiler fails
the march of the penguins
Sunday roast with potatoes
a Black Friday bargain
Monday.com login
every Monday there is training
spring rolls for eight
garage spring and summer house keys
fall protection harness
winter tyres, which size?
version 10.8 of the firmware
Python 3.12.4 and 10.15.7
a 3/4 inch pipe
1/2 cup of sugar
open 24/7
50/50 split
Cyberpunk 2077
room 2022
32 days of warranty
finished in three days
the 5th floor
31 February 2022
9999-12-31 and 0000-00-00
he sat in the sun
the second one of the last two
Christmas cookies
192.168.10.8
call +81-3-1234-5678
解約の手順
月餅の作り方
春巻きの皮
秋刀魚の焼き方
日曜大工の道具
金曜ロードショーの録画
毎週月曜の掃除
月極駐車場
年末調整の書類
三日坊主の直し方
一日の摂取カロリー
二日酔いの薬
10日間の休暇
十人十色
13月
明治のヨーグルト
今日子さんの住所
バージョン10.8
しょうゆ大さじ1/2
砂糖1/2カップ
夏目漱石の本
冬瓜の煮物
生年月日の書き方
What did April say about the cake?
dinner with June
rated 9/10
Windows 95
Super Bowl Sunday snacks
Easter eggs
Blade Runner 2049
month-to-month contract
one day at a time
24-hour pharmacy
two-year contract
the last chapter of the book
next to the sink
in the end
late night snacks
early bird ticket
mid-range phone
end of line
the start of the race
the winter coat
summer school fees
fall asleep faster
I may be wrong
Dec alpha server
march madness
second hand shop
Mon Ami bakery
毎月25日の振込
毎年8月の健診
8月生まれの友達
春雨サラダ
秋田の地酒
冬眠用の箱
火曜サスペンス
五月人形の箱
水曜どうでしょうのDVD
明日香の電話番号
春日部の店
青春の曲
思春期の悩み
二十日大根の種
3年保証の書類
5年生の教科書
2000年問題
年越しそばの店
日本酒の銘柄
誕生日ケーキ
祝日の診療
今日庵の住所
半日コース
土用の丑の日
平成の終わり
"""


def list_expressions(table: str) -> list[tuple[str, str, str]]:
    """The text, and its first and last day."""
    rows: list[tuple[str, str, str]] = []
    for line in table.strip().splitlines():
        text, days = (part.strip() for part in line.rsplit("  ", 1))
        first, _, last = days.partition(" ")
        rows.append((text, first, last or first))
    return rows
