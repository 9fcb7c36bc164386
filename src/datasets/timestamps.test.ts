import { expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { hasReleaseForm } from './timestamps.js';

test('whatever two characters a part of a timestamp has, in the release form the engine drops nothing of it', async () => {
  await using session = await DuckSession.open({ threads: 1 });
  // Each part of 2150-01-02 10:00:00 in turn, replaced by every pair of printable characters.
  const parts = [1, 3, 6, 9, 11, 12, 15, 18];
  const pair = `chr(first.range::int) || chr(second.range::int)`;
  // A character beyond ASCII is more than one byte.
  const wide = ['２', '\u00a0', '−', '＋'].map((mark) => `'2150-01-02 10:00:' || ${literal(mark)} || '2'`);
  expect(
    await session.row(
      `select count(try_cast(text as timestamp))::int as taken from unnest([${wide.join(', ')}]) as t(text)`,
    ),
  ).toEqual({ taken: 0 });
  const texts = parts.map((at) => {
    const text = '2150-01-02 10:00:00';
    const before = literal(text.slice(0, at - 1));
    const after = literal(text.slice(at + 1));
    return `select ${before} || ${pair} || ${after} as text from range(32, 127) as first, range(32, 127) as second`;
  });
  const rows = await session.rows(
    `with texts as (${texts.join(' union ')})
     select text, try_cast(text as timestamp)::varchar as time, ${hasReleaseForm('text')} as fits from texts`,
  );
  // 8 parts of 95 * 95 pairs each, less the seven times that the timestamp itself comes again, and the 94 others that
  // the two parts which share the twelfth character have in common.
  expect(rows).toHaveLength(8 * 95 * 95 - 7 - 94);
  const taken = rows.filter(({ fits, time }) => fits === true && time !== null);
  // The cases that the pattern is for: DuckDB takes them, and drops the zone.
  const refused = rows.filter(({ fits }) => fits === false).map(({ text }) => text);
  expect(refused).toContain('2150-01-02 10:00:0Z');
  for (const { text, time } of taken) {
    // The importer looks at the years by itself.
    if (/^[^1-9]/.test(String(text))) continue;
    // 24 o'clock is the midnight after.
    const asNextDay = String(text).replace('02 24', '03 00');
    expect(time).toBe(asNextDay.replace(/(?<=[- :])(\d)[ T.](?=[- :]|$)|(?<= ) (\d)(?=:)/g, '0$1$2'));
  }
  expect(taken.length).toBeGreaterThan(100);
});
