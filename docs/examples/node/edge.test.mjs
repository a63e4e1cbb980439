// Tests of an edge and of a backend with the mock service: `node --test`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, beforeEach, test } from 'node:test';

import { startMock } from './mock.mjs';

let mock, edge, edgeUrl;

before(async () => {
  mock = await startMock();
  const env = { ...process.env, ...mock.edgeEnv(), HOST: '127.0.0.1', PORT: '0' };
  edge = spawn(process.execPath, ['edge.mjs'], { cwd: new URL('.', import.meta.url), env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: edge.stdout }), 'line', { signal: AbortSignal.timeout(30_000) });
  edgeUrl = line.split(' ').at(-1);
});
beforeEach(() => mock.reset());
after(async () => {
  edge?.kill();
  await mock?.stop();
});

const post = (body) => fetch(`${edgeUrl}/v1/signals`, { method: 'POST', body, headers: { Origin: 'https://shop.example' } });
const verdictOf = (reference) =>
  fetch(`${mock.url}/v1/verdict/${encodeURIComponent(reference)}?waitMs=0`, {
    headers: { Authorization: `Bearer ${mock.readToken()}` },
  });

test('a collection arrives unchanged', async () => {
  await mock.admin('POST', '/scripts', { match: 'relay', answer: { status: 200, body: { ok: true } } });
  const answer = await post('{"sealed": "…", "n": 9007199254740993}');
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
  const { entries } = await mock.admin('GET', '/journal');
  assert.equal(entries.length, 1);
  assert.equal(entries[0].body, '{"sealed": "…", "n": 9007199254740993}');
});

test('the page sees why the service refuses', async () => {
  await mock.admin('POST', '/scripts', { match: 'relay', row: 'relay.409.replayed-bundle', count: 1 });
  const answer = await post('{}');
  const expected = { error: 'service_rejected', reason: 'replayed_bundle', status: 409 };
  assert.deepEqual([answer.status, await answer.json()], [409, expected]);
});

test('the backend gets the verdict of its session only', async () => {
  await mock.admin('POST', '/sessions', { ref: 'order 4711', decision: 'deny' });
  assert.equal((await (await verdictOf('order 4711')).json()).decision, 'deny');
  assert.equal((await verdictOf('order 4712')).status, 404);
});
