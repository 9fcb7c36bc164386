import { beforeAll, describe, expect, test } from 'vitest';
import { pseudonymOf } from './guard.js';
import { loadRuleset, type Ruleset } from './ruleset.js';
import type { Register, TextContext } from './text-context.js';
import { TextSanitiser } from './text-sanitiser.js';

let ruleset: Ruleset;
beforeAll(async () => {
  ruleset = await loadRuleset();
});

/** One patient and one stay of a dataset whose dates lie in 2110 to 2200. */
const KNOWN = new Map([
  ['10004235', 'MIMIC_SUBJECT'],
  ['31269608', 'MIMIC_STAY'],
]);

function sanitised(text: string, register: Register = 'prose', more: Partial<TextContext> = {}): string {
  return sanitiserOf(more).sanitise(text, register).text;
}

function sanitiserOf(more: Partial<TextContext> = {}): TextSanitiser {
  return new TextSanitiser(ruleset.rules, {
    terms: [],
    folders: [],
    host: undefined,
    years: { from: 2110, to: 2200 },
    databases: [ruleset.identifiers.get('mimic-iv')!],
    prefixOf: (token) => KNOWN.get(token),
    pseudonym: undefined,
    ...more,
  });
}

describe('the rules take out', () => {
  test.each([
    ['a key of OpenAI', 'key sk-proj-abcdefghij0123456789 here', 'key <secret> here'],
    ['a key of Anthropic', 'sk-ant-REDACTED-now', '<secret>'],
    ['a token of GitHub', 'ghp_abcdefghijklmnopqrst1234', '<secret>'],
    ['a header', 'Authorization: Bearer abcdef0123456789', 'Authorization: Bearer <secret>'],
    ['a member of JSON', '{"api_key": "hunter2hunter2"}', '{"api_key": "<secret>"}'],
    ['a password in an address', 'postgres://me:secret99@db/x', 'postgres://<secret>@db/x'],
    ['a private key', 'a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b', 'a <secret> b'],
    ['an e-mail address', 'ask jane.doe@example.org today', 'ask <email> today'],
    ['a home folder', 'in /home/jane/study/x.py, line 3', 'in <path>, line 3'],
    ['a home folder of macOS', 'in "/Users/Jane/x"', 'in "<path>"'],
    ['an address inside', 'ssh 10.1.2.3 and gpu01.lab.internal', 'ssh <host> and <host>'],
    ['an identifier beside its name', "where subject_id = '987654'", "where subject_id = '<id>'"],
    ['a list of them', 'stay_id in (111222, 333444)', 'stay_id in (<id>)'],
    ['a long number', 'at 1700000000 s', 'at <number> s'],
  ])('%s', (_what, text, expected) => {
    expect(sanitised(text, 'code')).toBe(expected);
  });

  test('words and folders that are given, as whole words and whole parts of paths only', () => {
    const more = { terms: ['Jane Doe', 'Mercy'], folders: ['/srv/m4', '/root'], host: 'gpu-box' };
    expect(sanitised('JANE DOE of Mercy, not Mercyful', 'prose', more)).toBe(
      '<term> of <term>, not Mercyful',
    );
    expect(sanitised('/srv/m4/x and /srv/m4b and /root/y, chroot/z', 'prose', more)).toBe(
      '<folder>/x and /srv/m4b and <folder>/y, chroot/z',
    );
    expect(sanitised('on gpu-box, not gpu-box2', 'prose', more)).toBe('on <host>, not gpu-box2');
  });

  test('identifiers as pseudonyms where there is a secret: the same for the same value, and as published', () => {
    const salt = Buffer.from('0123456789abcdef');
    const pseudonym = (prefix: string, value: string) => pseudonymOf(salt, prefix, value);
    const text = sanitised('patient 10004235, again 10,004,235', 'prose', { pseudonym });
    const [first, second] = text.match(/MIMIC_SUBJECT_[0-9A-F]{16}/g)!;
    expect(first).toBe(pseudonymOf(salt, 'MIMIC_SUBJECT', '10004235'));
    expect(second).toBe(first);
    // HMAC-SHA256 with key "0123456789abcdef" of "MIMIC_SUBJECT:10004235", by `openssl dgst -sha256 -hmac`.
    expect(first).toBe('MIMIC_SUBJECT_CDA1AB0B770ADDD0');
  });
});

describe('the rules leave', () => {
  test.each([
    [
      'SQL with the names of identifier columns',
      'select stay_id, uo_tm_6hr from t join s on t.stay_id = s.stay_id',
    ],
    ['items by their numbers', 'where itemid in (220045, 220050, 50912, 51300)'],
    [
      'items by their numbers, line by line',
      Array.from({ length: 40 }, (_, n) => `  ${220045 + n}, ${50900 + n},`).join('\n'),
    ],
    [
      'thresholds of a score',
      'case when hr < 40 then 11 when hr < 70 then 2 when hr < 120 then 0 else 7 end',
    ],
    ['a round number', 'limit 1000000'],
    ['times of the run itself', 'started 2026-11-30T07:09:13.928Z'],
    ['a hash', '3f2c1e9a4b5d6c7e8f90a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c'],
    ['a path of the sandbox', 'duckdb /work/database.duckdb < /work/query.sql'],
    ['a score in words', 'The reward would be 0.9375 on 140 stays.'],
    ['code with a long name', 'from mimiciv_derived.first_day_vitalsign_with_a_very_long_name_indeed'],
  ])('%s', (_what, text) => {
    expect(sanitised(text, 'code')).toBe(text);
  });

  test('tables of thresholds in texts of the benchmark, but not with an identifier in them', () => {
    const table =
      '| from | to | points |\n| --- | --- | --- |\n| 0 | 39 | 11 |\n| 40 | 69 | 2 |\n| 70 | 119 | 0 |';
    expect(sanitised(table, 'reviewed')).toBe(table);
    expect(sanitised(table, 'prose')).toContain('<table of 3 rows, 3 columns>');
    expect(
      sanitised(`${table}\n| 10004235 | 31269608 | 4 |\n| 31269608 | 10004235 | 5 |`, 'reviewed'),
    ).toContain('<table of 5 rows');
  });
});

test('a text that went through the rules goes through them unchanged', () => {
  const texts = [
    'patient 10004235 came 2150-01-02 03:04:05 with key sk-abcdefghij0123456789 to jane@example.org',
    'a,b,c\n1,2,3\n4,5,6\n7,8,9',
    'in /home/jane/x at 10.1.2.3, subject_id=55555, and MTAwMDQyMzU= or 1700000000',
  ];
  for (const text of texts) {
    const once = sanitised(text);
    expect(sanitised(once)).toBe(once);
    expect(sanitiserOf().forbiddenIn(once, 'prose')).toEqual([]);
    expect(sanitiserOf().forbiddenIn(text, 'prose')).not.toEqual([]);
  }
});

/** Listed in docs/evidence.md: what no rule can tell from an innocent text. A test that fails here is good news. */
describe('the rules cannot catch', () => {
  test.each([
    ['digits spelt as words', 'one zero zero zero four two three five'],
    ['digits backwards', 'read 5 3 2 4 0 0 0 1 from the right'],
    ['an identifier as a sum', 'print(10004 * 1000 + 235)'],
    ['an identifier in two sentences', 'It begins with 1000. It goes on with 4235.'],
    ['a cipher', 'Rot13 of the letters b a a a e c d f'],
    ['a single value of one patient', 'The first one had a creatinine of 3.7 at the age of 61.'],
    ['a short table without identifiers', 'sofa 7, lactate 2.1\nsofa 9, lactate 3.3'],
    ['a year alone', 'He was admitted in 2153.'],
  ])('%s', (_what, text) => {
    expect(sanitised(text)).toBe(text);
  });
});

test('the time that the rules take grows with the text, not faster', () => {
  // Each would take minutes with an expression that backtracks.
  const hostile = [
    'a-'.repeat(50_000),
    'a.'.repeat(50_000),
    '%a'.repeat(50_000),
    '1,'.repeat(50_000),
    '['.repeat(100_000),
    '\\u'.repeat(50_000),
    'A'.repeat(100_000),
    '0x'.repeat(50_000),
    '1 '.repeat(50_000),
  ];
  for (const text of hostile) expect(sanitised(text).length).toBeLessThanOrEqual(text.length);
});
