import { describe, expect, it } from 'vitest';
import { scoredColumnsOf } from './scored-columns.js';

describe('scoredColumnsOf', () => {
  it('adds required columns that are neither keys nor identifiers, in their order (pinned case P6)', () => {
    expect(
      scoredColumnsOf({
        keyColumns: ['stay_id', 'ventilation_seq'],
        valueColumns: ['ventilation_status'],
        requiredColumns: ['stay_id', 'ventilation_seq', 'starttime', 'endtime', 'ventilation_status'],
      }),
    ).toEqual(['ventilation_status', 'starttime', 'endtime']);
  });

  it('never scores identifiers (pinned case P7)', () => {
    expect(
      scoredColumnsOf({
        keyColumns: ['stay_id'],
        valueColumns: ['meld'],
        requiredColumns: ['subject_id', 'hadm_id', 'stay_id', 'meld'],
      }),
    ).toEqual(['meld']);
  });

  it('knows the eICU identifiers', () => {
    expect(
      scoredColumnsOf({
        keyColumns: ['patientunitstayid'],
        valueColumns: ['gcs_min'],
        requiredColumns: [
          'uniquepid',
          'patienthealthsystemstayid',
          'patientunitstayid',
          'gcs_motor',
          'gcs_min',
        ],
      }),
    ).toEqual(['gcs_min', 'gcs_motor']);
  });

  it('takes an explicit list as it stands, first occurrences kept', () => {
    expect(
      scoredColumnsOf({
        keyColumns: ['stay_id'],
        valueColumns: ['sofa'],
        requiredColumns: ['stay_id', 'sofa', 'renal'],
        scoredColumns: ['renal', 'stay_id', 'renal'],
      }),
    ).toEqual(['renal', 'stay_id']);
  });

  it('adds nothing when no required columns are given', () => {
    expect(scoredColumnsOf({ keyColumns: ['stay_id'], valueColumns: ['sofa', 'sofa', 'cns'] })).toEqual([
      'sofa',
      'cns',
    ]);
  });

  it('keeps headline columns even when they are excluded by name, and leaves other excluded names out', () => {
    expect(
      scoredColumnsOf({
        keyColumns: ['stay_id'],
        valueColumns: ['sofa'],
        requiredColumns: ['stay_id', 'sofa', 'note', 'renal'],
        nonScoringColumns: ['note', 'sofa'],
      }),
    ).toEqual(['sofa', 'renal']);
  });
});
