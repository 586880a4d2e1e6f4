// A full session of an official TypeScript client: `node session.mjs ERA stdio PROGRAM…` or `node session.mjs ERA http URL`.
// ERA is `handshake` (the client of the SDK's first version) or a version of the protocol without one, such as 2026-07-28
// (that of its second). What it saw goes to stdout as one JSON object, for the Python side to judge.
const [era, kind, ...rest] = process.argv.slice(2);
const { client, transport, call } = era === 'handshake' ? await first() : await second();
const errors = [];
client.onerror = (error) => errors.push(String(error));
await client.connect(transport);

async function first() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'typescript', version: '1' });
  const call = (name, args = {}, options = undefined) => client.callTool({ name, arguments: args }, undefined, options);
  return { client, call, transport: line(StdioClientTransport, StreamableHTTPClientTransport) };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'typescript', version: '1' }, { versionNegotiation: { mode: { pin: era } } });
  const call = (name, args = {}, options = undefined) => client.callTool({ name, arguments: args }, options);
  return { client, call, transport: line(StdioClientTransport, StreamableHTTPClientTransport) };
}

function line(Stdio, Http) {
  return kind === 'stdio'
    ? new Stdio({ command: rest[0], args: rest.slice(1), stderr: 'ignore' })
    : new Http(new URL(rest[0]));
}

const code = async (promise) => promise.then(() => null, (error) => error.code ?? error.name);

const seen = {
  server: client.getServerVersion(),
  version: client.getNegotiatedProtocolVersion?.(),
  instructions: client.getInstructions(),
  ping: era === 'handshake' ? await client.ping() : null, // the newer era has none
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  resources: (await client.listResources()).resources,
  templates: (await client.listResourceTemplates()).resourceTemplates,
  prompts: (await client.listPrompts()).prompts,
  echo: (await call('echo', { text: '床の間' })).structuredContent,
  failed: (await call('fail')).isError,
  unknown: await code(call('nothing')),
  who: (await call('who')).structuredContent.client,
};

// The client forgets who wants to know of progress once it has the answer: that one waits until all steps were seen.
const steps = [];
const onprogress = async (notice) => {
  steps.push(notice.progress);
  if (notice.progress === notice.total) await call('open', { gate: 'counted' });
};
await call('count', { to: 3, gate: 'counted' }, { onprogress });
seen.steps = steps;

// A call that waits for another one.
const waiting = call('wait', { gate: 'one' });
await call('stubborn', { gate: 'one reached' });
await call('open', { gate: 'one' });
seen.waited = (await waiting).content[0].text;

// A call that is given up; the server must then end it.
const abort = new AbortController();
const given_up = code(call('wait', { gate: 'two' }, { signal: abort.signal }));
await call('stubborn', { gate: 'two reached' });
abort.abort('enough');
await given_up;
seen.left = (await call('stubborn', { gate: 'two left' })).content[0].text;

await client.close();
seen.errors = errors;
console.log(JSON.stringify(seen));
