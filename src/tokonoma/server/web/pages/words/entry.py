"""Words of signing in, home and consent."""

WORDS = {
    # Every page
    "Skip to content": "本文へ移動",
    "Home": "ホーム",
    "Signed in as {name}": "{name} としてサインイン中",
    "Sign out": "サインアウト",
    "Back to the start": "最初のページへ",
    # Signing in
    "Sign in": "サインイン",
    "To see your pages and to let clients in.": (
        "サインインすると、自分のページを開いたり、クライアントの接続を許可したりできます。"
    ),
    "Name": "名前",
    "Password": "パスワード",
    "You are signed out.": "サインアウトしました。",
    "No password?": "パスワードがない場合",
    "On the machine of the server, run this command. It prints a link that signs you in.": (
        "サーバーのあるマシンで次のコマンドを実行すると、サインイン用のリンクが表示されます。"
    ),
    "The name of the owner is owner.": "所有者の名前は owner です。",
    "This name and this password do not belong together.": "名前またはパスワードが違います。",
    "Too many tries. Wait a minute, then try again.": (
        "試行回数が多すぎます。1 分ほど待ってから、もう一度お試しください。"
    ),
    # One-time links
    "Sign in as {name}": "{name} としてサインイン",
    "This link signs this browser in. It can be used once.": (
        "このリンクで、このブラウザーからサインインできます。使えるのは一度だけです。"
    ),
    "If you did not ask for it, close this page.": "心当たりがない場合は、このページを閉じてください。",
    "This link is not good any more": "このリンクはもう使えません",
    "A link can be used once, within five minutes. Make a new one with tokonoma open.": (
        "リンクが使えるのは、発行から 5 分以内に一度だけです。tokonoma open で新しいリンクを発行してください。"
    ),
    # Home
    "What agents can use through this server, as far as you may.": (
        "このサーバーを通じてエージェントが使えるもののうち、あなたに許可されている範囲です。"
    ),
    "Connect a client": "クライアントをつなぐ",
    "Give this address to a client, such as Claude. It then asks you here what it may use.": (
        "この URL を Claude などのクライアントに設定すると、何を使わせてよいかの確認がこの画面に表示されます。"
    ),
    "Modules": "モジュール",
    "No module is there for you.": "使えるモジュールはありません。",
    "Where you are signed in": "サインイン中のブラウザー",
    "this browser": "このブラウザー",
    "unknown browser": "不明なブラウザー",
    "unknown address": "不明なアドレス",
    "Sign out everywhere else": "ほかのすべてのブラウザーでサインアウト",
    # Consent
    "A client asks for access": "クライアントからのアクセス要求",
    "{client} asks to use Tokonoma": "{client} が Tokonoma の利用を求めています",
    "Published by {host}": "公開元: {host}",
    "This name was not checked: the client has registered itself.": (
        "この名前は確認されていません。クライアントが自分で登録したものです。"
    ),
    "You will be sent to": "許可したあとの移動先",
    "A program on the computer that you are using now.": "いまお使いのコンピューター上のプログラムです。",
    "A program that is installed on this device.": "この端末にインストールされているプログラムです。",
    "Allow only what you have started yourself, and only if you know this place.": (
        "自分で始めた操作であり、移動先に心当たりがある場合にだけ許可してください。"
    ),
    "What it may use": "使わせる範囲",
    "Profile": "プロファイル",
    "None": "なし",
    "A profile limits what you choose below further.": "以下で選んだ範囲を、プロファイルがさらに制限します。",
    "Namespace": "名前空間",
    "It sees this namespace and all below it. / is everything that you may use.": (
        "この名前空間とその下だけを使えます。/ は、あなたが使えるすべてを表します。"
    ),
    "If all are ticked, modules that are added later are included, too.": (
        "すべて選ぶと、あとから追加されるモジュールも含まれます。"
    ),
    "Only reading": "読み取り専用",
    "It cannot change or delete anything.": "何も変更・削除できません。",
    "Allow": "許可する",
    "Deny": "拒否する",
    "You can narrow or end this at any time.": "許可した内容は、あとからいつでも狭めたり取り消したりできます。",
    "Choose: allow or deny.": "許可するか拒否するかを選んでください。",
    "Choose at least one module.": "モジュールを 1 つ以上選んでください。",
    "This namespace is not one that you may use.": "この名前空間は使えません。",
    "This profile does not exist any more.": "このプロファイルはもうありません。",
    "The profile and the namespace have nothing in common.": "プロファイルと名前空間に共通する範囲がありません。",
    # After the decision
    "{client} may use Tokonoma now": "{client} に利用を許可しました",
    "{client} was refused": "{client} の利用を拒否しました",
    "The program opens by itself. You can close this page.": (
        "プログラムが自動的に開きます。このページは閉じてかまいません。"
    ),
    "Open {place}": "{place} を開く",
    # Mistakes
    "Not possible": "この操作はできません",
    "Not possible now": "いまは操作できません",
    "The server cannot answer now. Try again in a minute.": (
        "サーバーが応答できません。1 分ほど待ってから、もう一度お試しください。"
    ),
    "This page cannot be asked for in this way.": "このページは、この方法では開けません。",
    "This form does not come from a page of yours. Open the page again.": (
        "このフォームは、あなたのページから送られたものではありません。ページを開き直してください。"
    ),
    "Clients cannot sign in to this server at this address.": (
        "このアドレスでは、クライアントはこのサーバーにサインインできません。"
    ),
    "This request is not right": "要求に誤りがあります",
    "A parameter of this request was sent twice. The application that sent you here has a fault.": (
        "要求に同じパラメーターが二重に含まれています。接続元のアプリケーションに問題があります。"
    ),
    "This server does not know the application that sent you here. Let it sign in anew.": (
        "接続元のアプリケーションが登録されていません。アプリケーション側でサインインをやり直してください。"
    ),
    "The application wants to send you to an address that it has not registered.": (
        "アプリケーションが、登録されていないアドレスへ移動させようとしています。"
    ),
    # Modules
    "Memos, and how they are related": "メモと、メモどうしの関係",
    "Typed items with status, tags and links": "種類・状態・タグ・リンクを持つ項目",
    "Claims with scope and expiry": "有効範囲と期限を持つ主張",
    "Search and reading in manuals": "マニュアルの検索と閲覧",
    "Files that agents write": "エージェントが書くファイル",
    "Copies between manuals, files and services": "マニュアル・ファイル・サービス間のコピー",
    "State of this server": "このサーバーの状態",
}
