import { describe, expect, it } from 'vitest';
import {
  conditionTable,
  evidencePackages,
  licenceTable,
  reviewerTable,
  reviewProvenance,
  taskDetails,
  taskInventory,
  validityCaveats,
} from './inventory-tables.js';
import { factsFor, rowWith } from './run-row.fixture.js';
import { contentOf } from './table-content.fixture.js';
import { databaseLabel, keyGrain } from './task-facts.js';

const facts = [
  ...factsFor(['mimic-sofa', 'eicu-sofa'], (name) => ({
    family: 'sofa',
    familyLabel: 'SOFA',
    mode: name === 'eicu-sofa' ? 'raw' : 'standard',
    database: name === 'eicu-sofa' ? 'eicu' : 'mimic-iv',
  })),
  ...factsFor(['mimic-kdigo'], () => ({
    family: 'kdigo',
    familyLabel: 'AKI',
    mode: 'raw',
    keyColumns: ['stay_id', 'charttime'],
    valueColumns: ['a', 'b'],
    scoredColumns: ['a', 'b', 'c'],
  })),
];

describe('inventory tables, by hand', () => {
  it('table 2: tasks by family, families by their folder', () => {
    expect(contentOf(taskInventory(facts))).toEqual({
      title: 'Tasks by family',
      columns: ['family', 'tasks', 'standard', 'raw', 'databases'],
      rows: [
        ['AKI', 1, 0, 1, 'MIMIC-IV'],
        ['SOFA', 2, 1, 1, 'MIMIC-IV/eICU'],
        ['Total', 3, 1, 2, 'MIMIC-IV/eICU'],
      ],
      printed: [
        ['Family', 'Tasks', 'Standard', 'Raw', 'Databases'],
        ['AKI', '1', '0', '1', 'MIMIC-IV'],
        ['SOFA', '2', '1', '1', 'MIMIC-IV/eICU'],
        ['Total', '3', '1', '2', 'MIMIC-IV/eICU'],
      ],
    });
    expect(taskInventory([])).toBeUndefined();
  });

  it('table 6: grain, columns, and the most reference rows that a run reports', () => {
    const rows = [
      rowWith({ task: 'eicu-sofa', reward: 1, truthRows: 1200 }),
      rowWith({ task: 'eicu-sofa', reward: 1, truthRows: 1234 }),
      rowWith({ task: 'eicu-sofa', reward: 1, truthRows: 900 }),
      rowWith({ task: 'mimic-sofa', reward: null, truthRows: null }),
    ];
    expect(contentOf(taskDetails(facts, rows))).toEqual({
      title: 'Tasks',
      columns: ['task', 'mode', 'database', 'keyGrain', 'valueColumns', 'scoredColumns', 'referenceRows'],
      rows: [
        ['eicu-sofa', 'raw', 'eICU', 'stay', 1, 2, 1234],
        ['mimic-kdigo', 'raw', 'MIMIC-IV', 'stay-window', 2, 3, null],
        ['mimic-sofa', 'standard', 'MIMIC-IV', 'stay', 1, 2, null],
      ],
      printed: [
        ['Task', 'Mode', 'Database', 'Key grain', 'Value columns', 'Scored columns', 'Reference rows'],
        ['eicu-sofa', 'raw', 'eICU', 'stay', '1', '2', '1,234'],
        ['mimic-kdigo', 'raw', 'MIMIC-IV', 'stay-window', '2', '3', 'NA'],
        ['mimic-sofa', 'standard', 'MIMIC-IV', 'stay', '1', '2', 'NA'],
      ],
      notes: ['The reward averages the scored columns, on some tasks more than the value columns.'],
    });
    expect(taskDetails([], rows)).toBeUndefined();
  });

  it('table 7: reviews of published tasks, of others none', () => {
    const reviewed = factsFor(
      ['mimic-sofa', 'eicu-sofa', 'mimic-kdigo', 'mimic-sepsis3', 'own-task'],
      (name) => ({ family: name.split('-')[1]! }),
    );
    expect(contentOf(reviewProvenance(reviewed))).toEqual({
      title: 'Review provenance of the published tasks',
      columns: ['task', 'first', 'second', 'basis'],
      rows: [
        ['eicu-sofa', 'C3', 'C2', 'eICU concept conventions'],
        ['mimic-kdigo', 'C1', 'C4', 'public clinical definitions'],
        ['mimic-sepsis3', 'C2', 'C4', 'Sepsis-3/MIT-LCP conventions'],
        ['mimic-sofa', 'C3', 'C2', 'MIT-LCP concept conventions'],
      ],
      printed: [
        ['Task', 'First review', 'Second review', 'Source basis'],
        ['eicu-sofa', 'C3', 'C2', 'eICU concept conventions'],
        ['mimic-kdigo', 'C1', 'C4', 'public clinical definitions'],
        ['mimic-sepsis3', 'C2', 'C4', 'Sepsis-3/MIT-LCP conventions'],
        ['mimic-sofa', 'C3', 'C2', 'MIT-LCP concept conventions'],
      ],
    });
    expect(reviewProvenance(factsFor(['own-task'], () => ({ family: 'toString' })))).toBeUndefined();
  });

  it('tables 1, 8 and 12: what the benchmark states in words', () => {
    const shape = (table: ReturnType<typeof conditionTable>) => {
      const { title, columns, rows, printed } = contentOf(table)!;
      // Printed as it stands.
      expect(printed!.slice(1)).toEqual(rows);
      return { title, columns, header: printed![0], labels: rows.map((row) => row[0]) };
    };
    expect(shape(conditionTable())).toEqual({
      title: 'Conditions',
      columns: ['condition', 'receives', 'purpose'],
      header: ['Condition', 'The agent receives', 'Purpose'],
      labels: [
        'no-skill',
        'with-skill',
        'with-skill-all',
        'with-skill-decoy',
        'with-skill-rawsql',
        'operational-spec',
      ],
    });
    expect(shape(reviewerTable())).toEqual({
      title: 'Reviewers',
      columns: ['id', 'credentials'],
      header: ['Id', 'Credentials'],
      labels: ['C1', 'C2', 'C3', 'C4'],
    });
    expect(shape(licenceTable())).toEqual({
      title: 'Assets and terms',
      columns: ['asset', 'role', 'terms'],
      header: ['Asset', 'Role', 'Terms'],
      labels: [
        'Code, tasks, evaluator, skills',
        'MIMIC-IV v3.1',
        'eICU-CRD v2.0',
        'MIT-LCP concept conventions',
        'Evidence packages',
      ],
    });
  });

  it('tables 9 and 14: caveats and packages as given', () => {
    expect(contentOf(validityCaveats([{ family: 'sofa', convention: 'kept', caveat: 'costs' }]))).toEqual({
      title: 'Conventions kept, and their caveats',
      columns: ['family', 'convention', 'caveat'],
      rows: [['sofa', 'kept', 'costs']],
      printed: [
        ['Family', 'Convention kept', 'Caveat'],
        ['sofa', 'kept', 'costs'],
      ],
    });
    expect(validityCaveats([])).toBeUndefined();
    const archive = { archive: 'a.tar.zst', contents: 'runs', runs: 3, bytes: 4096, sha256: 'ff' };
    expect(contentOf(evidencePackages([archive]))).toEqual({
      title: 'Evidence packages',
      columns: ['archive', 'contents', 'runs', 'bytes', 'sha256'],
      rows: [['a.tar.zst', 'runs', 3, 4096, 'ff']],
    });
    expect(evidencePackages([])).toBeUndefined();
  });
});

describe('facts of tasks', () => {
  it('the grain is that of the first rule that fits the keys', () => {
    const grains = {
      interval: [['stay_id', 'ventilation_seq'], ['stay_id', 'starttime', 'charttime'], ['endtime']],
      'stay-window': [['stay_id', 'window_start'], ['window_end'], ['charttime', 'ab_id']],
      event: [['ab_id', 'stay_id'], ['suspected_infection_time'], ['sofa_time']],
      stay: [['stay_id', 'hadm_id'], ['patientunitstayid']],
      admission: [['subject_id', 'hadm_id']],
      'subject_id/item': [['subject_id', 'item']],
    };
    for (const [grain, keys] of Object.entries(grains))
      expect(keys.map((columns) => keyGrain(columns))).toEqual(keys.map(() => grain));
  });

  it('databases have names, and an own one keeps its own', () => {
    expect(['mimic-iv', 'eicu', 'omop'].map(databaseLabel)).toEqual(['MIMIC-IV', 'eICU', 'omop']);
  });
});
