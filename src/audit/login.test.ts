import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLogin } from '../agents/agent.js';
import { agentNamed } from '../agents/agents.js';
import { testCertificates } from '../gateway/test-tls.js';
import { verdictOf } from '../runs/failure.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { auditRun } from './audit-run.js';
import { egressOf } from './egress.js';
import { commandEvent, type FinishedRun, playRun, syntheticStays } from './test-run.js';

const HOST = 'api.provider.test';
const TOKEN = 'planted-access-token-0123456789';
const bubblewrap = sandboxOf('bubblewrap');
const certificates = testCertificates([HOST]);
const works = (await bubblewrap.probe()).available && certificates !== undefined;
if (!works) console.warn('Skipped: bubblewrap or openssl does not work here');
const pinned = { ...bubblewrap, rootfsDigest: 'sha256:test' };

const login: AgentLogin = {
  provider: 'openai',
  hosts: [HOST],
  read: async () => ({
    files: [{ path: '.cli/auth.json', content: { text: TOKEN } }],
    secrets: [TOKEN],
  }),
};
/** Speaks TLS through the tunnel, with the token of its home. */
const SPEAK = `
  const home = readFileSync(process.env.HOME + '/.cli/auth.json', 'utf8');
  const { hostname, port } = new URL(process.env.M4BENCH_GATEWAY_URL);
  await new Promise((done) => require('node:http')
    .request({ host: hostname, port, method: 'CONNECT', path: '${HOST}:443' })
    .on('connect', (answer, socket) => {
      const secure = require('node:tls').connect({ socket, servername: '${HOST}', rejectUnauthorized: false });
      secure.on('close', done).on('error', done).resume();
      secure.write(home);
    })
    .on('error', done).end());`;

let home: string;
let server: Server;
const heard: string[] = [];
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'm4bench-login-run-'));
  server = createServer({ cert: certificates?.certificate, key: certificates?.key }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard.push(String(chunk));
      socket.end('answer');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  if (works) await syntheticStays(home);
});
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

let trial = 0;
const play = (part: Partial<Parameters<typeof playRun>[0]>): Promise<FinishedRun> => {
  trial += 1;
  const { port } = server.address() as AddressInfo;
  const environment = {
    providers: [],
    login: { connect: () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }) },
  };
  return playRun({
    sandbox: pinned,
    home,
    trial,
    login,
    script: SPEAK,
    environment,
    condition: 'no-skill',
    ...part,
  });
};

describe.runIf(works)('a run with a subscription login', () => {
  it('says so, with its tunnels and what its trace attests, and no token in any byte', async () => {
    const { folder, result } = await play({ output: { isRight: true } });
    expect(heard).toEqual([TOKEN]);
    expect(result).toMatchObject({
      reward: 1,
      tokens: null,
      cost: null,
      agentTokens: { input: 100, output: 7 },
      skill: { source: 'attested' },
      dataUse: { provider: 'openai (subscription login)', allowed: true },
      login: { provider: 'openai', opened: 1, refused: 0, failed: 0, hosts: [HOST] },
      integrity: { canaries: true, lint: true, egress: true },
      publishable: true,
    });
    expect(result.cell.auth).toBe('login');
    const audit = await auditRun(folder);
    expect(audit).toMatchObject({ problems: [], reasons: [], publishable: true });
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      if (statSync(path).isFile()) expect([name, readFileSync(path).includes(TOKEN)]).toEqual([name, false]);
    }
    expect(existsSync(join(folder, 'attempts/1/.cli'))).toBe(false);
  });

  it('is found out when it shows its token, and when its log of tunnels was changed', async () => {
    const shown = await play({ trace: [commandEvent('cat ~/.cli/auth.json', TOKEN)] });
    expect(shown.result.reasons).toEqual(['the contamination lint found a violation']);
    const changed = await play({});
    const path = join(changed.folder, 'attempts/1/egress.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace(HOST, 'elsewhere.test'));
    const { problems, publishable } = await auditRun(changed.folder);
    expect(publishable).toBe(false);
    expect(new Set(problems.map(({ code }) => code))).toEqual(
      new Set(['HASH_DIFFERS', 'COUNTS_DIFFER', 'GATES_DIFFER', 'VERDICT_DIFFERS']),
    );
  });

  it('belongs to a cell of its own, which nobody can make one of keys', async () => {
    for (const wrong of [{ isCellWithLogin: false }, { isCellWithLogin: true, environment: {} }])
      await expect(play(wrong)).rejects.toMatchObject({ code: 'LOGIN_DIFFERS' });
    const { folder } = await play({});
    const path = join(folder, 'result.json');
    const result = JSON.parse(readFileSync(path, 'utf8')) as { cell: { auth?: string } };
    delete result.cell.auth;
    writeFileSync(path, JSON.stringify(result));
    const { problems } = await auditRun(folder);
    expect(problems.filter(({ code }) => code === 'IDENTITY_DIFFERS').map(({ detail }) => detail)).toEqual([
      expect.stringContaining('run id'),
      expect.stringContaining('name of the folder'),
      expect.stringContaining('way to the model'),
    ]);
  });

  it('is no loss of the agent when its provider was never reached', async () => {
    const { result } = await play({ script: '' });
    expect(result).toMatchObject({
      status: 'unjudged',
      failureReason: 'no tunnel reached the model service',
      attempts: { length: 3 },
    });
  });
});

describe('failures of a CLI that signs in by itself', () => {
  const facts = (error: string, exitCode = 1) =>
    verdictOf({
      needsModel: true,
      outcome: { exitCode, signal: null, endedBy: null, seconds: 1, stdoutBytes: 0, stderrBytes: 0 },
      gateway: undefined,
      hasOutput: exitCode === 0,
      login: { tunnels: 1, errors: [error] },
    }).class;

  it('are told from those of the agent by what its trace says', () => {
    for (const error of [
      'Invalid API key · Please run /login',
      'API Error: 429',
      'Claude usage limit reached',
      'overloaded_error',
    ])
      expect([error, facts(error)]).toEqual([error, 'infrastructure']);
    for (const error of ['/tmp/run_042930/x failed', 'column 14293 not found', 'no such table'])
      expect([error, facts(error)]).toEqual([error, 'agent']);
    // Told in passing, and the run ended well.
    expect(facts('API Error: 429', 0)).toBe('judged');
  });
});

describe('the log of tunnels', () => {
  const line = (part: object): string =>
    `${JSON.stringify({ startedAt: 'x', seconds: 1, host: HOST, port: 443, refusal: null, failure: null, sentBytes: 9, receivedBytes: 9, ...part })}\n`;
  const judge = (log: string | undefined): boolean =>
    egressOf('', ['.pool.test', HOST], true, { log }).passed;

  it('passes for hosts of the provider and what was refused, and for nothing else', () => {
    expect(judge(line({}) + line({ host: 'a.pool.test' }))).toBe(true);
    expect(judge(line({}) + line({ host: 'stats.test', refusal: 'host not allowed', sentBytes: 0 }))).toBe(
      true,
    );
    expect(judge(line({ host: 'elsewhere.test' }))).toBe(false);
    expect(judge(line({ host: 'pool.test' }))).toBe(false);
    expect(judge(line({ port: 80 }))).toBe(false);
    expect(judge(line({ refusal: 'host not allowed' }))).toBe(false);
    expect(judge('not a line')).toBe(false);
    expect(judge(undefined)).toBe(false);
  });
});

describe('a login', () => {
  const now = new Date('2026-06-01T12:00:00Z');
  const read = async (name: 'claude' | 'codex', file: string, content: object, seconds = 1800) => {
    const userHome = mkdtempSync(join(tmpdir(), 'm4bench-user-'));
    try {
      mkdirSync(join(userHome, file, '..'), { recursive: true });
      writeFileSync(join(userHome, file), JSON.stringify(content));
      return await agentNamed(name, { environment: {}, userHome }).login!.read({ now, seconds });
    } finally {
      rmSync(userHome, { recursive: true });
    }
  };
  const claudeAiOauth = (expiresAt: string) => ({
    claudeAiOauth: {
      accessToken: 'access-1',
      refreshToken: 'refresh-1',
      expiresAt: Date.parse(expiresAt),
      scopes: [],
    },
    mcpOAuth: { server: { token: 'other-secret' } },
  });

  it('comes in without what could renew it, and without anything else of the file', async () => {
    const text = JSON.stringify(
      await read('claude', '.claude/.credentials.json', claudeAiOauth('2026-06-01T13:00:00Z')),
    );
    expect(text).toContain('access-1');
    expect(text).not.toMatch(/refresh-1|other-secret/);
    const jwt = (exp: string): string =>
      `e30.${Buffer.from(JSON.stringify({ exp: Date.parse(exp) / 1000 })).toString('base64url')}.x`;
    const tokens = {
      id_token: 'id-1',
      access_token: jwt('2026-06-01T13:00:00Z'),
      refresh_token: 'refresh-2',
      account_id: 'a',
    };
    const auth = { OPENAI_API_KEY: 'sk-own-key', tokens, last_refresh: '2026-01-01T00:00:00Z' };
    const codex = await read('codex', '.codex/auth.json', auth);
    expect(JSON.stringify(codex)).not.toMatch(/refresh-2|sk-own-key/);
    expect(codex.secrets).toEqual([tokens.access_token, 'id-1']);
  });

  it('is refused when it ends before the run may, when it is missing, and when it is not as expected', async () => {
    const file = '.claude/.credentials.json';
    await expect(read('claude', file, claudeAiOauth('2026-06-01T12:29:00Z'))).rejects.toMatchObject({
      code: 'LOGIN_EXPIRES',
      message: expect.stringContaining('lasts for another 29 minutes, and a run may take 30'),
    });
    await expect(read('claude', file, { claudeAiOauth: { accessToken: 5 } })).rejects.toMatchObject({
      code: 'LOGIN_MISSING',
    });
    await expect(read('claude', 'elsewhere', {})).rejects.toMatchObject({ code: 'LOGIN_MISSING' });
    // An API key is no login.
    await expect(read('codex', '.codex/auth.json', { OPENAI_API_KEY: 'sk-own-key' })).rejects.toMatchObject({
      code: 'LOGIN_MISSING',
    });
  });
});
