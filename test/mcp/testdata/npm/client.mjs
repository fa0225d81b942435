// Lists and calls tools with the official client. Arguments: the URL, the token and the mode of negotiation. Prints an
// object with the results and errors. Without a token it also prints what the client learns from a 401. With APPROVALS, the
// address of a user's requests, the client leads its user to the page about one, which the user APPROVER then approves.
import {
  Client, StreamableHTTPClientTransport, checkResourceAllowed, discoverOAuthProtectedResourceMetadata, extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';

const [url, token, mode] = process.argv.slice(2);
const headers = token ? { Authorization: `Bearer ${token}` } : {};
const { APPROVALS, APPROVER } = process.env;
const client = new Client({ name: 'client', version: '1' }, {
  ...(mode === 'default' ? {} : { versionNegotiation: { mode } }), ...(APPROVALS ? { capabilities: { elicitation: { url: {} } } } : {}),
});
if (APPROVALS) {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const address = APPROVALS + new URL(params.url).pathname.replace('/approvals', '');
    const decision = { method: 'PATCH', body: '{"status":"APPROVED"}', headers: { Authorization: `Bearer ${APPROVER}`, 'Content-Type': 'application/json' } };
    setTimeout(() => fetch(address, decision), 700);
    return { action: 'accept' };
  });
}

// outcome returns the result of a step, or the error as an application sees it.
async function outcome(step) {
  try {
    return { result: await step() };
  } catch (e) {
    return { error: { name: e.constructor.name, code: e.code, message: e.message, data: e.data } };
  }
}

// learn finds the resource's metadata by the challenge. PUBLIC is the gateway's URL in it.
async function learn() {
  const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  const server = new URL(url);
  const reach = (address, init) => fetch(String(address).replace(process.env.PUBLIC, server.origin), init);
  const resource = process.env.PUBLIC + server.pathname;
  const metadata = await discoverOAuthProtectedResourceMetadata(resource, { resourceMetadataUrl }, reach);
  return { scope, metadata, allowed: checkResourceAllowed({ requestedResource: resource, configuredResource: metadata.resource }) };
}

const out = { connected: await outcome(() => client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))) };
if (!out.connected.error) {
  out.version = client.getNegotiatedProtocolVersion?.();
  out.tools = await outcome(() => client.listTools());
  out.calls = {};
  for (const [name, args] of JSON.parse(process.env.CALLS)) {
    out.calls[name] = await outcome(() => client.callTool({ name, arguments: args }));
  }
  await client.close();
}
if (!token) {
  out.learned = await outcome(learn);
}
process.stdout.write(JSON.stringify(out));
