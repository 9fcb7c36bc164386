import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Analysis, analyze } from './analyze.js';
import { mean } from './moments.js';
import { publishedRunsFolder, publishedTablesFile } from './published-data.fixture.js';
import { publishedCampaigns, readPublishedRuns } from './read-published.js';
import type { RunSet } from './run-set.js';
import { printedTable } from './tables.js';

const oracleSchema = z.object({
  tables: z.record(z.string(), z.object({ rows: z.array(z.array(z.string())) })),
});

describe.skipIf(publishedRunsFolder === undefined || publishedTablesFile === undefined)(
  'the published tables, from the published runs',
  () => {
    let set: RunSet;
    let analysis: Analysis;
    let codex: Analysis;
    let printed: Readonly<Record<string, readonly (readonly string[])[]>>;

    beforeAll(async () => {
      const oracle = oracleSchema.parse(JSON.parse(await readFile(publishedTablesFile!, 'utf8')));
      printed = Object.fromEntries(Object.entries(oracle.tables).map(([number, { rows }]) => [number, rows]));
      set = await readPublishedRuns(publishedRunsFolder!);
      analysis = analyze(set, { rng: 'published', only: ['table03-native-skill-effect'] });
      const own = (rows: RunSet['rows']): RunSet['rows'] =>
        rows.filter((row) => row.campaign === publishedCampaigns.codex);
      codex = analyze({ ...set, rows: own(set.rows), superseded: own(set.superseded) }, { rng: 'published' });
    });

    const rowsOf = (name: string): readonly (readonly string[])[] => printedTable(codex.tables[name]!).rows;
    const cell = (table: string, row: string, column: string): string => {
      const { columns, rows } = printedTable(codex.tables[table]!);
      return rows.find(([label]) => label === row)![columns.indexOf(column)]!;
    };

    it.each([
      ['03', 'table03-native-skill-effect'],
      ['16', 'table16-largest-gains'],
      ['17', 'table17-largest-declines'],
      ['18', 'table18-mode-split'],
      ['19', 'table19-cluster-sensitivity'],
    ])('table %s to the last digit, intervals included', (number, name) => {
      expect(rowsOf(name)).toEqual(printed[number]);
    });

    it('table 13: order, mode, database, delta; membership but for the cell shifted in print', () => {
      const rows = rowsOf('table13-control-subsets');
      expect(rows).toHaveLength(28);
      printed['13']!.forEach((expected, index) => {
        const shifted = expected[0] === 'mimic-oasis-24h';
        expect(rows[index]!.slice(0, 4)).toEqual(expected.slice(0, 4));
        // In print the `yes` of mimic-oasis-24h stands one column too far to the left.
        expect(rows[index]!.slice(4)).toEqual(shifted ? ['', 'yes'] : [expected[4], expected[5] ?? '']);
      });
      expect(rows.filter((row) => row[4] === 'yes')).toHaveLength(10);
      expect(rows.filter((row) => row[5] === 'yes')).toHaveLength(8);
    });

    it('counts runs as the run-data dictionary does', () => {
      const count = (campaign: string, part: string): number =>
        set.rows.filter((row) => row.campaign === campaign && row.part === part).length;
      expect(count(publishedCampaigns.codex, 'primary')).toBe(760);
      expect(count(publishedCampaigns.codex, 'follow-up')).toBe(340);
      expect(count(publishedCampaigns.claude, 'primary')).toBe(190);
      expect(count(publishedCampaigns.openWeights, 'primary')).toBe(110);
      expect(set.superseded).toHaveLength(23);
      expect(cell('table15-integrity', 'Runs', 'Value')).toBe('760');
      expect(cell('table15-integrity', 'Cells', 'Value')).toBe('152');
      expect(cell('table24-follow-up-integrity', 'Run directories', 'Value')).toBe('363');
      expect(cell('table24-follow-up-integrity', 'Run keys with a superseded attempt', 'Value')).toBe('15');
      expect(cell('table10-artifact-package', publishedCampaigns.codex, 'Retained')).toBe('800');
    });

    it('every failure is a diagnostic failure, a strict pass or a counted failure: they sum to the runs', () => {
      const value = (item: string): number => Number(cell('table15-integrity', item, 'Value'));
      expect(
        value('Strict passes') + value('Semantic diagnostic failures') + value('Failures counted as 0'),
      ).toBe(760);
    });

    it('reward is the mean of the match rates, and key F1 follows from precision and recall, in every run', () => {
      const scored = set.rows.filter((row) => Object.keys(row.matchRates).length > 0);
      expect(scored).toHaveLength(977);
      for (const row of scored)
        expect(Math.abs(mean(Object.values(row.matchRates)) - row.reward!)).toBeLessThan(6e-9);
      const withKeys = set.rows.filter((row) => row.part === 'primary');
      expect(withKeys).toHaveLength(1060);
      for (const row of withKeys) {
        const [precision, recall] = [row.keyPrecision ?? 0, row.keyRecall ?? 0];
        const harmonic = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
        expect(Math.abs(harmonic - row.keyF1!)).toBeLessThan(1e-12);
      }
    });

    it('nMAE is missing for the 40 ventilation runs and two failures without output, and nowhere else', () => {
      const arms = set.rows.filter(
        (row) =>
          row.campaign === publishedCampaigns.codex &&
          row.part === 'primary' &&
          (row.condition === 'no-skill' || row.condition === 'with-skill'),
      );
      expect(arms).toHaveLength(560);
      const missing = arms.filter((row) => row.orderedNmae === null);
      expect(missing).toHaveLength(42);
      expect(missing.filter((row) => row.task.startsWith('mimic-ventilation'))).toHaveLength(40);
      expect(missing.filter((row) => row.failure === 'agent')).toHaveLength(2);
    });

    it('superseded attempts: 19 without comparable output, 3 that never started, 1 timeout', () => {
      const reasons = (reason: string): number =>
        set.superseded.filter((row) => row.failureReason === reason).length;
      expect(reasons('no comparable output')).toBe(19);
      expect(reasons('the container did not start')).toBe(3);
      expect(reasons('time limit reached')).toBe(1);
      expect(set.superseded.every((row) => row.reward === 0)).toBe(true);
    });

    it('the sensitivity of the claims that the specification quotes', () => {
      expect(cell('sensitivity', 'Declared value columns only', 'Delta or ratio')).toMatch(/^0\.156 /);
      expect(cell('sensitivity', 'Robustness ratio restructured, headline', 'Delta or ratio')).toBe('0.706');
      expect(cell('sensitivity', 'Robustness ratio restructured, first attempts', 'Delta or ratio')).toBe(
        '0.159',
      );
      expect(cell('sensitivity', 'Robustness ratio restructured, first attempts', 'Runs changed')).toBe('14');
    });

    it('puts campaigns side by side without averaging over them', () => {
      const table = printedTable(analysis.tables['table03-native-skill-effect']!);
      expect(table.columns.slice(0, 2)).toEqual(['Measure', 'Campaign']);
      const ofCodex = table.rows.filter((row) => row[1] === publishedCampaigns.codex);
      expect(ofCodex.map((row) => row.toSpliced(1, 1))).toEqual(printed['03']);
      expect(new Set(table.rows.map((row) => row[1]))).toEqual(new Set(Object.values(publishedCampaigns)));
    });

    it('says what the published runs cannot give, instead of a table of NA', () => {
      expect(Object.keys(codex.omitted)).toContain('table30-harness-indicators');
      expect(codex.tables['table30-harness-indicators']).toBeUndefined();
      expect(() => analyze(set, { only: ['table30-harness-indicators'] })).toThrow(
        /needs recorded CLI versions/,
      );
    });

    it('the modern stream gives the same estimates, and intervals within 0.006 of the published ones', () => {
      const modern = analyze(set, { only: ['table03-native-skill-effect'] }).tables[
        'table03-native-skill-effect'
      ]!;
      const published = analysis.tables['table03-native-skill-effect']!;
      modern.rows.forEach((row, index) => {
        expect(row.delta).toBe(published.rows[index]!.delta);
        expect(Math.abs(Number(row.low) - Number(published.rows[index]!.low))).toBeLessThan(0.006);
        expect(Math.abs(Number(row.high) - Number(published.rows[index]!.high))).toBeLessThan(0.006);
      });
    });
  },
);
