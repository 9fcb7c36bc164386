import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askForTask, type TaskAnswers } from './new-task-questions.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-asked-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function asked(given: Readonly<TaskAnswers>, lines: readonly string[]) {
  const output = new PassThrough();
  const answers = await askForTask(given, {
    input: Readable.from(`${lines.join('\n')}\n`),
    output,
    columnsOf: async (query) => {
      if (query === 'broken') throw new Error('It does not run.');
      return [
        { name: 'stay_id', type: 'BIGINT' },
        { name: 'hours', type: 'DOUBLE' },
      ];
    },
    parseTolerance: (text) => ({ [text.split('=')[0]!]: Number(text.split('=')[1]) }),
  });
  return { answers, said: String(output.read()) };
}

test('asks for what is missing, and again for what cannot be', async () => {
  const [good, bad] = [join(folder, 'hours.sql'), join(folder, 'broken.sql')];
  await writeFile(good, 'select');
  await writeFile(bad, 'broken');
  const { answers, said } = await asked({ grain: 'one row per stay' }, [
    '',
    'Hours',
    join(folder, 'nothing.sql'),
    bad,
    good,
    'stayid',
    'stay_id',
    'Compute it.',
    'days=1',
    'hours=0.05',
    '',
  ]);
  expect(answers).toEqual({
    grain: 'one row per stay',
    title: 'Hours',
    reference: good,
    keys: ['stay_id'],
    describe: 'Compute it.',
    tolerance: { hours: 0.05 },
  });
  for (const words of [
    'An answer is needed.',
    'there is no such file or folder',
    'It does not run.',
    'It returns stay_id BIGINT, hours DOUBLE.',
    'The reference has no column stayid; it has stay_id, hours.',
    'The reference has no column days; it has stay_id, hours.',
  ])
    expect(said).toContain(words);
  expect(said).not.toContain('What one row stands for');
});

test('ends with an error when the answers end', async () => {
  await expect(asked({}, ['Hours'])).rejects.toMatchObject({ code: 'INTERRUPTED' });
});
