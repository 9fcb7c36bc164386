import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { attestedSkills } from '../../src/agents/attested-skills.js';
import { testCertificates } from '../../src/gateway/test-tls.js';
import type { Tunnel } from '../../src/gateway/tunnels.js';
import { ModelServer } from '../model-server/model-server.js';
import { solvingScenario } from '../model-server/solving-scenario.js';

import {
  bubblewrap,
  RIGHT_OUTPUT,
  RIGHT_SQL,
  routeOf,
  SandboxedRuns,
  sandboxSettings,
} from './sandboxed-run.js';

/**
 * Real CLIs with a subscription login: they speak TLS through the gateway's tunnel to what they take for their
 * provider, here a server with a certificate of a test authority in front of the scripted model.
 */
const certificates = testCertificates([
  'api.anthropic.com',
  'chatgpt.com',
  'auth.openai.com',
  'api.openai.com',
]);
const isolated = await bubblewrap.probe();
if (!isolated.available) console.warn(`Logins are skipped: ${isolated.detail}.`);

const IN_A_DAY = Date.now() + 86_400_000;
const token = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify({ exp: Math.floor(IN_A_DAY / 1000), ...claims }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const ACCESS = { claude: 'sk-ant-oat01-planted-access-0123456789', codex: token({ sub: 'planted-access' }) };
const REFRESH = 'planted-refresh-0123456789';

/** What the user's home holds, by agent. */
const LOGINS: Readonly<Record<string, readonly [path: string, content: object]>> = {
  claude: [
    '.claude/.credentials.json',
    {
      claudeAiOauth: {
        accessToken: ACCESS.claude,
        refreshToken: REFRESH,
        expiresAt: IN_A_DAY,
        scopes: ['user:inference', 'user:profile'],
        subscriptionType: 'max',
      },
    },
  ],
  codex: [
    '.codex/auth.json',
    {
      OPENAI_API_KEY: null,
      tokens: {
        id_token: token({
          email: 'a@example.org',
          'https://api.openai.com/auth': { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account-1' },
        }),
        access_token: ACCESS.codex,
        refresh_token: REFRESH,
        account_id: 'account-1',
      },
      last_refresh: '2026-01-01T00:00:00Z',
    },
  ],
};

let folder: string;
let runs: SandboxedRuns;
let provider: Server;
let model: ModelServer;
const asked: { host: string | undefined; path: string; authorization: string | undefined }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-login-'));
  runs = await SandboxedRuns.create();
  provider = createServer(
    { cert: certificates?.certificate, key: certificates?.key },
    (incoming, response) => {
      const { host, authorization } = incoming.headers;
      const path = incoming.url ?? '';
      asked.push({ host, path, authorization });
      if (path.endsWith('/accounts/check')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        // Codex asks first where its workspace is served.
        const account = { id: 'account-1', workspace_backend_origin: 'https://chatgpt.com' };
        const accounts = [{ ...account, account_routing_override: 'NO_CONSTRAINT' }];
        response.end(
          JSON.stringify({ accounts, default_account_id: 'account-1', account_ordering: ['account-1'] }),
        );
        return;
      }
      const outgoing = request(
        `${model.baseUrl}${path.replace('/backend-api/codex/', '/v1/')}`,
        { method: incoming.method, headers: { ...incoming.headers, host: 'model' } },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      outgoing.on('error', () => response.destroy());
      incoming.pipe(outgoing);
    },
  );
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await runs[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe.runIf(isolated.available && certificates !== undefined)('with a subscription login', () => {
  test.each(['claude', 'codex'] as const)('%s solves its task through the tunnel alone', async (name) => {
    const home = join(folder, name);
    const [file, content] = LOGINS[name]!;
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), JSON.stringify(content));
    const agent = agentNamed(name, { ...sandboxSettings, userHome: home });
    const availability = await agent.probe();
    if (!availability.available) {
      console.warn(`The login of ${name} is skipped: ${availability.detail}.`);
      return;
    }
    const material = await agent.login!.read({ now: new Date(), seconds: 1800 });
    expect(JSON.stringify(material)).not.toContain(REFRESH);
    model = await ModelServer.start({
      scenarios: { scripted: solvingScenario({ skillFolder: agent.skillFolder, sql: RIGHT_SQL }) },
    });
    const logPath = join(folder, `${name}-egress.jsonl`);
    asked.length = 0;
    const played = await runs.play(agent, routeOf(name), model, {
      request: { usesLogin: true },
      homeFiles: material.files,
      workFiles: [{ path: 'authority.pem', content: { text: certificates!.authority } }],
      environment: {
        NODE_EXTRA_CA_CERTS: '/work/authority.pem',
        CODEX_CA_CERTIFICATE: '/work/authority.pem',
      },
      gateway: {
        providers: [],
        tunnels: {
          hosts: agent.login!.hosts,
          logPath,
          connect: () =>
            connect({
              port: (provider.address() as AddressInfo).port,
              host: '127.0.0.1',
              allowHalfOpen: true,
            }),
        },
      },
    });
    await model[Symbol.asyncDispose]();
    expect(played.output).toBe(RIGHT_OUTPUT);
    expect(asked.some(({ authorization }) => authorization === `Bearer ${ACCESS[name]}`)).toBe(true);
    const tunnels = (await readFile(logPath, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Tunnel);
    const opened = tunnels.filter(({ refusal }) => refusal === null);
    expect(opened.length).toBeGreaterThan(0);
    expect(new Set(opened.map(({ host }) => host))).toEqual(
      new Set([name === 'claude' ? 'api.anthropic.com' : 'chatgpt.com']),
    );
    const skills = [
      { name: 'sirs-score', description: 'x', bodyProbe: 'Four criteria, marker-of-the-body.' },
    ];
    expect(attestedSkills(played.transcript, skills)).toEqual({
      offered: ['sirs-score'],
      opened: ['sirs-score'],
    });
    for (const text of [played.traceText, played.stderr])
      for (const secret of material.secrets) expect(text).not.toContain(secret);
  });
});
