import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall, Transcript } from '../agents/transcript.js';
import { egressOf } from './egress.js';
import { scanFile } from './file-scan.js';
import { overlapOf } from './ngrams.js';
import { lintToolCalls } from './tool-calls.js';

const call = (part: Partial<ToolCall>): ToolCall => ({
  tool: 'shell',
  command: null,
  input: '',
  output: 'ok',
  exitCode: 0,
  status: 'completed',
  startedAt: null,
  seconds: null,
  ...part,
});

const transcriptOf = (calls: readonly ToolCall[]): Transcript =>
  ({ turns: [{ text: 'see https://github.com/MIT-LCP/mimic-code', calls }] }) as unknown as Transcript;

const RULES = {
  removedRelations: ['mimiciv_derived.sofa', 'mimiciv_derived.sepsis3'],
  protectedFolders: ['/home/someone/.m4bench'],
};

const codes = (...calls: readonly ToolCall[]): readonly string[] =>
  lintToolCalls(transcriptOf(calls), RULES).map(({ code, severity }) => `${severity}: ${code}`);

describe('the lint of tool calls', () => {
  it('counts what was fetched, not what was tried in vain or merely mentioned', () => {
    const url = 'https://raw.githubusercontent.com/MIT-LCP/mimic-code/main/sofa.sql';
    expect(codes(call({ command: `curl -s ${url}`, output: 'SELECT …' }))).toEqual([
      'violation: public-repository',
    ]);
    expect(
      codes(call({ command: 'git clone git@github.com:MIT-LCP/mimic-code.git', output: 'done' })),
    ).toEqual(['violation: public-repository']);
    expect(
      codes(call({ command: `python3 -c "import urllib.request as u; print(u.urlopen('${url}').read())"` })),
    ).toEqual(['violation: public-repository']);
    const unresolved = 'curl: (6) Could not resolve host';
    expect(
      codes(call({ command: `curl -s ${url}`, output: unresolved, exitCode: 6, status: 'failed' })),
    ).toEqual(['note: public-repository-tried']);
    expect(codes(call({ command: `curl ${url} || true`, output: unresolved }))).toEqual([
      'note: public-repository-tried',
    ]);
    for (const harmless of [
      `echo "conventions: ${url}"`,
      `grep curl notes.md`,
      `# curl ${url}\nduckdb database.duckdb`,
      `duckdb database.duckdb -c "select 1 -- curl ${url}"`,
      'curl http://127.0.0.1:8300/openai/v1/models',
      'cat instruction.md | grep mimic-code',
      'pip list',
    ])
      expect([harmless, codes(call({ command: harmless }))]).toEqual([harmless, []]);
  });

  it('counts web tools by whatever name a CLI gives them', () => {
    for (const tool of ['web_search', 'WebSearch', 'WebFetch', 'google_web_search', 'url_context'])
      expect(codes(call({ tool, input: '{"query":"sofa"}' }))).toEqual(['violation: web-tool']);
    expect(codes(call({ tool: 'WebSearch', status: 'failed', output: 'not available' }))).toEqual([
      'note: web-tool-tried',
    ]);
    expect(codes(call({ tool: 'apply_patch', input: 'web_search' }))).toEqual([]);
  });

  it('counts removed relations that answered, unless they are of the own making', () => {
    const read = 'duckdb database.duckdb -c "select * from mimiciv_derived.sofa limit 3"';
    expect(codes(call({ command: read }))).toEqual(['violation: removed-relation']);
    expect(
      codes(call({ command: 'python3 q.py', input: 'join "mimiciv_derived"."sepsis3" s on true' })),
    ).toEqual(['violation: removed-relation']);
    expect(
      codes(call({ command: read, output: 'Catalog Error: Table with name sofa does not exist!' })),
    ).toEqual(['note: removed-relation-tried']);
    expect(
      codes(
        call({
          command: 'duckdb database.duckdb -c "create table mimiciv_derived.sofa as select 1 as sofa"',
        }),
        call({ command: read }),
      ),
    ).toEqual([]);
    expect(codes(call({ command: 'echo mimiciv_derived.sofa is not there' }))).toEqual([]);
    expect(codes(call({ command: read.replaceAll('.sofa', '.sofa_hourly') }))).toEqual([]);
  });

  it('counts files of the host that hold answers', () => {
    const path = '/home/someone/.m4bench/references/mimic-iv/sofa.parquet';
    expect(codes(call({ command: `cat '${path}'` }))).toEqual(['violation: protected-file']);
    expect(
      codes(call({ command: `ls ${path}`, output: 'ls: No such file or directory', exitCode: 2 })),
    ).toEqual(['note: protected-file-tried']);
    expect(codes(call({ command: 'cat ./database.duckdb 2>/dev/null; echo "a / b, mg/dL"' }))).toEqual([]);
  });
});

describe('the overlap with the reference query', () => {
  const reference =
    'select stay_id, max(sofa) as sofa from derived where hr between 0 and 24 group by stay_id';

  it('is 1 for a copy whatever its layout, case and comments, and 0 for other text', () => {
    const copied = reference.toUpperCase().replaceAll(' ', '\n  ').replace('FROM', '-- a comment\nFROM');
    expect(overlapOf(reference, [copied]).share).toBe(1);
    expect(overlapOf(reference, ['select 1']).share).toBe(0);
    expect(overlapOf('', [reference])).toEqual({ share: 0, shared: 0, total: 0 });
  });

  it('is the share of runs of eight words', () => {
    // The reference has 20 words and signs, so 13 runs of eight; its first 9 hold two of them, its first 11 four.
    expect(overlapOf(reference, ['select stay_id, max(sofa) as sofa'])).toMatchObject({
      shared: 2,
      total: 13,
    });
    expect(overlapOf(reference, ['select stay_id, max(sofa) as sofa from derived'])).toMatchObject({
      shared: 4,
    });
  });

  it('leaves out what the agent was given', () => {
    const given = 'Use: select stay_id, max(sofa) as sofa from derived';
    expect(overlapOf(reference, [reference], [given])).toEqual({ share: 1, shared: 9, total: 9 });
    expect(overlapOf(reference, [given], [given]).shared).toBe(0);
  });
});

describe('the scan of a file', () => {
  it('finds a text across the border of two reads, and follows no link', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'm4bench-scan-'));
    try {
      const path = join(folder, 'trace.jsonl');
      writeFileSync(path, `${'x'.repeat(1024 * 1024 - 5)}needle-in-two\n${'y'.repeat(100)}`);
      const scan = await scanFile(path, ['absent', 'needle-in-two']);
      expect([...scan!.found]).toEqual([1]);
      expect(scan!.bytes).toBe(1024 * 1024 - 5 + 14 + 100);
      symlinkSync(path, join(folder, 'link'));
      expect(await scanFile(join(folder, 'link'), ['needle-in-two'])).toBeUndefined();
      expect(await scanFile(join(folder, 'absent'), [])).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('egress', () => {
  const line = (part: object): string =>
    `${JSON.stringify({ status: 200, host: 'api.openai.com', protocol: 'openai-responses', refusal: null, failure: null, hostedToolsRemoved: [], ...part })}\n`;
  const hosts = ['api.openai.com'];

  it('is clean when every forwarded exchange went to a provider, whatever was refused', () => {
    const refused = line({ host: null, protocol: null, status: 403, refusal: 'path not allowed' });
    expect(egressOf(line({}) + refused, hosts, true)).toEqual({ passed: true, problems: [] });
  });

  it('is not when bytes went elsewhere, the log is missing or damaged', () => {
    expect(egressOf(line({ host: 'evil.example' }), hosts, true).problems).toEqual([
      'bytes went to evil.example, which no provider has',
    ]);
    expect(egressOf(line({ protocol: null }), hosts, true).passed).toBe(false);
    expect(egressOf(undefined, hosts, true).passed).toBe(false);
    expect(egressOf('', hosts, true).passed).toBe(false);
    expect(egressOf(undefined, hosts, false).passed).toBe(true);
    expect(egressOf(`${line({})}{"host":`, hosts, true).passed).toBe(false);
  });
});
