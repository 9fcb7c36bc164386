import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The zone of a process is read when it starts, so another zone is another process. */
function textsIn(zone: string): readonly string[] {
  const program = `const { timeText } = await import(${JSON.stringify(fileURLToPath(new URL('time-text.ts', import.meta.url)))});
    console.log(JSON.stringify([timeText('2026-11-30T07:04:38.123Z'), timeText('2026-07-01T23:30:00Z'), timeText('2026-11-30T07:04:38.123Z', 'report'), timeText('soon')]));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      encoding: 'utf8',
      env: { ...process.env, TZ: zone },
    }),
  ) as readonly string[];
}

test('times are in the zone of the machine on local pages, in UTC on published ones', () => {
  expect(textsIn('Asia/Kolkata')).toEqual([
    '2026-11-30 12:34:38 GMT+5:30',
    '2026-07-02 05:00:00 GMT+5:30',
    '2026-11-30 07:04:38 UTC',
    'soon',
  ]);
  expect(textsIn('UTC').slice(0, 3)).toEqual([
    '2026-11-30 07:04:38 UTC',
    '2026-07-01 23:30:00 UTC',
    '2026-11-30 07:04:38 UTC',
  ]);
});
