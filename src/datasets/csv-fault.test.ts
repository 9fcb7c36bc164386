import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvFault, findCsvFault } from './csv-fault.js';
import type { SourceColumn } from './source-schema.js';

const columns: readonly SourceColumn[] = [
  { name: 'stay_id', type: 'BIGINT', nullable: false },
  { name: 'charttime', type: 'TIMESTAMP', nullable: true },
  { name: 'dod', type: 'DATE', nullable: true },
  { name: 'value', type: 'VARCHAR', nullable: true },
];
const header = 'stay_id,charttime,dod,value\n';

async function faultIn(text: string, chunkBytes = 7): Promise<CsvFault | undefined> {
  const bytes = Buffer.from(text);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return findCsvFault(chunks(), columns, ['', 'NA']);
}

describe('the first fault of a CSV file', () => {
  test.each([
    ['1,2150-02-30 10:00:00,,x\n', 2, 'charttime'],
    ['1,2150-02-28 24:00:01,,x\n', 2, 'charttime'],
    ['1,2150-02-28 24:00:00.5,,x\n', 2, 'charttime'],
    ['1,2150-02-28 25:00:00,,x\n', 2, 'charttime'],
    ['1,2150-02-28 10:00:00+02,,x\n', 2, 'charttime'],
    ['1,infinity,,x\n', 2, 'charttime'],
    ['1,,2150-13-01,x\n', 2, 'dod'],
    ['1,,,"a\nb"\n2,,,c\n3,soon,,d\n', 5, 'charttime'],
    ['1,"2150-01-01\n",,x\n', 2, 'charttime'],
  ])('%j holds a value that is none of its type at line %i, column %s', async (body, line, column) => {
    expect(await faultIn(header + body)).toMatchObject({ kind: 'value', line, column });
  });

  test.each([
    ['1,2150-02-28,2150-2-8,x\n'],
    ['1,2150-02-28T10:00:00.123,NA,\n'],
    ['1,2150-02-28 24:00:00,NA,\n'],
    ['1,2150-02-28 24:00:00.0,NA,\n'],
    ['-5,NA,,"a ""b"", c"\n\n'],
    ['7,,,last line without an end'],
    ['9223372036854775807,,,\n'],
  ])('%j holds none', async (body) => {
    expect(await faultIn(header + body)).toBeUndefined();
  });

  test('a row that ends otherwise than the rows before it', async () => {
    expect(await faultIn(`${header}1,,,a\n2,,,b\r\n`)).toMatchObject({ kind: 'newline', line: 3 });
  });

  test('is the same however the bytes arrive', async () => {
    const piece = fc.constantFrom(',', '"', '\n', '\r\n', '1', 'x', 'é', '2150-01-01', '""', 'NA');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        async (pieces, size) => {
          const text = header + pieces.join('');
          expect(await faultIn(text, size)).toEqual(await faultIn(text, 1_000_000));
        },
      ),
      { numRuns: 300 },
    );
  });
});
