/**
 * How often each interval holds the true mean: simulated campaigns of 28, 15 and 8 tasks, from three distributions of
 * task deltas and from families of correlated tasks with trial noise. Prints Markdown for docs/statistics.md.
 *
 * Run: npx tsx bench/analysis/coverage.ts [campaigns, default 2000] [resamples, default 2000]
 */
import {
  bcaInterval,
  familyClusterInterval,
  hierarchicalInterval,
  type Interval,
  percentileInterval,
  studentInterval,
  studentisedInterval,
  type TaskTrials,
} from '../../src/analysis/bootstrap.js';
import { normalQuantile } from '../../src/analysis/distributions.js';
import { mean } from '../../src/analysis/moments.js';
import { type RandomStream, randomStream, resampler } from '../../src/analysis/random-stream.js';

const campaigns = Number(process.argv[2] ?? 2000);
const resamples = Number(process.argv[3] ?? 2000);

const uniform = (stream: RandomStream): number => (stream.uint32() + 0.5) / 2 ** 32;
const normal = (stream: RandomStream): number => {
  // Box and Muller 1958.
  const radius = Math.sqrt(-2 * Math.log(uniform(stream)));
  return radius * Math.cos(2 * Math.PI * uniform(stream));
};

/** Distributions of a task's delta, with their true means. */
const shapes: readonly {
  readonly name: string;
  readonly mean: number;
  readonly draw: (stream: RandomStream) => number;
}[] = [
  { name: 'normal, sd 0.14', mean: 0.136, draw: (stream) => 0.136 + 0.14 * normal(stream) },
  // Many small gains, few large ones, as in the published deltas: exponential with mean 0.136.
  { name: 'skewed (exponential)', mean: 0.136, draw: (stream) => -0.136 * Math.log(uniform(stream)) },
  // Three quarters of tasks near zero, one quarter near 0.45.
  {
    name: 'two groups of tasks',
    mean: 0.75 * 0.03 + 0.25 * 0.45,
    draw: (stream) => (uniform(stream) < 0.75 ? 0.03 : 0.45) + 0.04 * normal(stream),
  },
];

const methods: readonly {
  readonly name: string;
  readonly of: (values: readonly number[], seed: number) => Interval;
}[] = (() => {
  // One resampler per simulated campaign: sharing draws between campaigns would tie their intervals together.
  const drawing = () => resampler({ resamples });
  return [
    { name: 'percentile', of: (values, seed) => percentileInterval(values, drawing(), seed)! },
    { name: 'BCa', of: (values, seed) => bcaInterval(values, drawing(), seed)! },
    { name: 'studentised', of: (values, seed) => studentisedInterval(values, drawing(), seed)! },
    { name: 'Student t', of: (values) => studentInterval(values)! },
  ];
})();

const holds = ({ low, high }: Interval, truth: number): boolean => low <= truth && truth <= high;
const percent = (hits: number): string => `${((100 * hits) / campaigns).toFixed(1)} %`;

console.log(
  `${campaigns} campaigns, ${resamples} resamples; the standard error of a coverage of 95 % is ${(100 * Math.sqrt((0.95 * 0.05) / campaigns)).toFixed(1)} points.\n`,
);
console.log(`| task deltas | tasks | ${methods.map(({ name }) => name).join(' | ')} |`);
console.log(`| --- | ---: | ${methods.map(() => '---:').join(' | ')} |`);
for (const shape of shapes) {
  for (const tasks of [28, 15, 8]) {
    const stream = randomStream('modern', tasks);
    const hits = methods.map(() => 0);
    for (let campaign = 0; campaign < campaigns; campaign += 1) {
      const values = Array.from({ length: tasks }, () => shape.draw(stream));
      methods.forEach(({ of }, index) => {
        if (holds(of(values, campaign + 1), shape.mean)) hits[index]! += 1;
      });
    }
    console.log(`| ${shape.name} | ${tasks} | ${hits.map(percent).join(' | ')} |`);
  }
}

/** Tasks in pairs that share half of their variance, five noisy trials per arm. */
function clusteredCampaign(families: number, stream: RandomStream): readonly TaskTrials[] {
  const half = 0.14 * Math.SQRT1_2;
  return Array.from({ length: families }, (_, family) => {
    const shared = half * normal(stream);
    return [0, 1].map((member) => {
      const delta = 0.136 + shared + half * normal(stream);
      const trials = (centre: number): readonly number[] =>
        Array.from({ length: 5 }, () => centre + 0.1 * normal(stream));
      return {
        family: `f${family}`,
        task: `t${family}-${member}`,
        models: [{ baseline: trials(0.6), treatment: trials(0.6 + delta) }],
      };
    });
  }).flat();
}

const clustered = Math.min(campaigns, 1000);
console.log(
  `\nFamilies of two tasks that share half of their variance, five trials per arm; ${clustered} campaigns.\n`,
);
console.log(
  '| families | tasks | percentile over tasks | Student t over tasks | percentile over families | Student t over family means | hierarchical |',
);
console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const families of [14, 8, 4]) {
  const stream = randomStream('modern', 100 + families);
  const hits = [0, 0, 0, 0, 0];
  for (let campaign = 0; campaign < clustered; campaign += 1) {
    const tasks = clusteredCampaign(families, stream);
    const values = tasks.map(({ models }) => mean(models[0]!.treatment) - mean(models[0]!.baseline));
    const clusters = Array.from({ length: families }, (_, family) => ({
      name: `f${family}`,
      values: values.slice(2 * family, 2 * family + 2),
    }));
    const drawing = resampler({ resamples: Math.min(resamples, 500) });
    const seed = campaign + 1;
    [
      percentileInterval(values, drawing, seed)!,
      studentInterval(values)!,
      familyClusterInterval(clusters, drawing, seed)!,
      studentInterval(clusters.map((cluster) => mean(cluster.values)))!,
      hierarchicalInterval(tasks, drawing, seed)!,
    ].forEach((interval, index) => {
      if (holds(interval, 0.136)) hits[index]! += 1;
    });
  }
  console.log(
    `| ${families} | ${2 * families} | ${hits.map((hit) => `${((100 * hit) / clustered).toFixed(1)} %`).join(' | ')} |`,
  );
}

// The quantile that the t interval replaces, for orientation.
console.log(`\nNormal 97.5 % point: ${normalQuantile(0.975).toFixed(3)}.`);
