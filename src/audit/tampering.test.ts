import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runIdOf } from '../runs/cell.js';
import type { Attempt, RunResult } from '../runs/result.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { sha256 } from '../support/hashing.js';
import { homeAt } from '../support/home.js';
import { auditRun } from './audit-run.js';
import { rescoreRun } from './rescore.js';
import { commandEvent, playRun, syntheticStays } from './test-run.js';

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
if (!works) console.warn('Skipped: bubblewrap does not work here');

let home: string;
let original: string;
let withSearch: string;
beforeAll(async () => {
  if (!works) return;
  home = mkdtempSync(join(tmpdir(), 'm4bench-tampering-'));
  await syntheticStays(home);
  const sandbox = { ...bubblewrap, rootfsDigest: 'sha256:test' };
  original = (await playRun({ sandbox, home, output: { isRight: true } })).folder;
  const answer = { output: [{ type: 'web_search_call' }] };
  withSearch = (await playRun({ sandbox, home, trial: 2, answer })).folder;
});
afterAll(() => works && rmSync(home, { recursive: true, force: true }));

/** A copy of a run that a forger works on. */
class Forgery {
  readonly attempt: string;
  constructor(readonly folder: string) {
    this.attempt = join(folder, 'attempts/1');
  }

  edit(file: string, change: (text: string) => string): void {
    const path = join(this.folder, file);
    const before = readFileSync(path, 'utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    writeFileSync(path, after);
  }

  editJson<Shape>(file: string, change: (value: Shape) => void): void {
    this.edit(file, (text) => {
      const value = JSON.parse(text) as Shape;
      change(value);
      return `${JSON.stringify(value, null, 2)}\n`;
    });
  }

  result(change: (result: RunResult) => void): void {
    this.editJson('result.json', change);
  }

  record(change: (attempt: Attempt) => void): void {
    this.editJson('attempts/1/attempt.json', change);
  }

  /** Makes every hash fit again, as a careful forger does. */
  seal(): void {
    const hashOf = (file: string): string | null =>
      existsSync(join(this.attempt, file)) ? sha256(readFileSync(join(this.attempt, file))) : null;
    const path = join(this.attempt, 'attempt.json');
    const attempt = JSON.parse(readFileSync(path, 'utf8')) as Attempt;
    attempt.hashes = {
      ...attempt.hashes,
      output: hashOf('output.csv'),
      trace: hashOf('trace.jsonl'),
      stderr: hashOf('stderr.txt'),
      gateway: hashOf('gateway.jsonl'),
      canary: hashOf('canary.json'),
      lint: hashOf('lint.json'),
      transcript: hashOf('transcript.json'),
      evaluation: hashOf('evaluation.json'),
    };
    for (const file of attempt.files.copied)
      if (existsSync(join(this.attempt, file.path)))
        (file as { bytes: number }).bytes = readFileSync(join(this.attempt, file.path)).length;
    writeFileSync(path, `${JSON.stringify(attempt, null, 2)}\n`);
    const result = JSON.parse(readFileSync(join(this.folder, 'result.json'), 'utf8')) as RunResult;
    const { output, trace, gateway } = attempt.hashes;
    result.hashes = { ...result.hashes, output, trace, gateway, attempts: [hashOf('attempt.json')!] };
    writeFileSync(join(this.folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  }
}

interface Tampering {
  readonly name: string;
  readonly forge: (run: Forgery) => void;
  /** A code that must be among the problems. */
  readonly code: string;
  readonly of?: 'search';
}

const OTHER_HASH = '0'.repeat(64);

const TAMPERINGS: readonly Tampering[] = [
  {
    name: 'output changed',
    code: 'HASH_DIFFERS',
    forge: (run) => run.edit('attempts/1/output.csv', (text) => `${text}2,3\n`),
  },
  {
    name: 'output changed, every hash and size made to fit',
    code: 'RESCORE_DIFFERS',
    forge: (run) => {
      run.edit('attempts/1/output.csv', (text) => text.split('\n').slice(0, 12).join('\n'));
      run.seal();
    },
  },
  {
    name: 'transcript edited',
    code: 'HASH_DIFFERS',
    forge: (run) => run.edit('attempts/1/transcript.json', (text) => text.replace('"turns"', '"turns "')),
  },
  {
    name: 'a background model left out of the record, every hash made to fit',
    code: 'COUNTS_DIFFER',
    forge: (run) => {
      run.edit('attempts/1/gateway.jsonl', (text) => text.replace('"askedModel":"', '"askedModel":"other-'));
      run.seal();
    },
  },
  {
    name: 'trace edited',
    code: 'HASH_DIFFERS',
    forge: (run) =>
      run.edit('attempts/1/trace.jsonl', (text) => text.replace('show all tables', 'show tables')),
  },
  { name: 'trace removed', code: 'HASH_DIFFERS', forge: (run) => rmSync(join(run.attempt, 'trace.jsonl')) },
  {
    name: 'trace exchanged for one with a violation the lint does not tell',
    code: 'LINT_DIFFERS',
    forge: (run) => {
      const fetched = commandEvent('curl https://github.com/MIT-LCP/mimic-code/x.sql', 'select 1');
      run.edit('attempts/1/trace.jsonl', (text) => text.replace('\n', `\n${fetched}\n`));
      run.seal();
    },
  },
  {
    name: 'line of the gateway log removed',
    code: 'HASH_DIFFERS',
    forge: (run) => run.edit('attempts/1/gateway.jsonl', () => ''),
  },
  {
    name: 'line of the gateway log added, hashes made to fit',
    code: 'COUNTS_DIFFER',
    forge: (run) => {
      run.edit('attempts/1/gateway.jsonl', (text) => text + text);
      run.seal();
    },
  },
  {
    name: 'gateway log names another host, hashes made to fit',
    code: 'GATES_DIFFER',
    forge: (run) => {
      run.edit('attempts/1/gateway.jsonl', (text) => text.replace(/"host":"[^"]+"/, '"host":"evil.example"'));
      run.seal();
    },
  },
  {
    name: 'gateway log removed, hashes made to fit',
    code: 'LOG_MISSING',
    forge: (run) => {
      rmSync(join(run.attempt, 'gateway.jsonl'));
      run.seal();
    },
  },
  {
    name: 'search by the provider struck from the record and the result',
    of: 'search',
    code: 'COUNTS_DIFFER',
    forge: (run) => {
      run.record((attempt) => {
        attempt.integrity.hostedToolCalls = [];
      });
      run.result((result) => {
        result.integrity.hostedToolCalls = [];
        result.reasons = [];
        result.publishable = true;
      });
      run.seal();
    },
  },
  {
    name: 'declared publishable against its own reasons',
    of: 'search',
    code: 'VERDICT_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.publishable = true;
        result.reasons = [];
      }),
  },
  {
    name: 'reward changed in the result',
    code: 'REWARD_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.reward = 0.5;
      }),
  },
  {
    name: 'reward changed in record and result, hashes made to fit',
    code: 'REWARD_DIFFERS',
    forge: (run) => {
      run.record((attempt) => {
        attempt.reward = 0.5;
      });
      run.result((result) => {
        result.reward = 0.5;
      });
      run.seal();
    },
  },
  {
    name: 'reward changed everywhere, hashes made to fit',
    code: 'RESCORE_DIFFERS',
    forge: (run) => {
      const change = (value: { reward: number | null; rewardRobust?: number | null }): void => {
        value.reward = 0.5;
        if (value.rewardRobust !== undefined) value.rewardRobust = 0.5;
      };
      run.record(change);
      run.editJson<{ reward: number; rewardRobust: number }>('attempts/1/evaluation.json', change);
      run.result((result) => {
        change(result);
        change(result.evaluation as never);
      });
      run.seal();
    },
  },
  {
    name: 'hash of the task database swapped',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.hashes.taskDatabase = OTHER_HASH;
      }),
  },
  {
    name: 'hash of the task database swapped in the cell as well',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.hashes.taskDatabase = OTHER_HASH;
        result.cell.hashes.taskDatabase = OTHER_HASH;
      }),
  },
  {
    name: 'relabelled as another model',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.cell.model = 'another';
      }),
  },
  {
    name: 'relabelled as another model, run id made to fit',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.cell.model = 'another';
        result.runId = runIdOf(result.cell, result.trial);
      }),
  },
  {
    name: 'passed off as another trial',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.trial = 9;
      }),
  },
  {
    name: 'class of the dataset changed',
    code: 'IDENTITY_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.dataset.class = 'open';
      }),
  },
  {
    name: 'dataset declared unverified or verified against its manifest',
    code: 'DATASET_DIFFERS',
    forge: (run) =>
      run.result((result) => {
        result.dataset.verified = !result.dataset.verified;
      }),
  },
  {
    name: 'canary that was reached declared held by the verdict alone',
    code: 'CANARY_INVALID',
    forge: (run) => {
      run.editJson<{ checks: { held: boolean }[] }>('attempts/1/canary.json', (report) => {
        report.checks[0]!.held = false;
      });
      run.seal();
    },
  },
  {
    name: 'checks struck from the canaries',
    code: 'CANARY_INVALID',
    forge: (run) => {
      run.editJson<{ checks: unknown[] }>('attempts/1/canary.json', (report) => {
        report.checks = report.checks.slice(0, 3);
      });
      run.seal();
    },
  },
  {
    name: 'controls struck from the canaries',
    code: 'CANARY_INVALID',
    forge: (run) => {
      run.editJson<{ controls: unknown[] }>('attempts/1/canary.json', (report) => {
        report.controls = [];
      });
      run.seal();
    },
  },
  {
    name: 'canaries removed, hashes made to fit',
    code: 'GATES_DIFFER',
    forge: (run) => {
      rmSync(join(run.attempt, 'canary.json'));
      run.seal();
    },
  },
  {
    name: 'lint removed, hashes made to fit',
    code: 'GATES_DIFFER',
    forge: (run) => {
      rmSync(join(run.attempt, 'lint.json'));
      run.seal();
    },
  },
  {
    name: 'record of the attempt edited',
    code: 'HASH_DIFFERS',
    forge: (run) =>
      run.record((attempt) => {
        attempt.startedAt = '2020-01-01T00:00:00.000Z';
      }),
  },
  {
    name: 'failed attempt declared judged',
    code: 'CLASS_DIFFERS',
    forge: (run) => {
      run.record((attempt) => {
        attempt.outcome!.exitCode = 1;
      });
      run.seal();
    },
  },
  {
    name: 'tokens lowered in record and result, hashes made to fit',
    code: 'COUNTS_DIFFER',
    forge: (run) => {
      run.record((attempt) => {
        attempt.tokens!.input = 1;
      });
      run.result((result) => {
        result.tokens!.input = 1;
      });
      run.seal();
    },
  },
  {
    name: 'earlier attempt hidden',
    code: 'ATTEMPTS_DIFFER',
    forge: (run) => {
      cpSync(run.attempt, join(run.folder, 'attempts/2'), { recursive: true });
      run.editJson<Attempt>('attempts/2/attempt.json', (attempt) => {
        attempt.n = 2;
      });
    },
  },
  {
    name: 'attempt removed',
    code: 'ATTEMPTS_DIFFER',
    forge: (run) => rmSync(run.attempt, { recursive: true }),
  },
  {
    name: 'instruction edited',
    code: 'HASH_DIFFERS',
    forge: (run) => run.edit('attempts/1/instruction.md', (text) => `${text}\nHint.`),
  },
  {
    name: 'skill edited',
    code: 'CONTEXT_DIFFERS',
    forge: (run) => {
      const skills = join(run.attempt, 'context/.codex/skills');
      appendFileSync(join(skills, readdirSync(skills)[0]!, 'SKILL.md'), '\nHint.');
    },
  },
  {
    name: 'further file put into the context',
    code: 'CONTEXT_DIFFERS',
    forge: (run) => writeFileSync(join(run.attempt, 'context/hint.md'), 'Hint.'),
  },
  {
    name: 'output exchanged for a link to the same bytes',
    code: 'FILE_IRREGULAR',
    forge: (run) => {
      renameSync(join(run.attempt, 'output.csv'), join(run.folder, '..', `${basename(run.folder)}.csv`));
      symlinkSync(join(run.folder, '..', `${basename(run.folder)}.csv`), join(run.attempt, 'output.csv'));
    },
  },
  {
    name: 'file put into the attempt',
    code: 'FILE_UNKNOWN',
    forge: (run) => writeFileSync(join(run.attempt, 'notes.txt'), ''),
  },
  {
    name: 'private rows opened to others',
    code: 'PRIVATE_FILE_OPEN',
    forge: (run) => chmodSync(join(run.attempt, 'evaluation.private.json'), 0o644),
  },
  {
    name: 'result cut off',
    code: 'RESULT_INVALID',
    forge: (run) => run.edit('result.json', (text) => text.slice(0, 500)),
  },
];

describe.runIf(works)('the audit of a run folder', () => {
  it('finds nothing in a run as it was written', async () => {
    for (const folder of [original, withSearch]) {
      expect((await auditRun(folder)).problems).toEqual([]);
      expect(await rescoreRun(homeAt(home), folder)).toEqual({ wasCompared: true, problems: [] });
    }
    expect((await auditRun(original)).publishable).toBe(true);
    expect((await auditRun(withSearch)).publishable).toBe(false);
  });

  it.each(TAMPERINGS)('catches: $name', async ({ forge, code, of }) => {
    const from = of === 'search' ? withSearch : original;
    const place = mkdtempSync(join(tmpdir(), 'm4bench-forgery-'));
    try {
      const folder = join(place, basename(from));
      mkdirSync(folder);
      cpSync(from, folder, { recursive: true });
      forge(new Forgery(folder));
      const audit = await auditRun(folder);
      const rescore = await rescoreRun(homeAt(home), folder);
      const codes = [...audit.problems, ...rescore.problems].map((problem) => problem.code);
      expect(codes).toContain(code);
      if (rescore.problems.length === 0) expect(audit.publishable).toBe(false);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});
