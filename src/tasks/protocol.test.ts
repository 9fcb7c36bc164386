import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { benchmarkFolder } from '../support/home.js';
import { loadProtocol, protocolNames } from './protocol.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-protocols-'));
  await cp(join(benchmarkFolder(), 'protocols'), folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function change(name: string, from: string, to: string): Promise<void> {
  const file = join(folder, `${name}.toml`);
  const text = await readFile(file, 'utf8');
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
}

describe('protocols', () => {
  it('are the published one and the default', async () => {
    expect(await protocolNames()).toEqual(['m4bench-1', 'published-2026']);
    expect((await loadProtocol()).name).toBe('m4bench-1');
  });

  it('give a reason for every switch, and differ in every switch', async () => {
    const { name: _a, title: _b, reasons, ...own } = await loadProtocol('m4bench-1');
    const { name: _c, title: _d, reasons: theirs, ...published } = await loadProtocol('published-2026');
    expect(Object.keys(reasons)).toHaveLength(Object.keys(own).length);
    expect(Object.keys(theirs)).toHaveLength(Object.keys(published).length);
    for (const [key, value] of Object.entries(own)) {
      expect(value, key).not.toEqual(published[key as keyof typeof published]);
    }
  });

  it('hold the published choices', async () => {
    expect(await loadProtocol('published-2026')).toMatchObject({
      removal: 'configured',
      timeLimitSeconds: 1800,
      maxAttempts: 1,
      infrastructureFailure: 'zero',
      outputOfFailedRun: 'discarded',
      order: 'longest-first',
    });
  });

  it('name the nearest protocol for an unknown name', async () => {
    await expect(loadProtocol('published')).rejects.toMatchObject({
      code: 'PROTOCOL_UNKNOWN',
      remedy: expect.stringContaining('Did you mean "published-2026"?'),
    });
  });

  it('name file and field of a wrong value, an unknown switch and a missing reason', async () => {
    await change('m4bench-1', 'value = "lineage"', 'value = "all"');
    await expect(loadProtocol('m4bench-1', folder)).rejects.toMatchObject({
      code: 'PROTOCOL_INVALID',
      message: expect.stringMatching(/m4bench-1\.toml: field removal\.value/),
    });
    await change('m4bench-1', 'value = "all"', 'value = "lineage"');
    await change('m4bench-1', '[merges]', '[mergs]');
    await expect(loadProtocol('m4bench-1', folder)).rejects.toMatchObject({ code: 'PROTOCOL_INVALID' });
    await change('published-2026', 'name = "published-2026"', 'name = "other"');
    await expect(loadProtocol('published-2026', folder)).rejects.toMatchObject({
      message: expect.stringContaining('field name is "other"'),
    });
  });
});
