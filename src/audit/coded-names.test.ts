import { describe, expect, it } from 'vitest';
import type { PreparedCell } from '../runs/prepare.js';
import { removedRelationsOf } from './lint.js';

/** A dataset of two tables; the task leaves one of them, and in a transformed schema that under its code. */
function cell(leaves: string, codes?: PreparedCell['codes']): Parameters<typeof removedRelationsOf>[0] {
  const tables = [
    { schema: 'eicu_crd', table: 'patient' },
    { schema: 'eicu_crd', table: 'apachescore' },
  ];
  const [schema, table] = leaves.split('.');
  return {
    request: { dataset: { kind: 'eicu', tables } } as unknown as PreparedCell['request'],
    relations: [{ schema, table }] as unknown as PreparedCell['relations'],
    ...(codes === undefined ? {} : { codes }),
  };
}

describe('relations that a task took away', () => {
  it('go by their native names in the native schema', async () => {
    expect(await removedRelationsOf(cell('eicu_crd.patient'))).toEqual(['eicu_crd.apachescore']);
  });

  it('go by their codes too in a transformed one, and those that are left do not', async () => {
    const tables = { 'eicu_crd.patient': 's1.t7', 'eicu_crd.apachescore': 's1.t2' };
    expect(await removedRelationsOf(cell('s1.t7', { tables, referenceSql: undefined }))).toEqual([
      'eicu_crd.apachescore',
      'eicu_crd.patient',
      's1.t2',
    ]);
  });
});
