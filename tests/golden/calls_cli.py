"""A handful of commands."""

from golden.steps import CommandStep


def command(*words: str, stdin: str = "", **keep: str) -> CommandStep:
    return CommandStep(" ".join(words), words, stdin, keep)


COMMANDS = [
    command("--version"),
    command("modules"),
    command("modules", "--json"),
    command("schema", "memory"),
    command("schema", "memroy"),
    command("call", "memory", "save", '{"content": "A kettle hums."}', memo="memo_id"),
    command("call", "memory", "get", '{"memo_id": "<<memo>>"}'),
    command("call", "memory", "get", "-", stdin='{"memo_id": "none"}'),
    command("call", "memory", "get", '{"offset": -1}'),
    command("call", "memory", "gte"),
    command("call", "memory", "get", "{"),
    command("batch", "-", stdin='{"id":"a","module":"memory","tool":"namespaces","output":true}\n'),
    command("batch", "-", stdin='{"id":"a","module":"memory","tool":"get","params":{"memo_id":"none"}}\n'),
    command("keys", "create", "one", "--mask", "items", "--expires", "2199-01-01"),
    command("keys", "create", "one"),
    command("keys", "list"),
    command("keys", "revoke", "nobody"),
    command("policy", "show"),
    command("policy", "check", "-", stdin="version: 1\nfoo: 2\n"),
    command("policy", "test", "mail a@example.com", "--json"),
    command("where"),
    command("items", "list"),
    command("vault", "ls"),
    command("nothing"),
    command("stdio", "--port", "many"),
]
