import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { benchmarkFolder } from '../../support/home.js';
import { loadTasks } from '../load-tasks.js';
import { loadFamilyRecords } from './family-records.js';
import type { Finding } from './finding.js';
import { provenanceFindings, tierFindings } from './record-rules.js';

const assets = new Set(['mimic-code', 'mimic-iv', 'published-release', 'definition']);

describe('a review of the SIRS texts', () => {
  let content: string;
  let folder: string;

  beforeEach(async () => {
    content = await mkdtemp(join(tmpdir(), 'm4bench-review-'));
    folder = join(content, 'families', 'sirs');
    for (const part of ['concepts', 'references', 'decoys', 'families']) {
      await cp(join(benchmarkFolder(), part), join(content, part), { recursive: true });
    }
    await recordReview('0'.repeat(64));
    const seen = (await findings()).find(({ rule }) => rule === 'review-stale');
    const hash = /content hash now ([0-9a-f]{64})/.exec(seen?.message ?? '')?.[1];
    await recordReview(hash ?? 'the finding names no hash');
  });
  afterEach(() => rm(content, { recursive: true, force: true }));

  async function recordReview(hash: string): Promise<void> {
    const shipped = await readFile(join(benchmarkFolder(), 'families/sirs/provenance.toml'), 'utf8');
    await writeFile(
      join(folder, 'provenance.toml'),
      shipped
        .replace('not yet reviewed by a clinician', 'reviewed by a clinician')
        .replace(
          '[[changelog]]',
          `[[reviews]]\nby = "C1"\ndate = "2026-12-01"\nscope = ["clinical-accuracy"]\nnotes = ""\ncontent_sha256 = "${hash}"\n\n[[changelog]]`,
        ),
    );
  }

  async function findings(): Promise<readonly Finding[]> {
    const tasks = (await loadTasks({ contentFolder: content })).filter(({ family }) => family === 'sirs');
    const skills = (tasks[0]?.material.library ?? []).filter(({ family }) => family === 'sirs');
    const family = { name: 'sirs', folder, tasks, skills, records: await loadFamilyRecords(folder) };
    return [
      ...(await provenanceFindings(family, new Set(['C1', 'C2', 'C3', 'C4']), assets)),
      ...(await tierFindings(family)),
    ];
  }

  it('is current while nothing changes', async () => {
    expect(await findings()).toEqual([]);
  });

  it.each([
    'tasks/mimic-sirs-24h-raw.md',
    'tasks/mimic-sirs-24h-raw.toml',
    'skills/sirs-criteria/common/SKILL.md',
    'operational-spec/mimic-sirs-24h-raw.md',
    'family.toml',
  ])('goes stale when %s changes, and says so', async (file) => {
    await appendFile(
      join(folder, file),
      file.endsWith('.toml') ? '# one comment more\n' : 'One sentence more.\n',
    );
    expect(await findings()).toEqual([
      expect.objectContaining({
        rule: 'review-stale',
        file: join(folder, 'provenance.toml'),
        message: expect.stringMatching(/^the review by C1 of 2026-12-01 saw other content; review again/),
      }),
      expect.objectContaining({ rule: 'provenance-status' }),
    ]);
  });

  it('stays current when reviewer notes or another family change', async () => {
    await appendFile(join(folder, 'notes.md'), 'A note.\n');
    await appendFile(join(content, 'families/meld/tasks/mimic-meld-24h.md'), 'A sentence.\n');
    expect(await findings()).toEqual([]);
  });
});
