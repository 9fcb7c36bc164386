/**
 * Time of all tables of one campaign of 760 runs (28 tasks, 2 models, 5 trials, two arms and two controls on 10 tasks)
 * with 20,000 resamples; the campaign is made up, so that the measurement needs no data.
 *
 * Run: npx tsx bench/analysis/speed.ts [repetitions, default 5]
 */
import { analyze } from '../../src/analysis/analyze.js';
import { median } from '../../src/analysis/moments.js';
import { controlTasks, publishedTasks } from '../../src/analysis/published-release.js';
import { randomStream } from '../../src/analysis/random-stream.js';
import { renderPng, renderSvg } from '../../src/analysis/render-figure.js';
import { rowWith } from '../../src/analysis/run-row.fixture.js';
import { runSetOf } from '../../src/analysis/run-set.js';

const repetitions = Number(process.argv[2] ?? 5);
const stream = randomStream('modern', 760);
const uniform = (): number => stream.uint32() / 2 ** 32;
const arms = ['no-skill', 'with-skill', 'with-skill-decoy', 'with-skill-rawsql'] as const;
const rows = publishedTasks.flatMap(({ name: task, scoredColumns }) => {
  const base = 0.3 + 0.4 * uniform();
  return arms
    .filter((condition) => !condition.startsWith('with-skill-') || controlTasks.includes(task))
    .flatMap((condition) =>
      ['gpt-5.4-mini', 'gpt-5.5'].flatMap((model) =>
        [1, 2, 3, 4, 5].map((trial) => {
          const reward = Math.min(1, base + (condition === 'no-skill' ? 0 : 0.14) + 0.1 * uniform());
          const matchRates = Object.fromEntries(scoredColumns.map((column) => [column, reward]));
          return rowWith({ task, condition, model, trial, reward, matchRates });
        }),
      ),
    );
});
if (rows.length !== 760) throw new Error(`${rows.length} runs instead of 760`);
const set = runSetOf(rows, publishedTasks);

for (const rng of ['modern', 'published'] as const) {
  const [wall, cpu]: [number[], number[]] = [[], []];
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const [started, used] = [performance.now(), process.cpuUsage()];
    analyze(set, { rng });
    const { user, system } = process.cpuUsage(used);
    wall.push(performance.now() - started);
    cpu.push((user + system) / 1000);
  }
  const { tables } = analyze(set, { rng });
  console.log(
    `${rng}: ${Object.keys(tables).length} tables of ${rows.length} runs, 20,000 resamples: first ${wall[0]!.toFixed(0)} ms, median ${median(wall).toFixed(0)} ms wall, ${median(cpu).toFixed(0)} ms CPU`,
  );
}
const { figures } = analyze(set);
const started = performance.now();
for (const figure of Object.values(figures)) renderPng(await renderSvg(figure));
console.log(
  `${Object.keys(figures).length} figures as SVG and PNG: ${(performance.now() - started).toFixed(0)} ms`,
);
