import { describe, expect, it } from 'vitest';
import { type GridCell, shownRows } from './grid.js';

const rows: readonly (readonly GridCell[])[] = [
  ['sofa', 'no-skill', ['0.500', 0.5]],
  ['sofa', 'with-skill', ['0.900', 0.9]],
  ['meld', 'no-skill', ['NA', null]],
  ['meld', 'with-skill', ['0.100', 0.1]],
];

describe('rows of a grid', () => {
  it('are those that hold every word, whatever the case and the column', () => {
    expect(shownRows(rows, 'SOFA with', {}, null)).toEqual([1]);
    expect(shownRows(rows, '', {}, null)).toEqual([0, 1, 2, 3]);
    expect(shownRows(rows, 'absent', {}, null)).toEqual([]);
  });

  it('are those with exactly the chosen values', () => {
    expect(shownRows(rows, '', { 1: 'no-skill' }, null)).toEqual([0, 2]);
    expect(shownRows(rows, '', { 0: 'meld', 1: 'no-skill' }, null)).toEqual([2]);
  });

  it('are sorted by the values behind the texts, missing ones last either way', () => {
    expect(shownRows(rows, '', {}, { column: 2, isDescending: true })).toEqual([1, 0, 3, 2]);
    expect(shownRows(rows, '', {}, { column: 2, isDescending: false })).toEqual([3, 0, 1, 2]);
  });

  it('keep their order where values are equal, and sort texts that are numbers as numbers', () => {
    expect(shownRows(rows, '', {}, { column: 0, isDescending: false })).toEqual([2, 3, 0, 1]);
    expect(shownRows([['10'], ['9'], ['b']], '', {}, { column: 0, isDescending: false })).toEqual([1, 0, 2]);
  });
});
