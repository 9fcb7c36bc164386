import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvNormalForm } from './csv-records.js';
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
});

describe('the normal form', () => {
  /** The bytes written for pieces of a file, and what is known of its records. */
  const normalForm = (
    pieces: readonly string[],
    wanted: readonly string[] = ['a', 'b'],
    bounds: Partial<typeof limits> = {},
  ) => {
    const form = new CsvNormalForm(new Set(wanted), { ...limits, ...bounds });
    const parts = pieces.flatMap((piece) => form.write(Buffer.from(piece)));
    const { rest, records } = form.end();
    return { text: Buffer.concat([...parts, ...rest]).toString('utf8'), records };
  };
  const textOf = (content: string, wanted?: readonly string[]) => normalForm([content], wanted).text;

  it('has a line for the header, an empty first column and escapes for what separates', () => {
    expect(textOf('a,b\n"1,x","2\r\ny"\n\\,\n')).toBe('normal\n,1\\3x,2\\2\\1y\n,\\0,\n');
    expect(textOf('a,b\n')).toBe('normal\n');
  });

  it('keeps the wanted columns only, quoted or not, in the first record and later ones', () => {
    const file = 'x,a,y,b\n"p,""q\n",1,"\\",2\nno,3," ""z""",4\n  yes,5,plain,6\n';
    expect(textOf(file)).toBe('normal\n,1,2\n,3,4\n,5,6\n');
    expect(normalForm([file]).records).toEqual({
      header: ['x', 'a', 'y', 'b'],
      kept: [1, 3],
      records: 3,
      hasEscapes: false,
    });
    expect(textOf(file, ['none of them'])).toBe('normal\n\n\n\n');
  });

  it('pads short records in wanted columns only', () => {
    expect(textOf('a,x,b,y\n1\n2,3\n4,5,6\n7,\n')).toBe('normal\n,1,\n,2,\n,4,6\n,7,\n');
    // The first of three fields is dropped everywhere, so a record of one field has none that is kept.
    expect(textOf('a,b\n0,1,2\n9\n8,3\n')).toBe('normal\n,1,2\n,,\n,3,\n');
  });

  it.each([
    ['in the first record', 'a,b\n"1,0",2\n3,4\n', true],
    ['in a later record', 'a,b\n1,2\n3,\\\n', true],
    ['in both', 'a,b\n\\,2\n3,\\\n5,6\n', true],
    ['in the header only', '"x,\\",a,b\n0,1,2\n', false],
    ['in no field', 'a,b\n"1",2\n3,4\n', false],
  ])('tells of escapes %s', (_name, content, hasEscapes) => {
    expect(normalForm([content]).records.hasEscapes).toBe(hasEscapes);
  });

  it('gives header names back as they were', () => {
    const { header } = normalForm(['"x\ny","p,q","r\rs",t\\0,"\\"\n1,2,3,4,5\n']).records;
    expect(header).toEqual(['x\ny', 'p,q', 'r\rs', 't\\0', '\\']);
  });

  it('skips blank lines of every line end and keeps blanks that begin a record', () => {
    expect(textOf('a,b\r\r1,2\r \r\n\r\n\t\n 3,4\n  5,6\r\n')).toBe('normal\n,1,2\n, 3,4\n,  5,6\n');
    expect(textOf(' a,b\n 1,2\n', ['b'])).toBe('normal\n,2\n');
  });

  it('counts an empty field after the last comma of the file', () => {
    expect(textOf('a,b\n1,2\n3,')).toBe('normal\n,1,2\n,3,\n');
    expect(textOf('a,b\n1,2\n3,4\r')).toBe('normal\n,1,2\n,3,4\n');
    expect(textOf('a,b\n1,2\n3,"4"')).toBe('normal\n,1,2\n,3,4\n');
  });

  it('leaves piece by piece', () => {
    const form = new CsvNormalForm(new Set(['a']), { headerBytes: 8, recordBytes: 100 });
    expect(form.write(Buffer.from('a,b\n'))).toEqual([]);
    expect(Buffer.concat([...form.write(Buffer.from('1,2\n3'))]).toString()).toBe('normal\n,1\n,3');
    expect(Buffer.concat([...form.write(Buffer.from('4,0123456789\n'))]).toString()).toBe('4\n');
    expect(form.write(Buffer.from(''))).toEqual([]);
    expect(form.end()).toMatchObject({ rest: [], records: { records: 2 } });
  });

  it.each([
    ['in one piece', 1 << 20],
    ['in pieces of 1000 bytes', 1000],
  ])('holds long headers, first records, records and blanks, %s', (_name, pieceBytes) => {
    const long = 'x'.repeat(90_000);
    const [odd, blanks] = ['\\'.repeat(90_000), ' '.repeat(90_000)];
    const content = `${long},a,${odd}\n${long},${odd},1\n2,${odd},${long}\n3,${long}\n${blanks}4,,"${odd}"\n`;
    const { header, rows } = read(content, [long, 'a', odd], pieceBytes);
    expect(header).toEqual([long, 'a', odd]);
    expect(rows).toEqual([
      [long, odd, '1'],
      ['2', odd, long],
      ['3', long, null],
      [`${blanks}4`, null, odd],
    ]);
  });

  it('holds a piece whose escapes fill the buffer to the end', () => {
    const { text } = normalForm(['a,b\n1,', '\\'.repeat(32_799), '\n3,4\n']);
    expect(text).toBe(`normal\n,1,${'\\0'.repeat(32_799)}\n,3,4\n`);
  });

  it('holds many padded records', () => {
    const names = Array.from({ length: 300 }, (_unused, i) => `c${i}`);
    const { text } = normalForm([`${names.join(',')}\n${'1\n'.repeat(1000)}`], names);
    expect(text).toBe(`normal\n${`,1${','.repeat(299)}\n`.repeat(1000)}`);
  });

  describe('has limits', () => {
    const reasonOf = (pieces: readonly string[], bounds: Partial<typeof limits>) => {
      try {
        normalForm(pieces, undefined, bounds);
      } catch (thrown) {
        if (thrown instanceof Refusal) return [thrown.kind, thrown.message];
        throw thrown;
      }
      return undefined;
    };
    const tooLarge = (message: string) => ['output-too-large', message];

    it('of records, with their separators, over pieces too', () => {
      const bounds = { recordBytes: 10 };
      const message = (record: number) => tooLarge(`Data record ${record} is longer than 10 bytes.`);
      // A comma before each of two fields and the line feed: 3 bytes beside 7 of content.
      expect(reasonOf(['a,b\n12345,67\n12345,67\n1234567,\n'], bounds)).toBeUndefined();
      expect(reasonOf(['a,b\n12345,678\n'], bounds)).toEqual(message(1));
      expect(reasonOf(['a,b\n12345,67\n1234,67\n12345678\n'], bounds)).toEqual(message(3));
      expect(reasonOf(['a,b\n1,2\n12', '345', ',6', '7\n12345,67\n'], bounds)).toBeUndefined();
      expect(reasonOf(['a,b\n1,2\n12', '345', ',6', '78\n'], bounds)).toEqual(message(2));
    });

    it('of blanks that begin a record', () => {
      const bounds = { recordBytes: 10 };
      expect(reasonOf(['a,b\n1,2\n', ' '.repeat(10), '\n3,4\n'], bounds)).toBeUndefined();
      expect(reasonOf(['a,b\n1,2\n', ' \t'.repeat(5), ' \n3,4\n'], bounds)).toEqual(
        tooLarge('Record 2 begins with too many blanks.'),
      );
    });

    it('of the header and the first record while they are not complete', () => {
      const bounds = { headerBytes: 6 };
      // Commas do not count here.
      expect(reasonOf(['a,b,cdef', '\n', '1,2,3456', '\n12345678,,\n'], bounds)).toBeUndefined();
      expect(reasonOf(['a,b,cdefg', '\n'], bounds)).toEqual(tooLarge('The header is longer than 6 bytes.'));
      expect(reasonOf(['a,b\n1,234567', '\n'], bounds)).toEqual(
        tooLarge('The first record is longer than 6 bytes.'),
      );
    });

    it('of two million columns', () => {
      expect(reasonOf([','.repeat(2_000_000)], {})).toBeUndefined();
      expect(reasonOf([','.repeat(2_000_001)], {})).toEqual(
        tooLarge('The header has more than 2000000 fields.'),
      );
    });
  });

  it('tells in which record a quote is left open', () => {
    expect(refusal('a,b\n1,2\n3,4\n5,"6\n7,8\n')).toEqual([
      'output-unreadable',
      'A quoted field that begins in record 3 is never closed.',
    ]);
  });
});
