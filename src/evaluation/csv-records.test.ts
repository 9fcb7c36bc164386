import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvNormalForm } from './csv-records.js';
import { PlainCsvCheck, Utf8Check } from './csv-structure.js';
import { Refusal } from './refusal.js';

const limits = { headerBytes: 1024 ** 2, recordBytes: 1024 ** 2 };

/** Header and kept cells of a file, read in pieces of a given size; null is the empty field. */
function read(content: string | Uint8Array, wanted: readonly string[] = ['a', 'b'], pieceBytes = 1024) {
  const bytes = Buffer.from(content as string);
  const form = new CsvNormalForm(new Set(wanted), limits);
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    parts.push(...form.write(bytes.subarray(start, start + pieceBytes)));
  }
  const { rest, records } = form.end();
  const lines = Buffer.concat([...parts, ...rest])
    .toString('utf8')
    .split('\n')
    .slice(1, -1);
  const decode = (cell: string) =>
    cell === ''
      ? null
      : cell.replaceAll('\\1', '\n').replaceAll('\\2', '\r').replaceAll('\\3', ',').replaceAll('\\0', '\\');
  const rows = lines.map((line) => line.split(',').slice(1).map(decode));
  expect(rows.length).toBe(records.records);
  return { header: records.header, kept: records.kept, rows };
}

const rowsOf = (content: string | Uint8Array, wanted?: readonly string[]) => read(content, wanted).rows;
const refusal = (content: string | Uint8Array) => {
  try {
    read(content);
  } catch (thrown) {
    if (thrown instanceof Refusal) return [thrown.kind, thrown.message];
    throw thrown;
  }
  return undefined;
};

describe('records', () => {
  it.each([
    ['LF', 'a,b\n1,2\n3,4\n'],
    ['CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['CR', 'a,b\r1,2\r3,4\r'],
    ['all three', 'a,b\r\n1,2\r3,4\n'],
    ['no end at the last one', 'a,b\n1,2\n3,4'],
    ['blank lines and lines of blanks', '\n \na,b\n\n1,2\n \t \n3,4\n\n'],
  ])('end with %s', (_name, content) => {
    expect(read(content)).toMatchObject({
      header: ['a', 'b'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    });
  });

  it('that are short are padded, and a last empty field counts', () => {
    expect(rowsOf('a,b\n1\n3,\n,4\n')).toEqual([
      ['1', null],
      ['3', null],
      [null, '4'],
    ]);
  });

  it('that are longer than the header are refused', () => {
    expect(refusal('a,b\n1,2\n3,4,5\n')).toEqual([
      'output-unreadable',
      'Data record 2 has 3 fields where 2 are expected.',
    ]);
    expect(refusal('a,b\n1,2\n3,4,\n')?.[0]).toBe('output-unreadable');
  });

  it('shift when the first one is longer: its surplus fields are dropped everywhere', () => {
    expect(rowsOf('a,b\n0,1,2\n9,3,4\n')).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(rowsOf('a,b\n1,2,\n3,4,\n5\n')).toEqual([
      ['2', null],
      ['4', null],
      [null, null],
    ]);
    expect(refusal('a,b\n0,1,2\n0,1,2,3\n')?.[0]).toBe('output-unreadable');
  });

  it('of a single column may be a quoted empty field, a blank line is none', () => {
    expect(rowsOf('a\n1\n\n""\n2\n')).toEqual([['1'], [null], ['2']]);
  });
});

describe('fields', () => {
  it('hold commas, quotes and line breaks inside quotes', () => {
    expect(rowsOf('a,b\n"x,""y""\r\nz",\\2\n')).toEqual([['x,"y"\r\nz', '\\2']]);
  });

  it('take quotes in their middle and text after a closing quote as they stand', () => {
    expect(rowsOf('a,b\nx"y","p"q"\n')).toEqual([['x"y"', 'pq"']]);
  });

  it('keep blanks around them', () => {
    expect(rowsOf('a,b\n  1 , 2\n')).toEqual([['  1 ', ' 2']]);
  });

  it('end at their first NUL', () => {
    expect(rowsOf('a,b\n1\u00002,\u00003\n')).toEqual([['1', null]]);
  });
});

describe('headers', () => {
  it('keep names as they stand and the first of repeated ones', () => {
    const { header, kept } = read('a, b,a,"b"\n1,2,3,4\n');
    expect([header, kept]).toEqual([
      ['a', ' b', 'a', 'b'],
      [0, 3],
    ]);
  });

  it('may stand alone', () => {
    expect([read('a,b\n').rows, read('a,b').header]).toEqual([[], ['a', 'b']]);
  });

  it.each(['', '\n\n', '  ', ' \n\t\n'])('must be there: %j', (content) => {
    expect(refusal(content)).toEqual(['output-empty', 'The file is empty: it has no header.']);
  });
});

it('refuses a quote that is never closed', () => {
  expect(refusal('a,b\n1,"2\n3,4\n')?.[0]).toBe('output-unreadable');
  expect(refusal('"a,b\n1,2')?.[0]).toBe('output-unreadable');
});

describe('pieces', () => {
  const alphabet = fc.constantFrom('a', '1', ',', '"', '\n', '\r', ' ', '\\', '\u0000', 'é');
  it('of any size give the same records', () => {
    fc.assert(
      fc.property(
        fc.array(alphabet, { maxLength: 60 }).map((parts) => `a,b\n${parts.join('')}`),
        fc.integer({ min: 1, max: 7 }),
        (content, pieceBytes) => {
          const outcome = (size: number) => {
            try {
              return read(content, ['a', 'b'], size);
            } catch (thrown) {
              if (thrown instanceof Refusal) return thrown.message;
              throw thrown;
            }
          };
          expect(outcome(pieceBytes)).toEqual(outcome(1 << 16));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('split inside a character are still UTF-8, and half a character at the end is not', () => {
    const text = Buffer.from('aé€😀');
    for (let size = 1; size <= text.length; size++) {
      const check = new Utf8Check();
      for (let start = 0; start < text.length; start += size) check.add(text.subarray(start, start + size));
      expect(() => check.end()).not.toThrow();
    }
    const cut = new Utf8Check();
    cut.add(text.subarray(0, text.length - 1));
    expect(() => cut.end()).toThrow(Refusal);
    expect(() => new Utf8Check().add(Buffer.from([0x61, 0xff, 0x62]))).toThrow(Refusal);
  });
});

describe('a plainly written file', () => {
  const isPlain = (content: string) => {
    const check = new PlainCsvCheck();
    check.add(Buffer.from(content));
    return check.end() !== undefined;
  };

  it('has equal commas in every line, line feeds, no quotes and no blank lines', () => {
    expect(isPlain('a,b\n1,2\n3,\n')).toBe(true);
    expect(isPlain('\ufeffa,b\n1,2\n3,4')).toBe(true);
  });

  it.each([
    ['short line', 'a,b\n1\n'],
    ['long line', 'a,b\n1,2,3\n'],
    ['short last line', 'a,b\n1,2\n3'],
    ['quote', 'a,b\n"1",2\n'],
    ['quote in the header', '"a",b\n1,2\n'],
    ['CRLF', 'a,b\r\n1,2\r\n'],
    ['NUL', 'a,b\n1\u0000,2\n'],
    ['blank line', 'a,b\n\n1,2\n'],
    ['a mark inside', 'a,b\n\ufeff1,2\n'],
    ['one column', 'a\n1\n'],
    ['no line feed', 'a,b'],
  ])('is not one with a %s', (_name, content) => {
    expect(isPlain(content)).toBe(false);
  });
});
