// A small edge in plain Node (20 or newer), without dependencies. Copy it to start your own.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';

const { HOST, PORT, LICENSE, SERVICE_URL, ALLOWED_ORIGIN } = process.env;
const read = (name) => process.env[name] && readFileSync(process.env[name]);
const agent = new https.Agent({
  keepAlive: true,
  ca: read('SERVICE_CA_FILE'),
  cert: read('EDGE_CLIENT_CERT_FILE'),
  key: read('EDGE_CLIENT_KEY_FILE'),
});

const server = http.createServer(async (request, response) => {
  const path = request.url.replace(/^http:\/\/[^/]*/, '').split('?')[0];
  if (path === '/health') return answer(response, 200, { ok: true });
  if (path !== '/v1/signals') return answer(response, 404, { error: 'not_found' });
  if (request.method === 'OPTIONS') return answer(response, 200, { ok: true });
  if (request.method !== 'POST') return answer(response, 405, { error: 'method_not_allowed' });

  const body = await buffer(request).catch(() => null);
  if (!body) return answer(response, 400, { error: 'read_failed' });
  const reply = await relay(body).catch(() => null);
  if (!reply) return answer(response, 502, { error: 'service_unreachable' });
  const status = reply.statusCode;
  if (status >= 200 && status < 300) return answer(response, 200, { ok: true });
  const reason = await reasonIn(reply);
  console.log(`refused status=${status} reason=${reason}`);
  answer(response, status, { error: 'service_rejected', reason, status });
});
server.listen(PORT, HOST, () => console.log(`edge listening on http://${HOST}:${server.address().port}`));

// One attempt: the service refuses a copy.
async function relay(body) {
  const url = new URL(`${SERVICE_URL.replace(/\/+$/, '')}/v1/relay`);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  if (LICENSE) headers.Authorization = `Bearer ${LICENSE}`;
  const options = { method: 'POST', agent, headers, signal: AbortSignal.timeout(10_000) };
  return new Promise((resolve, reject) => {
    https.request(url, options, resolve).on('error', reject).end(body);
  });
}

// The reason code of a refusal, if it is plain.
async function reasonIn(reply) {
  try {
    const { error, reason = error } = JSON.parse(await buffer(reply));
    if (typeof reason === 'string' && /^[a-z][a-z0-9_]*(:[\w.-]+)?$/.test(reason)) return reason;
  } catch { /* no JSON */ }
  return 'unknown';
}

function answer(response, status, body) {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...(ALLOWED_ORIGIN && { 'Access-Control-Allow-Origin': ALLOWED_ORIGIN }), // not `*`: only your pages may read answers
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'content-type',
    Allow: 'POST, OPTIONS',
    Vary: 'Origin',
  });
  response.end(JSON.stringify(body));
}
