"""Words of services and their accounts."""

WORDS = {
    "Last used": "最終使用",
    "Accounts that agents use through this server. Their tokens are encrypted in the keyring, and are never shown.": (
        "エージェントがこのサーバーを通じて使うアカウントです。トークンはキーリングに暗号化して保存され、表示される"
        "ことはありません。"
    ),
    "Kind": "種類",
    "User": "利用者",
    "unknown": "不明",
    "Default for": "既定で使う範囲",
    "No account is connected.": "接続されているアカウントはありません。",
    "Connect {service}": "{service} に接続",
    "Connect": "接続する",
    "consent": "OAuth の同意",
    "OAuth app": "OAuth アプリ",
    "e-mail and token": "メールアドレスとトークン",
    "token": "トークン（貼り付け）",
    # One account
    "Connected": "接続日時",
    "Renewed": "トークン更新日時",
    "Scopes": "スコープ",
    "Accounts that renew their tokens through this app": "このアプリでトークンを更新しているアカウント",
    "Test": "接続をテスト",
    "Connect again": "接続し直す",
    "Disconnect …": "切断…",
    "Default": "既定のアカウント",
    "Calls that name no account use the default of the nearest namespace.": (
        "アカウントを指定しない呼び出しは、最も近い名前空間の既定を使います。"
    ),
    "Module": "モジュール",
    "Make default": "既定にする",
    "Disconnect {name}?": "{name} を切断しますか？",
    "Its secrets are removed here, and agents cannot use it within a second.": (
        "秘密情報はここから削除され、1 秒以内にエージェントから使えなくなります。"
    ),
    "The consent is ended at the service, too, where it has a way to do so.": (
        "サービス側に手段があれば、同意も取り消されます。"
    ),
    "Revoke the token or the app at the service, too: that cannot be done from here.": (
        "トークンやアプリは、サービス側でも取り消してください。ここからは取り消せません。"
    ),
    "Disconnect": "切断する",
    # Connecting
    "Name of the account": "アカウント名",
    "As calls name it: letters, digits, - and _": "呼び出しで指定する名前です。文字・数字・- と _ を使えます。",
    "It serves this namespace and those below.": "この名前空間とその下で使われます。",
    "A server of your own": "独自のサーバーを使う場合",
    "Base URL of the API": "API のベース URL",
    "Where the consent is given": "同意画面の URL",
    "Where tokens are given": "トークン発行の URL",
    "Where tokens are revoked": "トークン取り消しの URL",
    "Agree at the service": "サービスで同意する",
    "The service asks you there, and then sends you back here. You have ten minutes.": (
        "サービスの画面で同意すると、ここに戻ります。10 分以内に済ませてください。"
    ),
    "Go to {service}": "{service} を開く",
    "With a token": "トークンで接続",
    "Make a token at the service, and paste it here. The service is asked whose it is before it is stored.": (
        "サービスでトークンを作り、ここに貼り付けます。保存する前に、誰のトークンかをサービスに確認します。"
    ),
    "Site": "サイト",
    "acme for acme.atlassian.net": "acme.atlassian.net なら acme",
    "E-mail address": "メールアドレス",
    "Token": "トークン",
    "It goes into the keyring, and is never shown again.": "キーリングに保存され、再表示されることはありません。",
    "With an OAuth app of your own": "自分の OAuth アプリで接続",
    "Register an app at the service with this redirect URL:": (
        "サービスで、次のリダイレクト URL を指定してアプリを登録してください。"
    ),
    "Ask for a consent": "同意を求める",
    "App": "アプリ",
    "If the consent is for several sites: the one that this account is for.": (
        "複数のサイトに同意する場合は、このアカウントで使うサイトを指定します。"
    ),
    "Further scopes": "追加のスコープ",
    "Separated by spaces. These are asked for anyway: {scopes}": (
        "空白で区切ります。次のスコープは常に要求されます: {scopes}"
    ),
    "Register an app here": "アプリを登録する",
    "Name of the app": "アプリ名",
    "Client id": "クライアント ID",
    "Client secret": "クライアントシークレット",
    "Register": "登録する",
    "This service has no tokens to paste. Use an OAuth app of your own.": (
        "このサービスには貼り付けるトークンがありません。自分の OAuth アプリを使ってください。"
    ),
    "{service} has answered": "{service} から応答がありました",
    "Finish to store the account {name}.": "「完了する」を押すと、アカウント {name} が保存されます。",
    "Finish": "完了する",
    "The account was not connected": "アカウントは接続されませんでした",
    "Connected. Agents can use it within a second.": "接続しました。1 秒以内にエージェントから使えるようになります。",
    "The service accepts this account.": "サービスはこのアカウントを受け入れました。",
    "The service does not accept this account. See below why.": (
        "サービスはこのアカウントを受け入れませんでした。理由は下をご覧ください。"
    ),
    "Disconnected, and ended at the service.": "切断し、サービス側の同意も取り消しました。",
    "Disconnected. Its secrets are removed here; revoke them at the service, too.": (
        "切断し、秘密情報をここから削除しました。サービス側でも取り消してください。"
    ),
}

NOTICES = {
    "connected": "Connected. Agents can use it within a second.",
    "account_works": "The service accepts this account.",
    "account_broken": "The service does not accept this account. See below why.",
    "disconnected": "Disconnected, and ended at the service.",
    "disconnected_here": "Disconnected. Its secrets are removed here; revoke them at the service, too.",
}
