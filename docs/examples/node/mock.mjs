// The mock service for tests with `node:test`. Copy this file beside your tests. `edgeproof` is in the PATH, or EDGEPROOF names it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const LIMIT_MS = 30_000;
const ADDRESSES = ['--listen', '--plain', '--admin'].flatMap((option) => [option, '127.0.0.1:0']);

/** Starts a mock service on free ports. Stop it in `after`. */
export async function startMock() {
  const program = process.env.EDGEPROOF ?? 'edgeproof';
  const child = spawn(program, ['mock', ...ADDRESSES, '--json', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    const late = setTimeout(kill, LIMIT_MS);
    if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit');
    clearTimeout(late);
    process.off('exit', kill);
  };
  try {
    return mock(await readyLine(child, kill), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readyLine(child, kill) {
  const late = setTimeout(kill, LIMIT_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(late);
    return JSON.parse(line);
  }
  throw new Error('edgeproof mock ended before it was ready');
}

function mock(ready, stop) {
  const admin = async (method, path, body) => {
    const answer = await fetch(ready.admin + path, { method, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  return {
    /** Base URL of the service without TLS: verdicts and key set, for your backend. */
    url: ready.plain,
    /** Public key to which `edgeproof mint collection --seal-key FILE` seals a collection. */
    sealKey: ready.seal_key,
    /** Environment of your edge. */
    edgeEnv: () => ({
      LICENSE: ready.license,
      SERVICE_URL: ready.service_url,
      SERVICE_CA_FILE: ready.service_ca_file,
      EDGE_CLIENT_CERT_FILE: ready.client_cert_file,
      EDGE_CLIENT_KEY_FILE: ready.client_key_file,
      ALLOWED_ORIGIN: ready.allowed_origin,
    }),
    /** Read token of your backend. A function, so that no failed assertion prints it. */
    readToken: () => ready.read_token,
    /** A command of the admin API, such as `admin('POST', '/clock', { advance: '2m' })`. */
    admin,
    /** Deletes sessions, scripts and faults. Call it in `beforeEach`. */
    reset: () => admin('POST', '/reset'),
    stop,
  };
}
