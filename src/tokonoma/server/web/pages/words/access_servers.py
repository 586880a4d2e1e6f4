"""Words of MCP servers."""

WORDS = {
    (
        "Each becomes a module with the tools that you approve. A tool that changes later is held back until you ha"
        "ve seen how."
    ): (
        "それぞれが、承認したツールを持つモジュールになります。あとから変更されたツールは、内容を確認するまで使えま"
        "せん。"
    ),
    "Where": "場所",
    "Tools": "ツール",
    "There is no MCP server yet. Add one by its address, or by the command that starts it.": (
        "MCP サーバーはまだありません。アドレスまたは起動コマンドを指定して追加してください。"
    ),
    "Add a server": "サーバーを追加",
    "It is started or asked once, and you see its tools. They can be used after you have approved them.": (
        "一度だけ起動または問い合わせて、ツールを表示します。承認したツールだけが使えるようになります。"
    ),
    "A command runs on the machine of this server with your rights. Add only what you trust.": (
        "コマンドは、このサーバーのあるマシンで、あなたの権限で実行されます。信頼できるものだけを追加してください。"
    ),
    "The name of the module: small letters, digits and _": "モジュール名になります。英小文字・数字・_ を使えます。",
    "Address or command": "アドレスまたはコマンド",
    (
        "An address as https://mcp.example.com/mcp, or a command with its arguments, in quotation marks where they "
        "hold spaces."
    ): ("https://mcp.example.com/mcp のようなアドレス、またはコマンドと引数。空白を含む引数は引用符で囲みます。"),
    "It serves callers in this namespace and below. Empty: everywhere.": (
        "この名前空間とその下の呼び出し元が使えます。空欄ならどこからでも使えます。"
    ),
    "Folder": "フォルダー",
    "Where a command works.": "コマンドを実行するフォルダーです。",
    "Summary": "概要",
    "What it is for, in your own words.": "何のためのサーバーかを、自分の言葉で書きます。",
    "Secrets": "秘密情報",
    "Variables of a command, or headers of an address. The values go into the keyring, and are never shown again.": (
        "コマンドの環境変数、またはアドレスへのヘッダーです。値はキーリングに保存され、再表示されることはありません。"
    ),
    "Name {number}": "名前 {number}",
    "Value {number}": "値 {number}",
    "Add and look at its tools": "追加してツールを確認",
    "Approved": "承認日時",
    "Ask it again": "もう一度問い合わせる",
    "Restart": "再起動",
    "The descriptions are the server's own words: they are not checked, and may try to mislead an agent.": (
        "説明はサーバー自身の言葉です。検証されておらず、エージェントを誤った方向へ導こうとする可能性があります。"
    ),
    "What has changed": "変更内容",
    "What it does": "操作の種類を指定",
    "As it says itself": "サーバーの申告どおり",
    "It does not say: destroy": "申告なし（削除・破壊として扱う）",
    "It offers no tools.": "ツールはありません。",
    "Approve those that are ticked": "チェックしたツールを承認",
    "Approve all": "すべて承認",
    "Tick the tools that you approve.": "承認するツールにチェックを入れてください。",
    "The command has a quotation mark that is not closed.": "コマンドの引用符が閉じられていません。",
    "Give an address or a command.": "アドレスまたはコマンドを指定してください。",
    "Left out": "使えないツール",
    "It offers these tools as well, but they cannot be used here. The others are not affected.": (
        "サーバーには次のツールもありますが、ここでは使えません。ほかのツールには影響しません。"
    ),
    "Log": "ログ",
    "Log of {name}": "{name} のログ",
    "Nothing was written on this machine: it was not started, or is silent.": (
        "このマシンでの出力はありません。まだ起動していないか、何も出力していません。"
    ),
    (
        "The module with its secrets and approvals is removed. Its processes end when they are idle, or with this s"
        "erver."
    ): (
        "モジュールと、その秘密情報・承認が削除されます。プロセスは、使われなくなったとき、またはこのサーバーの終了"
        "時に止まります。"
    ),
    "Added. Look at its tools, and approve those that agents may use.": (
        "追加しました。ツールを確認し、エージェントに使わせるものを承認してください。"
    ),
    "Asked again. Below is what it offers now.": "もう一度問い合わせました。現在のツールは下のとおりです。",
    "It is started again with its next call.": "次の呼び出しで再起動します。",
    "Approved. Agents can use these tools within a second.": (
        "承認しました。1 秒以内にエージェントから使えるようになります。"
    ),
}

NOTICES = {
    "server_added": "Added. Look at its tools, and approve those that agents may use.",
    "reviewed": "Asked again. Below is what it offers now.",
    "restarted": "It is started again with its next call.",
    "tools_approved": "Approved. Agents can use these tools within a second.",
}
