"""Words of clients, keys, people and profiles."""

WORDS = {
    # Overview
    (
        "Who may use this server, and how much of it. Changes hold within a second, also in other processes and for"
        " what is open."
    ): (
        "このサーバーを使えるクライアントや人と、その範囲です。変更は、ほかのプロセスや接続中のものにも 1 秒以内に"
        "反映されます。"
    ),
    "Hide what has ended": "終了したものを隠す",
    "Show what has ended, too": "終了したものも表示",
    "Clients": "クライアント",
    "Programs that people let in with OAuth. A client never has more rights than its person.": (
        "OAuth で許可されたプログラムです。許可した人の権限を超えることはありません。"
    ),
    "Person": "ユーザー",
    "May use": "使える範囲",
    "Last token": "最後のトークン発行",
    "Refresh reused": "更新トークンの再使用",
    "Look": "確認",
    "all modules": "すべてのモジュール",
    "hidden": "非表示",
    "extra tools": "追加ツール",
    "nothing": "なし（範囲外）",
    "everything": "すべて",
    "set": "設定済み",
    "See as": "見える範囲",
    "See as {name}": "{name} から見える範囲",
    "No client was let in yet. Add the address of this server to a client; it then opens a page on which you decide.": (
        "許可されたクライアントはまだありません。クライアントにこのサーバーの URL を追加すると、許可するかどうかを"
        "決めるページが開きます。"
    ),
    "API keys": "API キー",
    "For programs that cannot sign in with OAuth. A key is shown once.": (
        "OAuth でサインインできないプログラム用です。キーが表示されるのは一度だけです。"
    ),
    "Made": "発行日時",
    (
        "There is no key. Until there is one, a program on this machine is the owner over HTTP, unless a setting sa"
        "ys otherwise."
    ): (
        "キーはありません。最初のキーを発行するまでは、設定で変えていないかぎり、このマシン上のプログラムは HTTP で"
        "所有者として扱われます。"
    ),
    "Make a key": "キーを発行",
    "People": "ユーザー",
    "Who may sign in to these pages and let clients in.": "このページにサインインし、クライアントを許可できる人です。",
    "Sessions": "サインイン数",
    "Add a person": "ユーザーを追加",
    "Profiles": "プロファイル",
    "What a key or a client may use, under a name. It is copied: a later change of the profile changes no key.": (
        "キーやクライアントが使える範囲に名前を付けたものです。内容はコピーされるため、あとでプロファイルを変えても"
        "発行済みのキーは変わりません。"
    ),
    "There are no profiles yet.": "プロファイルはまだありません。",
    "Make a profile": "プロファイルを作成",
    # Editor
    "New": "新規作成",
    "API key": "API キー",
    "Client": "クライアント",
    "Let in by": "許可した人",
    "Since": "許可日時",
    (
        "A refresh token was used twice. Networks that fail cause this; if you do not know the address, revoke the "
        "client."
    ): (
        "更新トークンが 2 回使われました。通信の失敗でも起こりますが、アドレスに心当たりがない場合はクライアントを"
        "取り消してください。"
    ),
    "See as this credential": "見える範囲を確認",
    "Revoke …": "取り消す…",
    "Remove …": "削除…",
    "Begin with a profile": "プロファイルから始める",
    "Take over": "取り込む",
    "At most 64 letters, digits, spaces and . @ - _": "文字・数字・空白と . @ - _ を 64 文字まで使えます。",
    "Empty: never. Otherwise 90d, 12h, 4w or a date like 2027-01-31.": (
        "空欄なら無期限です。期限は 90d、12h、4w、または 2027-01-31 のような日付で指定します。"
    ),
    "At least 12 characters. Empty: the person signs in with a link.": (
        "12 文字以上。空欄の場合はリンクでサインインします。"
    ),
    "Namespace root": "名前空間の上限",
    "It cannot leave this namespace.": "この名前空間の外には出られません。",
    "It starts in": "最初の名前空間",
    "Empty: in its root.": "空欄なら上限と同じです。",
    "In all modules it may": "すべてのモジュールで許可する操作",
    "Untick write and destroy for reading only.": "書き込みと削除・破壊のチェックを外すと、読み取り専用になります。",
    "All but those that are not ticked, also those that are added later": (
        "チェックを外したもの以外すべて（今後追加されるものも含む）"
    ),
    "Only those that are ticked": "チェックしたものだけ",
    "{count} of {all} tools": "{all} 個中 {count} 個のツール",
    "Effects in {module}": "{module} で許可する操作",
    "Account {name}": "アカウント {name}",
    "All extra tools of {module}": "{module} の追加ツールすべて",
    "Tools of {module}": "{module} のツール",
    "Effect": "操作の種類",
    "Note": "備考",
    "extra": "追加",
    "hidden by {rule}": "{rule} により非表示",
    "Further rules of the mask": "そのほかのマスク規則",
    "About what the tree does not show, separated by spaces.": (
        "上の一覧にないものについての規則を、空白で区切って書きます。"
    ),
    "Show the rules": "規則を確認",
    "This would be stored": "保存される内容",
    "Rules": "規則",
    "Mask": "マスク",
    "Extra tools": "追加で使えるツール",
    "Tools that it sees": "見えるツール",
    "The same as a command": "同じことをするコマンド",
    # See as
    "Exactly what this credential sees at this moment. The policy, which decides about records, is not asked.": (
        "この資格情報からいま見えるものです。記録ごとの可否を決めるポリシーは含みません。"
    ),
    "Try a tool": "ツールを確認",
    "Check": "確認する",
    "It may use {tool}.": "{tool} を使えます。",
    "{tool} does not exist for it.": "{tool} は見えません。",
    "Accounts": "使えるアカウント",
    "It sees no tool.": "見えるツールはありません。",
    # Made once
    "The key is made. Save it now: it is never shown again, and only its hash is stored.": (
        "キーを発行しました。いま保存してください。保存されるのはハッシュだけで、再表示はできません。"
    ),
    "Programs send it in this header:": "プログラムは次のヘッダーで送ります。",
    "From the first key on, every HTTP caller needs one, even after all keys are revoked.": (
        "最初のキーを発行したあとは、すべてのキーを取り消しても、HTTP での利用にはキーが必要です。"
    ),
    "This link signs {name} in. It is good once, for five minutes, and is not shown again.": (
        "{name} がサインインするためのリンクです。5 分以内に一度だけ使え、再表示はできません。"
    ),
    # Revoking
    "Revoke {name}?": "{name} を取り消しますか？",
    "Remove {name}?": "{name} を削除しますか？",
    (
        "Every program with this key is refused within a second, and what it has open ends. The key cannot be made "
        "good again."
    ): ("このキーを使うプログラムは 1 秒以内に拒否され、開いている接続も終了します。キーを元に戻すことはできません。"),
    "It is the last key. Without it, every HTTP caller is refused, except clients that people let in.": (
        "これが最後のキーです。取り消すと、許可されたクライアント以外の HTTP での利用はすべて拒否されます。"
    ),
    (
        "Its tokens are refused within a second, and what it has open ends. To come back it needs a person who lets"
        " it in again."
    ): ("トークンは 1 秒以内に拒否され、開いている接続も終了します。もう一度使うには、改めて許可が必要です。"),
    "All sessions of this person and all clients that this person let in end. What the person has written stays.": (
        "このユーザーのサインインと、このユーザーが許可したクライアントはすべて終了します。書いた内容は残ります。"
    ),
    "What was made with this profile stays as it is.": "このプロファイルで作ったものはそのまま残ります。",
    "Revoke": "取り消す",
    "Remove": "削除する",
    # A person
    "Added": "追加日時",
    "Clients that this person let in": "このユーザーが許可したクライアント",
    "Sign in with a link": "リンクでサインイン",
    "The link is good once, for five minutes. Send it to the person in a way that only the person reads.": (
        "リンクは 5 分以内に一度だけ使えます。本人だけが読める方法で渡してください。"
    ),
    "Make a link": "リンクを作る",
    "All sessions of this person end when the password changes.": (
        "パスワードを変えると、このユーザーのサインインはすべて終了します。"
    ),
    "New password": "新しいパスワード",
    "At least 12 characters.": "12 文字以上。",
    "Once more": "確認のためもう一度",
    "Set the password": "パスワードを設定",
    "Remove the password: only links sign in": "パスワードを削除（リンクだけでサインイン）",
    "The two passwords are not the same.": "2 つのパスワードが一致しません。",
    "Type a password.": "パスワードを入力してください。",
    "There is already a profile with this name.": "同じ名前のプロファイルがすでにあります。",
    "Revoked.": "取り消しました。",
    "The password was changed. All sessions have ended.": "パスワードを変更しました。サインインはすべて終了しました。",
}

NOTICES = {
    "revoked": "Revoked.",
    "password": "The password was changed. All sessions have ended.",
}
