"""What `setup` says, in both languages."""

WORDS = {
    "en": {
        "language": "Language of instructions for agents",
        "connect": "Connect {title}?",
        "connected": "{title} is connected.",
        "no_clients": "No client was found (Claude Code or Desktop, Cursor, VS Code). `install` can connect one later.",
        "hooks": "Add the hooks of Claude Code: memory for each prompt, and a guard for texts that leave this machine?",
        "manuals": "Folder of your manuals",
        "no_stores": "No other memory server was found on this machine.",
        "import": "Import {title} from {path} into {namespace}?",
        "set": "{name} = {value} ({file})",
        "would_set": "This would be set: {name} = {value}",
        "done": "Done. Next: `{program} demo` shows what it does, `{program} serve` starts the server with its pages.",
        "dry": "Nothing was changed.",
        "failed": "Done, but for what is told above. `{program} setup` can be run again.",
    },
    "ja": {
        "language": "エージェントへの説明に使う言語",
        "connect": "{title} を接続しますか？",
        "connected": "{title} は接続済みです。",
        "no_clients": "クライアント（Claude Code、Claude Desktop、Cursor、VS Code）は見つかりませんでした。あとから `install` で接続できます。",  # noqa: E501
        "hooks": "Claude Code のフックを追加しますか？（プロンプトごとの記憶の参照と、外部へ送る文章の検査）",
        "manuals": "マニュアルのフォルダー",
        "no_stores": "このマシンにほかのメモリーサーバーは見つかりませんでした。",
        "import": "{title}（{path}）を {namespace} に取り込みますか？",
        "set": "{name} = {value}（{file}）",
        "would_set": "次の設定を書き込みます: {name} = {value}",
        "done": "完了しました。`{program} demo` で動きを確かめ、`{program} serve` でサーバーとページを起動できます。",
        "dry": "何も変更していません。",
        "failed": "上に示したもの以外は完了しました。`{program} setup` は何度でも実行できます。",
    },
}
