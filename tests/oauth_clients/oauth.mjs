// An official TypeScript client that signs in: `node oauth.mjs ERA URL DOCUMENT`. ERA as in server/session.mjs, DOCUMENT the URL
// of its metadata, or empty. It is told what to do by lines on stdin, and answers each with one JSON line.
import { createInterface } from 'node:readline';

const [era, url, document] = process.argv.slice(2);
const kept = {};
const provider = {
  redirectUrl: 'http://127.0.0.1:3999/callback',
  clientMetadata: {
    client_name: 'TypeScript session',
    redirect_uris: ['http://127.0.0.1:3999/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    scope: 'mcp offline_access',
  },
  ...(document ? { clientMetadataUrl: document } : {}),
  state: () => 'a-state',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (to) => { kept.authorize = String(to); },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
  invalidateCredentials: (scope) => {
    if (scope === 'all' || scope === 'tokens') delete kept.tokens;
    if (scope === 'all' || scope === 'client') delete kept.client;
    if (scope === 'all' || scope === 'discovery') delete kept.discovery;
  },
};

const { open, finish, call } = era === 'handshake' ? await first() : await second();
let transport = open();

async function first() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'typescript', version: '1' });
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const finish = (answer) => transport.finishAuth(answer.get('code'));
  return { open, finish, call: caller(client) };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'typescript', version: '1' }, { versionNegotiation: { mode: { pin: era } } });
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const finish = (answer) => transport.finishAuth(answer);
  return { open, finish, call: caller(client) };
}

function caller(client) {
  let isConnected = false;
  return async () => {
    if (!isConnected) await client.connect(transport);
    isConnected = true;
    const saved = await client.callTool({ name: 'memory_save', arguments: { content: 'The kettle is in the alcove.' } });
    return { failed: saved.isError ?? false };
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [word, rest] = line.split(' ');
  delete kept.authorize;
  let answer;
  try {
    if (word === 'finish') {
      await finish(new URL(rest).searchParams);
      transport = open(); // a transport that was refused is not started again
    }
    answer = await call();
  } catch (error) {
    answer = { error: error.constructor.name, message: String(error.message), authorize: kept.authorize };
  }
  console.log(JSON.stringify(answer));
}
