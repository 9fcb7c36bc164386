import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvCell } from '../../sandbox-tools/duckdb-shell/formats.mjs';
import { statementsOf } from '../../sandbox-tools/duckdb-shell/statements.mjs';
import { toolsFolder } from './tools.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-shell-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the `duckdb` shell in the test's folder. */
function duckdb(words: readonly string[], input = ''): Said {
  const { status, stdout, stderr } = spawnSync(join(toolsFolder(), 'bin', 'duckdb'), words, {
    cwd: folder,
    input,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  return { status, stdout, stderr };
}

describe('the duckdb shell', () => {
  it('runs SQL from arguments, from -c, from -f and from standard input', () => {
    expect(duckdb([':memory:', 'select 1 as a', '-csv']).stdout).toBe('a\n1\n');
    expect(duckdb(['-csv', '-c', 'select 1 as a; select 2 as b', '-c', 'select 3 as c']).stdout).toBe(
      'a\n1\nb\n2\nc\n3\n',
    );
    writeFileSync(join(folder, 'query.sql'), 'select 4 as d;\n');
    expect(duckdb(['-csv', '-f', 'query.sql']).stdout).toBe('d\n4\n');
    expect(duckdb(['-csv'], '.read query.sql\nselect\n 5 as e\n;').stdout).toBe('d\n4\ne\n5\n');
    expect(duckdb(['-csv', '-init', 'query.sql', '-c', 'select 6 as f']).stdout).toBe('d\n4\nf\n6\n');
  });

  it('writes CSV as RFC 4180 has it, NULL and the empty string told apart', () => {
    const sql = `select 'a,b' as "x,y", 'say "hi"' as q, 'two\nlines' as l, null as n, '' as e, ' pad ' as p`;
    expect(duckdb(['-csv', '-c', sql]).stdout).toBe(
      '"x,y",q,l,n,e,p\n"a,b","say ""hi""","two\nlines",,""," pad "\n',
    );
    expect(
      duckdb(['-csv', '-noheader', '-nullvalue', 'NA', '-separator', ';', '-c', `select 'a;b', null, 'a,b'`])
        .stdout,
    ).toBe('"a;b";NA;a,b\n');
  });

  it('writes values as the engine writes them', () => {
    const values = [
      '1.0::double',
      '0.1::float',
      '1e20::double',
      '1.50::decimal(5,2)',
      '9007199254740993::bigint',
      `timestamp '2150-01-02 03:04:05'`,
      `date '2150-01-02'`,
      'true',
      '[1, 2]',
      `{'a': 1}`,
      `'nan'::double`,
      'interval 90 minute',
    ];
    const viaShell = duckdb([
      '-list',
      '-noheader',
      '-separator',
      '\\n',
      '-c',
      `select ${values.join(', ')}`,
    ]).stdout;
    const viaEngine = duckdb([
      '-list',
      '-noheader',
      '-c',
      values.map((value) => `select cast(${value} as varchar)`).join(';'),
    ]).stdout;
    expect(viaShell).toBe(viaEngine);
    expect(viaShell.split('\n').slice(0, 5)).toEqual(['1.0', '0.1', '1e+20', '1.50', '9007199254740993']);
  });

  it('writes JSON that parses, numbers as numbers', () => {
    const sql = `select 1 as a, 1.5 as b, null as c, 'x"y' as d, [1, null] as e, date '2150-01-02' as f union all select 2, null, 'z', '', [], null order by a`;
    const rows = [
      { a: 1, b: 1.5, c: null, d: 'x"y', e: [1, null], f: '2150-01-02' },
      { a: 2, b: null, c: 'z', d: '', e: [], f: null },
    ];
    expect(JSON.parse(duckdb(['-json', '-c', sql]).stdout)).toEqual(rows);
    const lines = duckdb(['-jsonlines', '-c', sql]).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    expect(duckdb(['-json', '-c', 'select 1 as a where false']).stdout).toBe('[]\n');
  });

  it('draws boxes and tables', () => {
    const sql = `select 1 as n, 'é' as word union all select 20, null order by n`;
    expect(duckdb(['-c', sql]).stdout).toBe(
      [
        '┌───────┬─────────┐',
        '│   n   │  word   │',
        '│ int32 │ varchar │',
        '├───────┼─────────┤',
        '│     1 │ é       │',
        '│    20 │ NULL    │',
        '└───────┴─────────┘',
        '',
      ].join('\n'),
    );
    expect(duckdb(['-markdown', '-c', sql]).stdout).toBe(
      [
        '|  n  | word |'.replace('|  n  ', '| n   '),
        '|----:|------|',
        '|   1 | é    |',
        '|  20 |      |',
        '',
      ].join('\n'),
    );
    expect(duckdb(['-line', '-c', 'select 1 as a, 2 as long']).stdout).toBe('   a = 1\nlong = 2\n');
  });

  it('shows first and last rows of a long result, and says how many there are', () => {
    const { stdout } = duckdb(['-c', 'select range as n from range(100000)']);
    expect(stdout).toContain('│ 99999 │');
    expect(stdout).toContain('100000 rows (40 shown)');
    expect(stdout.split('\n').length).toBeLessThan(60);
  });

  it('tells errors on standard error, with status 1, and goes on only where a script would', () => {
    const once = duckdb(['-c', 'select * from nowhere; select 2']);
    expect(once).toMatchObject({ status: 1, stdout: '' });
    expect(once.stderr).toContain('Table with name nowhere does not exist');
    const script = duckdb(['-csv'], 'select * from nowhere;\nselect 2 as b;\n');
    expect(script).toMatchObject({ status: 1, stdout: 'b\n2\n' });
    expect(duckdb(['-csv', '-bail'], 'select * from nowhere;\nselect 2 as b;\n').stdout).toBe('');
    expect(duckdb(['-nonsense'])).toMatchObject({ status: 2, stdout: '' });
    expect(duckdb([], '.nonsense\n').stderr).toContain('unknown command');
  });

  it('keeps a database file, and keeps its hands off a read-only one', () => {
    expect(duckdb(['kept.duckdb', 'create table t as select 7 as a'])).toMatchObject({
      status: 0,
      stdout: '',
    });
    expect(duckdb(['-readonly', 'kept.duckdb', '-csv', '-c', 'from t']).stdout).toBe('a\n7\n');
    expect(duckdb(['-readonly', 'kept.duckdb', '-c', 'drop table t']).status).toBe(1);
  });

  it('knows the dot commands', () => {
    const said = duckdb(
      ['dots.duckdb'],
      [
        'create table vitals (a int); create view recent as from vitals;',
        '.tables',
        '.schema vitals',
        '.mode csv',
        '.headers off',
        '.nullvalue NA',
        '.separator "\\t"',
        'select null, 1;',
        '.once once.csv',
        "select 'once';",
        '.output all.csv',
        "select 'one';",
        "select 'two';",
        '.output',
        '.print done here',
        '.quit',
        'select never;',
      ].join('\n'),
    );
    expect(said).toMatchObject({ status: 0, stderr: '' });
    expect(said.stdout).toBe('recent\nvitals\nCREATE TABLE vitals(a INTEGER);\nNA\t1\ndone here\n');
    expect(readFileSync(join(folder, 'once.csv'), 'utf8')).toBe('once\n');
    expect(readFileSync(join(folder, 'all.csv'), 'utf8')).toBe('one\ntwo\n');
    expect(duckdb([], '.exit 3').status).toBe(3);
  });

  it('streams a large result in bounded memory', () => {
    const heap = ['--max-old-space-size=64', join(toolsFolder(), 'bin', 'duckdb')];
    const { status, stdout } = spawnSync(
      process.execPath,
      [...heap, '-csv', '-noheader', '-c', 'select range, repeat(md5(range::varchar), 4) from range(300000)'],
      { encoding: 'utf8', maxBuffer: 1e8 },
    );
    expect(status).toBe(0);
    expect(stdout.length).toBeGreaterThan(40e6);
    expect(stdout.endsWith('\n')).toBe(true);
  });

  it('ends quietly when its reader has enough', () => {
    const shell = join(toolsFolder(), 'bin', 'duckdb');
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', `"$0" -csv -c 'from range(1000000)' | head -n 2`, shell],
      {
        encoding: 'utf8',
      },
    );
    expect([stdout, stderr]).toEqual(['range\n0\n', '']);
  });

  it('runs statements that come apart into several, and those that return nothing', () => {
    const pivot = `pivot (select 'a' as k, 1 as v union all select 'b', 2) on k using sum(v)`;
    expect(duckdb(['-csv', '-c', pivot]).stdout).toBe('a,b\n1,2\n');
    const said = duckdb([
      '-csv',
      '-c',
      'begin; create table t (a int); insert into t values (1), (2); commit; update t set a = 3; select count(*) as n from t where a = 3',
    ]);
    expect(said).toMatchObject({ status: 0, stdout: 'n\n2\n' });
    expect(duckdb(['-csv', '-c', `copy (select 1 as a) to 'copied.csv'`])).toMatchObject({
      status: 0,
      stdout: '',
    });
    expect(existsSync(join(folder, 'copied.csv'))).toBe(true);
    expect(duckdb(['-c', 'install spatial']).status).toBe(1);
  });
});

describe('cutting text into statements', () => {
  const sqlOf = (text: string): readonly string[] =>
    [...statementsOf(text)].map((item: { sql?: string; dot?: string }) =>
      (item.sql ?? item.dot ?? '').trim(),
    );

  it('ends a statement at a semicolon outside strings, names and comments only', () => {
    expect(sqlOf(`select ';', "a;b", e'\\';', $$;$$, $x$ $$;$x$ -- ;\n/* ; /* ; */ ; */ ; select 2`)).toEqual(
      [`select ';', "a;b", e'\\';', $$;$$, $x$ $$;$x$ -- ;\n/* ; /* ; */ ; */ ;`, 'select 2'],
    );
    expect(sqlOf(`select 'it''s;'; select 'line'';`)).toEqual([`select 'it''s;';`, `select 'line'';`]);
    expect(sqlOf('-- nothing\n;;  /* at all */ ;\n')).toEqual([]);
  });

  it('takes a dot command only where a statement could begin', () => {
    expect(sqlOf('.mode csv\nselect 1,\n.5;\n.quit')).toEqual(['.mode csv', 'select 1,\n.5;', '.quit']);
  });

  it('loses nothing, however the statements look', () => {
    const piece = fc.constantFrom(
      `'a;b'`,
      `"q;"`,
      '--c;\n',
      '/*;*/',
      '$$;$$',
      'select',
      '1',
      ' ',
      '\n',
      `''`,
      `e'\\';'`,
    );
    const statement = fc.array(piece, { minLength: 1 }).map((pieces) => `x ${pieces.join(' ')} y`);
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 5 }), (statements) => {
        expect(sqlOf(statements.join(';'))).toEqual(
          statements.map((text, at) => (at < statements.length - 1 ? `${text};` : text)),
        );
      }),
    );
  });

  it('quotes fields so that they can be read back', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const cell = csvCell(text, ',') as string;
        const back = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(back).toBe(text);
        if (!cell.startsWith('"')) expect(cell).not.toMatch(/[",\r\n]/);
      }),
    );
  });
});
