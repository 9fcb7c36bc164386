import type { RunRow } from '../../analysis/run-row.js';

interface Strip {
  readonly label: string;
  readonly rewards: readonly number[];
}

const [left, width, top, step] = [230, 420, 8, 30] as const;
const dot = 4;

/** The reward of every run as a dot, a line per arm; equal rewards are stacked. The numbers stand in the table. */
export function RewardStrips({ rows, title }: { readonly rows: readonly RunRow[]; readonly title: string }) {
  const strips = stripsOf(rows);
  if (strips.length === 0) return null;
  const height = top + strips.length * step + 24;
  return (
    <svg
      class="strips"
      viewBox={`0 0 ${left + width + 20} ${height}`}
      role="img"
      aria-label={titleOf(title, strips)}
    >
      {[0, 0.25, 0.5, 0.75, 1].map((reward) => (
        <g key={reward}>
          <line
            class="rule"
            x1={left + reward * width}
            x2={left + reward * width}
            y1={top}
            y2={height - 22}
          />
          <text class="axis" x={left + reward * width} y={height - 6} text-anchor="middle">
            {reward}
          </text>
        </g>
      ))}
      {strips.map(({ label, rewards }, index) => (
        <g key={label}>
          <text class="arm" x={left - 12} y={top + index * step + 19} text-anchor="end">
            {label}
          </text>
          {dotsOf(rewards).map(({ x, level }, which) => (
            <circle
              key={which}
              class={`dot arm${index % 6}`}
              cx={left + x * width}
              cy={top + index * step + 15 - level * 3}
              r={dot}
            />
          ))}
        </g>
      ))}
    </svg>
  );
}

function stripsOf(rows: readonly RunRow[]): readonly Strip[] {
  const arms = new Map<string, number[]>();
  for (const row of rows) {
    if (row.reward === null) continue;
    const label = [row.condition, ...(row.schema === 'native' ? [] : [row.schema]), row.model].join(' · ');
    arms.set(label, [...(arms.get(label) ?? []), row.reward]);
  }
  return [...arms].sort(([a], [b]) => (a < b ? -1 : 1)).map(([label, rewards]) => ({ label, rewards }));
}

/** Rewards that would cover one another are lifted, up to a height. */
function dotsOf(rewards: readonly number[]): readonly { readonly x: number; readonly level: number }[] {
  const levels = new Map<number, number>();
  return [...rewards]
    .sort((a, b) => a - b)
    .map((x) => {
      const place = Math.round((x * width) / dot);
      const level = levels.get(place) ?? 0;
      levels.set(place, level + 1);
      return { x, level: Math.min(level, 4) };
    });
}

function titleOf(title: string, strips: readonly Strip[]): string {
  const arms = strips.map(({ label, rewards }) => {
    const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
    return `${label}: ${rewards.length} runs between ${low.toFixed(3)} and ${high.toFixed(3)}`;
  });
  return `${title}. ${arms.join('; ')}`;
}
