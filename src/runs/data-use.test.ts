import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeAt } from '../support/home.js';
import { dataUseOf, dataUseRefused, mayReceive, readAttestations } from './data-use.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-data-use-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const openai = { name: 'openai', baseUrl: 'https://api.openai.com/v1' };
const local = { name: 'local', baseUrl: 'http://127.0.0.1:11434/v1' };

describe('the data-use guard', () => {
  it('lets open and synthetic data go anywhere, and credentialed data to this machine only', () => {
    expect(mayReceive(openai, 'open').allowed).toBe(true);
    expect(mayReceive(openai, 'synthetic').allowed).toBe(true);
    expect(mayReceive(openai, 'credentialed')).toEqual({ allowed: false, attestation: null });
    expect(mayReceive(local, 'credentialed')).toEqual({ allowed: true, attestation: 'local' });
    for (const baseUrl of [
      'http://127.0.0.1.example.org/v1',
      'http://192.168.1.5:8000/v1',
      'http://localhost.example.org',
    ])
      expect(mayReceive({ name: 'local', baseUrl }, 'credentialed').allowed).toBe(false);
  });

  it('takes the word of config.toml, provider by provider, and records whose it is', async () => {
    writeFileSync(
      join(folder, 'config.toml'),
      '[attestations.openai]\nkind = "zero-retention"\nby = "A. Person"\non = 2026-01-31\n'.replace(
        '2026-01-31',
        '"2026-01-31"',
      ),
    );
    const attestations = await readAttestations(homeAt(folder));
    expect(mayReceive(openai, 'credentialed', attestations)).toEqual({
      allowed: true,
      attestation: 'zero-retention, attested by A. Person on 2026-01-31',
    });
    const anthropic = { name: 'anthropic', baseUrl: 'https://api.anthropic.com' };
    expect(mayReceive(anthropic, 'credentialed', attestations).allowed).toBe(false);
  });

  it('allows a run only when every provider within its reach is allowed', () => {
    const decide = (providers: readonly unknown[], dataClass: string) =>
      dataUseOf(
        { providers } as never,
        { request: { agent: { needsModel: true }, dataset: { class: dataClass } } } as never,
      );
    expect(decide([local, openai], 'credentialed')).toEqual({
      provider: 'local, openai',
      attestation: null,
      allowed: false,
    });
    expect(decide([local], 'credentialed')).toEqual({
      provider: 'local',
      attestation: 'local',
      allowed: true,
    });
    expect(decide([openai], 'synthetic').allowed).toBe(true);
  });

  it('explains a refusal with the terms and the way out', () => {
    const refusal = dataUseRefused('mimic-iv', 'openai');
    expect(refusal.code).toBe('DATA_USE_REFUSED');
    expect(refusal.message).toContain("PhysioNet's data use agreement");
    expect(refusal.remedy).toContain('config.toml');
  });

  it('refuses a configuration it does not understand, naming the field', async () => {
    const other = mkdtempSync(join(folder, 'x-'));
    expect((await readAttestations(homeAt(other))).size).toBe(0);
    writeFileSync(
      join(other, 'config.toml'),
      '[attestations.openai]\nkind = "trust-me"\nby = "x"\non = "2026-01-31"\n',
    );
    await expect(readAttestations(homeAt(other))).rejects.toThrow(/attestations\.openai\.kind/);
  });
});
