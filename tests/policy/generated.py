"""Texts with personal data and secrets in them, made by rules of how such things are given out: numbering plans, check
digits, makers' formats. None of it is taken from the detectors' patterns. And texts that only look like it."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass

Random = random.Random


@dataclass(frozen=True)
class Sample:
    text: str
    truth: tuple[tuple[str, int, int], ...]  # kind, start, end


WIDE = str.maketrans("0123456789-", "０１２３４５６７８９－")
FAMILY = ["佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤"]
NAMES = ["sato", "suzuki.k", "hanako_tanaka", "j.smith", "mary-ann", "dev+alerts", "x", "info", "a.b.c", "no.reply2"]
HOSTS = [
    "example.com",
    "mail.example.co.jp",
    "corp.example.org",
    "gmail.com",
    "docomo.ne.jp",
    "u-tokyo.ac.jp",
    "acme.io",
]
TOWNS = [
    ("東京都", "千代田区", "丸の内"), ("東京都", "渋谷区", "神宮前"), ("大阪府", "大阪市北区", "梅田"), ("北海道", "札幌市中央区", "北一条西"),
    ("神奈川県", "横浜市西区", "みなとみらい"), ("愛知県", "名古屋市中村区", "名駅"), ("福岡県", "福岡市博多区", "博多駅前"), ("京都府", "京都市左京区", "吉田本町"),
    ("沖縄県", "那覇市", "おもろまち"), ("埼玉県", "さいたま市大宮区", "桜木町"), ("兵庫県", "神戸市中央区", "三宮町"), ("長野県", "北佐久郡軽井沢町", "軽井沢"),
]  # fmt: skip
STREETS = ["Main Street", "Elm St", "N. Lincoln Avenue", "Sunset Blvd", "Oak Tree Lane", "King's Road", "Park Place"]
CITIES = ["Springfield, IL 62704", "San Jose, CA 95112", "Portland, OR 97205", "Austin, TX 78701-4321"]
AREAS_JP = ["03", "06", "011", "045", "052", "075", "092", "098", "0466", "0267", "04992"]


def digits(rng: Random, size: int) -> str:
    return "".join(rng.choice(string.digits) for _ in range(size))


def letters(rng: Random, size: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(rng.choice(alphabet) for _ in range(size))


# Personal data


def email(rng: Random) -> str:
    made = f"{rng.choice(NAMES)}{rng.choice(['', digits(rng, 2)])}@{rng.choice(HOSTS)}"
    return made.replace("@", "＠") if rng.random() < 0.05 else made


def phone(rng: Random) -> str:
    style = rng.randrange(10)
    if style >= 8:
        spaced = f"{rng.choice(['090', '080'])} {rng.randint(1000, 9999)} {digits(rng, 4)}"
        landline = f"0{rng.choice(['3', '6'])} {rng.randint(3000, 6999)} {digits(rng, 4)}"
        wide = f"{rng.choice(['03', '06'])}（{rng.randint(3000, 6999)}）{digits(rng, 4)}".translate(WIDE)
        return rng.choice(
            [spaced, landline, wide, f"0{rng.choice(['7', '8', '9'])}0ー{rng.randint(1000, 9999)}ー{digits(rng, 4)}"]
        )
    if style <= 2:
        made = f"{rng.choice(['090', '080', '070', '050'])}-{rng.randint(1000, 9999)}-{digits(rng, 4)}"
        if style == 1:
            made = made.replace("-", "")
        return made.translate(WIDE) if rng.random() < 0.3 else made
    if style <= 4:
        area = rng.choice(AREAS_JP)
        middle = str(rng.randint(2 * 10 ** (5 - len(area)), 10 ** (6 - len(area)) - 1))
        shapes = (
            f"{area}-{middle}-{digits(rng, 4)}",
            f"{area}({middle}){digits(rng, 4)}",
            f"({area}) {middle}-{digits(rng, 4)}",
        )
        return rng.choice(shapes)
    if style == 5:
        return rng.choice([f"0120-{digits(rng, 3)}-{digits(rng, 3)}", f"0120-{digits(rng, 2)}-{digits(rng, 4)}"])
    if style == 6:
        code, rest = rng.choice([("81", f"90-{rng.randint(1000, 9999)}-{digits(rng, 4)}"), ("81", f"3-{rng.randint(3000, 6999)}-{digits(rng, 4)}"),
                                 ("44", f"20 7946 0{digits(rng, 3)}"), ("49", f"30 {digits(rng, 8)}"), ("1", f"(415) 555-{digits(rng, 4)}")])  # fmt: skip
        return f"+{code} {rest}" if " " in rest else f"+{code}-{rest}"
    area, exchange = rng.randint(201, 989), rng.randint(201, 989)
    return rng.choice(
        [
            f"({area}) {exchange}-{digits(rng, 4)}",
            f"{area}-{exchange}-{digits(rng, 4)}",
            f"{area}.{exchange}.{digits(rng, 4)}",
        ]
    )


def postal_code(rng: Random) -> str:
    made = f"〒{rng.choice(['', ' '])}{digits(rng, 3)}-{digits(rng, 4)}"
    return made.translate(WIDE) if rng.random() < 0.2 else made


def address(rng: Random) -> str:
    if rng.random() < 0.35:
        return f"{rng.randint(1, 9999)} {rng.choice(STREETS)}, {rng.choice(CITIES)}"
    prefecture, city, town = rng.choice(TOWNS)
    a, b, c = rng.randint(1, 9), rng.randint(1, 40), rng.randint(1, 30)
    number = rng.choice(
        [
            f"{a}-{b}-{c}",
            f"{a}丁目{b}番{c}号",
            f"{a}丁目{b}-{c}",
            f"{b}番地",
            f"{'一二三四五六七八九'[a - 1]}丁目{b}番{c}号",
        ]
    )
    # Without its prefecture an address is told by the number of its block.
    short = "郡" not in city and "番地" not in number and rng.random() < 0.3
    made = f"{'' if short else prefecture}{city}{town}{number}"
    return made.translate(WIDE) if rng.random() < 0.15 else made


def my_number(rng: Random) -> str:
    body = digits(rng, 11)
    weights = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]  # 総務省令第八十五号: for the digits from the left
    rest = sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11
    whole = body + str(0 if rest <= 1 else 11 - rest)
    return rng.choice([whole, f"{whole[:4]}-{whole[4:8]}-{whole[8:]}", f"{whole[:4]} {whole[4:8]} {whole[8:]}"])


def card(rng: Random) -> str:
    prefix, size = rng.choice([("4", 16), ("51", 16), ("55", 16), ("37", 15), ("3530", 16), ("6011", 16), ("2221", 16)])
    body = prefix + digits(rng, size - len(prefix) - 1)
    doubled = [int(d) * (2 if i % 2 == 0 else 1) for i, d in enumerate(reversed(body))]
    total = sum(d - 9 if d > 9 else d for d in doubled)
    whole = body + str(-total % 10)
    if size == 15:
        return rng.choice([whole, f"{whole[:4]} {whole[4:10]} {whole[10:]}"])
    return rng.choice(
        [
            whole,
            " ".join(whole[i : i + 4] for i in range(0, 16, 4)),
            "-".join(whole[i : i + 4] for i in range(0, 16, 4)),
        ]
    )


def ssn(rng: Random) -> str:
    return f"{rng.randint(1, 665):03d}-{rng.randint(1, 99):02d}-{rng.randint(1, 9999):04d}"


# Secrets


def token(prefix: str, size: int, alphabet: str = string.ascii_letters + string.digits) -> Callable[[Random], str]:
    return lambda rng: prefix + letters(rng, size, alphabet)


def jwt(rng: Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    signature = base64.urlsafe_b64encode(rng.randbytes(32)).decode().rstrip("=")
    return (
        f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': digits(rng, 8), 'name': rng.choice(NAMES)})}.{signature}"
    )


def pem(rng: Random) -> str:
    body = base64.b64encode(rng.randbytes(96)).decode()
    kind = rng.choice(["RSA ", "EC ", "", "OPENSSH "])
    lines = "\n".join(body[i : i + 64] for i in range(0, len(body), 64))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def iban(rng: Random) -> str:
    country, size = rng.choice([("DE", 18), ("GB", 18), ("FR", 23), ("NL", 14)])
    bank = letters(rng, 4, string.ascii_uppercase) if country in ("GB", "NL") else digits(rng, 4)
    body = bank + digits(rng, size - 4)
    number = int("".join(str(int(letter, 36)) for letter in f"{body}{country}00"))
    whole = f"{country}{98 - number % 97:02d}{body}"
    return rng.choice([whole, " ".join(whole[i : i + 4] for i in range(0, len(whole), 4))])


def chosen(rng: Random) -> str:
    """A password as people choose them."""
    word = rng.choice(["sakura", "Tokonoma", "correcthorse", "Winter", "neko"])
    return f"{word}{rng.choice(['!', '#', '_', '$'])}{digits(rng, rng.randint(2, 6))}{rng.choice(['', 'x', '?'])}"


URLSAFE = string.ascii_letters + string.digits + "-_"
KINDS: dict[str, list[Callable[[Random], str]]] = {
    "email": [email],
    "phone": [phone],
    "postal_code": [postal_code],
    "address": [address],
    "my_number": [my_number],
    "card": [card],
    "ssn": [ssn],
    "iban": [iban],
    "password": [chosen],
    "url_password": [chosen],
    "openai_key": [token("sk-proj-", 48), token("sk-", 48)],
    "anthropic_key": [token("sk-ant-api03-", 80, URLSAFE)],
    "github_token": [
        token("ghp_", 36),
        token("gho_", 36),
        lambda rng: f"github_pat_{letters(rng, 22)}_{letters(rng, 59)}",
    ],
    "gitlab_token": [token("glpat-", 20)],
    "slack_token": [lambda rng: f"xoxb-{digits(rng, 12)}-{digits(rng, 12)}-{letters(rng, 24)}"],
    "aws_access_key": [token("AKIA", 16, string.ascii_uppercase + "234567")],
    "google_api_key": [token("AIzaSy", 33, URLSAFE)],
    "stripe_key": [token("sk_live_", 24), token("rk_test_", 24)],
    "sendgrid_key": [lambda rng: f"SG.{letters(rng, 22)}.{letters(rng, 43)}"],
    "npm_token": [token("npm_", 36)],
    "huggingface_token": [token("hf_", 34)],
    "jwt": [jwt],
    "private_key": [pem],
}

# Nobody can tell a password by itself: something says what it is.
WRAPPED = {
    "password": [
        ("パスワードは", " です"),
        ("password: ", " "),
        ("PASSWORD=", "\n"),
        ('"password": "', '"'),
        ("パスワード：", "、"),
    ],
    "url_password": [("postgresql://app:", "@db.internal:5432/app"), ("https://deploy:", "@git.example.com/x.git")],
}

JAPANESE = [
    "連絡先は{}です。", "詳しくは{}まで。", "{}に送ってください", "担当の{who}（{}）より", "メモ：{}。確認済み", "昨日{who}さんから聞いた{}を控えておく。",
    "「{}」と書いてあった。", "宛先→{}／{who}様", "先方は{}を使っている、とのこと", "・{}\n・打ち合わせは来週",
]  # fmt: skip
ENGLISH = [
    "Please use {} from now on.", "You can find it here: {}", "{who} told me {} yesterday.", "The value was {}, as agreed.", "({})", "Contact: {}\nThanks!",
    'She wrote "{}" in the form.', "note to self - {} - do not lose", "before {} after",
]  # fmt: skip


# What only looks like it


def order(rng: Random) -> str:
    return rng.choice([
        f"注文番号 {digits(rng, 12)}", f"Order #{digits(rng, 12)}", f"ORD-2026{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}-{digits(rng, 5)}",
        f"tracking no. {digits(rng, 4)}-{digits(rng, 4)}-{digits(rng, 4)}", f"請求書番号：INV{digits(rng, 8)}", f"SKU {digits(rng, 3)}-{digits(rng, 5)}", f"伝票番号{digits(rng, 10)}",
    ])  # fmt: skip


def moment(rng: Random) -> str:
    y, m, d = rng.randint(1990, 2035), rng.randint(1, 12), rng.randint(1, 28)
    return rng.choice([
        f"{y}-{m:02d}-{d:02d}", f"{y}/{m}/{d}", f"{y}年{m}月{d}日", f"{d:02d}-{m:02d}-{y}", f"{y}-{m:02d}-{d:02d}T0{rng.randint(0, 9)}:30:00+09:00",
        f"{y}{m:02d}{d:02d}{rng.randint(0, 23):02d}{rng.randint(0, 59):02d}", f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}", f"令和{rng.randint(1, 9)}年{m}月", str(rng.randint(10**12, 2 * 10**12)),
    ])  # fmt: skip


def version(rng: Random) -> str:
    return rng.choice([
        f"v{rng.randint(0, 30)}.{rng.randint(0, 99)}.{rng.randint(0, 99)}", f"react@{rng.randint(1, 19)}.2.0", f"Python 3.{rng.randint(8, 14)}.{rng.randint(0, 9)}",
        f"build {digits(rng, 8)}", f"RFC {rng.randint(1000, 9999)}", f"ISO 8601-{rng.randint(1, 2)}:2019", f"Chrome/1{digits(rng, 2)}.0.{digits(rng, 4)}.{digits(rng, 2)}",
    ])  # fmt: skip


def hashed(rng: Random) -> str:
    hexes = "0123456789abcdef"
    return rng.choice([
        letters(rng, 40, hexes), letters(rng, 64, hexes), f"sha256:{letters(rng, 64, hexes)}", letters(rng, 7, hexes), str(uuid.UUID(bytes=rng.randbytes(16))), f"etag W/\"{letters(rng, 20, hexes)}\"",
    ])  # fmt: skip


def network(rng: Random) -> str:
    return rng.choice([
        f"192.0.2.{rng.randint(0, 255)}", f"198.51.100.{rng.randint(0, 255)}:8080", f"10.{rng.randint(0, 255)}.0.0/16", "2001:db8::8a2e:370:7334", "git@github.com:owner/repo.git",
        "https://example.com/path?id=" + digits(rng, 9), "logo@2x.png", "@types/node", "getty@tty1.service", "user@host", "ssh://git@example.com/x.git", "@hanako さん",
    ])  # fmt: skip


def figures(rng: Random) -> str:
    return rng.choice([
        f"{rng.randint(1, 999)},{digits(rng, 3)},{digits(rng, 3)}円", f"${rng.randint(1, 999)},{digits(rng, 3)}.50", f"3.{digits(rng, 10)}", f"{rng.randint(1, 99)}%", f"第{rng.randint(1, 40)}条第{rng.randint(1, 9)}項",
        f"p.{rng.randint(1, 900)}-{rng.randint(901, 1200)}", f"ISBN 978-4-{digits(rng, 2)}-{digits(rng, 6)}-{digits(rng, 1)}", f"{rng.randint(1, 12)}-{rng.randint(0, 9)}で勝利", f"画面は{rng.randint(1, 4)}丁目劇場のもの", "東京都の人口は1400万人", f"大阪市は{rng.randint(2, 9)}年連続",
    ])  # fmt: skip


def shown_secret(rng: Random) -> str:
    return rng.choice([
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "password: required", "api_key = os.environ['API_KEY']", "パスワードは八文字以上にする", "token: <your token>", "Authorization: Bearer $TOKEN", "postgres://user:password@localhost/db",
        "-----BEGIN CERTIFICATE-----", "the password is case sensitive", "secret = settings.secret_key", "ghp_ で始まる鍵", "AKIA… のような形", "password=********",
    ])  # fmt: skip


NEGATIVES = [order, moment, version, hashed, network, figures, shown_secret]


def sample(rng: Random) -> Sample:
    """One text: a third hold nothing, the others one or two things, often beside what only looks like one."""
    parts: list[str] = []
    truth: list[tuple[str, int, int]] = []
    kinds = [] if rng.random() < 0.35 else [rng.choice(list(KINDS)) for _ in range(rng.choice([1, 1, 2]))]
    lines: list[str | None] = [*kinds, *[None] * rng.choice([1, 1, 2])]
    rng.shuffle(lines)
    place = 0
    for kind in lines:
        frame = rng.choice(JAPANESE if rng.random() < 0.55 else ENGLISH).replace("{who}", rng.choice(FAMILY))
        made = rng.choice(KINDS[kind])(rng) if kind is not None else rng.choice(NEGATIVES)(rng)
        before, _, after = frame.partition("{}")
        lead, tail = rng.choice(WRAPPED[kind]) if kind in WRAPPED else ("", "")
        before, after = before + lead, tail + after
        if kind is not None:
            truth.append((kind, place + len(before), place + len(before) + len(made)))
        line = f"{before}{made}{after}\n"
        parts.append(line)
        place += len(line)
    return Sample("".join(parts), tuple(truth))


def samples(count: int, seed: int) -> list[Sample]:
    rng = random.Random(seed)
    return [sample(rng) for _ in range(count)]
