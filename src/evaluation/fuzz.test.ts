import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeededRandom, seededRandom } from '../support/random.js';
import type { Evaluation } from './evaluation.js';
import { ScoringFixture } from './scoring-fixture.js';

/**
 * Malformed outputs from generators named by the fault that they plant. Every case must end in a verdict, quickly, and
 * the shares of verdicts per generator are asserted. `M4BENCH_FUZZ_CASES` sets the number of cases in all
 * (`npm run test:fuzz`: 10,000).
 */
type Outcome = 'rejected' | 'zero' | 'scored';

interface Generator {
  readonly fault: string;
  /** Verdicts that may occur, with bounds of their shares; a verdict that is not named must not occur. */
  readonly shares: Partial<Record<Outcome, readonly [least: number, most: number]>>;
  readonly extension?: '.csv' | '.csv.gz' | '.parquet';
  plant(random: SeededRandom, index: number): string | Uint8Array;
}

const always = [1, 1] as const;
const any = [0, 1] as const;
const header = 'stay_id,charttime,score,dose,label';
const keys = ['stay_id', 'charttime'];
const values = ['score', 'dose', 'label'];
const rows = Array.from({ length: 12 }, (_unused, i) => [
  String(30_000_000 + i),
  `2150-01-01 ${String(i).padStart(2, '0')}:30:00`,
  String(i % 4),
  (i * 1.25).toFixed(2),
  ['HFNC', 'None', 'InvasiveVent'][i % 3] as string,
]);
const linesOf = (table: readonly (readonly string[])[]) => table.map((row) => row.join(','));
const fileOf = (table: readonly (readonly string[])[], head = header) =>
  `${[head, ...linesOf(table)].join('\n')}\n`;
const right = fileOf(rows);
let parquetBytes: Uint8Array;

/** The table with one cell changed. */
function withCell(row: number, column: number, cell: string): string {
  return fileOf(rows.map((cells, r) => (r === row ? cells.with(column, cell) : cells)));
}

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[random.integer(list.length)] as T;
}

function spliced(bytes: Uint8Array, at: number, inserted: readonly number[]): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)]);
}

const generators: readonly Generator[] = [
  {
    fault: 'cut at a random byte of the data',
    // Most cuts fall into a key of the last record, and one malformed key fails the published join.
    shares: { scored: [0.1, 0.6], rejected: [0.4, 0.9], zero: any },
    plant: (random) => right.slice(0, header.length + 1 + random.integer(right.length - header.length - 1)),
  },
  {
    fault: 'cut inside the header',
    // The key names are the first 17 of 42 bytes; behind them a file is a header without rows.
    shares: { rejected: [0.3, 0.5], zero: [0.5, 0.7] },
    plant: (random) => header.slice(0, random.integer(header.length)),
  },
  {
    fault: 'a quote that is never closed',
    shares: { rejected: always },
    plant: (random) => withCell(random.integer(12), random.integer(5), '"open'),
  },
  {
    fault: 'a surplus field after the first record',
    shares: { rejected: always },
    plant: (random) =>
      withCell(1 + random.integer(11), random.integer(5), pick(random, ['1,2', ',', 'a,b,c'])),
  },
  {
    fault: 'a comma at the end of every data line',
    shares: { rejected: always },
    plant: () => `${[header, ...linesOf(rows).map((line) => `${line},`)].join('\n')}\n`,
  },
  {
    fault: 'records that end early',
    shares: { scored: always },
    plant: (random) =>
      fileOf(
        rows.map((row, i) => (i === 0 || random.next() < 0.5 ? row : row.slice(0, 2 + random.integer(3)))),
      ),
  },
  {
    fault: 'a byte that is not UTF-8',
    shares: { rejected: always },
    plant: (random) =>
      spliced(Buffer.from(right), random.integer(right.length), [
        pick(random, [0x80, 0xbf, 0xc0, 0xf5, 0xff]),
      ]),
  },
  {
    fault: 'NUL bytes in the data',
    shares: { scored: [0.3, 1], zero: any, rejected: any },
    plant: (random) =>
      spliced(Buffer.from(right), header.length + 1 + random.integer(right.length - header.length - 1), [0]),
  },
  {
    fault: 'random bytes',
    shares: { rejected: always },
    plant: (random) => Uint8Array.from({ length: random.integer(4096) }, () => random.integer(256)),
  },
  {
    fault: 'nothing but blanks, line ends and marks',
    shares: { rejected: always },
    plant: (random) =>
      Array.from({ length: random.integer(20) }, () => pick(random, [' ', '\t', '\n', '\r', '\r\n'])).join(
        '',
      ),
  },
  {
    fault: 'random CSV punctuation after the header',
    shares: { rejected: any, zero: any },
    plant: (random) =>
      `${header}\n${Array.from({ length: random.integer(200) }, () => pick(random, [',', '"', '\n', '\r', ' ', 'a', '1', '\\', '\ufeff'])).join('')}`,
  },
  {
    fault: 'an empty or malformed key',
    shares: { rejected: always },
    plant: (random) =>
      withCell(random.integer(12), random.integer(2), pick(random, ['', 'NaN', 'abc', '1;2', '30-000'])),
  },
  {
    fault: 'another delimiter',
    shares: { rejected: always },
    plant: (random) => right.replaceAll(',', pick(random, [';', '\t', '|', ' '])),
  },
  {
    fault: 'a key column renamed',
    shares: { rejected: always },
    plant: (random) => {
      const names = header.split(',');
      const column = random.integer(2);
      return right.replace(
        header,
        names.with(column, pick(random, [` ${names[column]}`, 'STAY_ID', '', 'id'])).join(','),
      );
    },
  },
  {
    fault: 'scored columns renamed',
    shares: { scored: always },
    plant: (random) => right.replace(pick(random, ['score', 'dose', 'label']), 'value'),
  },
  {
    fault: 'a stray token in a number column',
    shares: { scored: always },
    plant: (random) =>
      withCell(
        random.integer(12),
        2 + random.integer(2),
        pick(random, [
          'NULL',
          'NaN',
          'nan',
          'None',
          ' ',
          '1e400',
          '0x10',
          '1_0',
          '"1,0"',
          '4%',
          'true',
          '１',
          '+-3',
          '--1',
          '1e',
          '∞',
        ]),
      ),
  },
  {
    fault: 'repeated and contradictory rows',
    shares: { scored: always },
    plant: (random) =>
      fileOf([
        ...rows,
        ...rows.slice(random.integer(12)).map((row) => (random.next() < 0.5 ? row : row.with(2, '9'))),
      ]),
  },
  {
    fault: 'mixed line ends and blank lines',
    shares: { scored: always },
    plant: (random) =>
      [header, ...linesOf(rows)]
        .map((line) => `${line}${pick(random, ['\n', '\r\n', '\r', '\n\n', '\r\n \n'])}`)
        .join(''),
  },
  {
    fault: 'zoned keys',
    shares: { rejected: always },
    plant: (random) =>
      fileOf(rows.map((row) => row.with(1, `${row[1]}${pick(random, ['Z', '+00:00', '+01'])}`))),
  },
  {
    fault: 'long fields and long blanks',
    shares: { scored: [0.3, 1], rejected: [0.1, 0.7] },
    plant: (random) => withCell(random.integer(12), 4, 'x'.repeat(pick(random, [1000, 100_000, 1_100_000]))),
  },
  {
    fault: 'a gzip file with a broken byte',
    extension: '.csv.gz',
    shares: { rejected: [0.5, 1], scored: any, zero: any },
    plant: (random) => {
      const bytes = gzipSync(right);
      bytes[random.integer(bytes.length)] = random.integer(256);
      return bytes;
    },
  },
  {
    fault: 'a gzip file cut short',
    extension: '.csv.gz',
    shares: { rejected: always },
    plant: (random) => {
      const bytes = gzipSync(right);
      return bytes.subarray(0, random.integer(bytes.length - 8));
    },
  },
  {
    fault: 'a Parquet file with broken bytes',
    extension: '.parquet',
    shares: { rejected: any, scored: any, zero: any },
    plant: (random) => {
      const bytes = Buffer.from(parquetBytes);
      for (let n = 1 + random.integer(3); n > 0; n--)
        bytes[random.integer(bytes.length)] = random.integer(256);
      return bytes;
    },
  },
  {
    fault: 'a Parquet file cut short',
    extension: '.parquet',
    shares: { rejected: always },
    plant: (random) => Buffer.from(parquetBytes).subarray(0, random.integer(parquetBytes.length - 4)),
  },
];

let fixture: ScoringFixture;
let truthPath: string;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
  truthPath = await fixture.write('truth.csv', right);
  const path = join(fixture.folder, 'right.parquet');
  await fixture.session.run(
    `copy (from read_csv('${truthPath}', header = true)) to '${path}' (format parquet)`,
  );
  parquetBytes = await readFile(path);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const casesInAll = Number(process.env.M4BENCH_FUZZ_CASES ?? 240);
const casesEach = Math.ceil(casesInAll / generators.length);
/** Below it the bounds of mixed shares are chance. */
const fewCases = 50;
/** Of computing per case; waiting is bounded more loosely, since a busy machine makes everything wait. */
const longestMilliseconds = 5000;
const longestWaitMilliseconds = 60_000;

function outcomeOf(evaluation: Evaluation): Outcome {
  if (evaluation.errorKind !== null) return 'rejected';
  return evaluation.reward === 0 ? 'zero' : 'scored';
}

function checkVerdict(evaluation: Evaluation): void {
  for (const share of [
    evaluation.reward,
    evaluation.rewardRobust,
    evaluation.keyPrecision,
    evaluation.keyRecall,
  ]) {
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThanOrEqual(1);
  }
  expect(evaluation.errorKind === null).toBe(evaluation.error === null);
  if (evaluation.error !== null) {
    expect(evaluation.errorKind).not.toBe('evaluator-failed');
    expect(evaluation.error).toMatch(/^[A-Z].*\.$/s);
    expect(evaluation).toMatchObject({ reward: 0, strictPass: false });
  }
}

describe(`${casesEach} cases of each fault end in verdicts`, () => {
  for (const { fault, shares, extension = '.csv', plant } of generators) {
    it(
      fault,
      async () => {
        const random = seededRandom(fault);
        const counts: Record<Outcome, number> = { rejected: 0, zero: 0, scored: 0 };
        const path = join(fixture.folder, `fuzz${extension}`);
        for (let index = 0; index < casesEach; index++) {
          await writeFile(path, plant(random, index));
          const started = performance.now();
          const cpu = process.cpuUsage();
          const { evaluation } = await fixture.evaluateFiles(
            { keys, values, request: { scoresOnly: index % 10 !== 0 } },
            truthPath,
            path,
          );
          const used = process.cpuUsage(cpu);
          expect((used.user + used.system) / 1000).toBeLessThan(longestMilliseconds);
          expect(performance.now() - started).toBeLessThan(longestWaitMilliseconds);
          checkVerdict(evaluation);
          counts[outcomeOf(evaluation)] += 1;
        }
        for (const outcome of ['rejected', 'zero', 'scored'] as const) {
          const [least, most] = shares[outcome] ?? [0, 0];
          const isMixed = (least > 0 && least < 1) || (most > 0 && most < 1);
          if (isMixed && casesEach < fewCases) continue;
          expect(counts[outcome] / casesEach, `share ${outcome}`).toBeGreaterThanOrEqual(least);
          expect(counts[outcome] / casesEach, `share ${outcome}`).toBeLessThanOrEqual(most);
        }
      },
      60_000 + casesEach * longestMilliseconds,
    );
  }
});
