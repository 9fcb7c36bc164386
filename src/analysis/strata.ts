import { byCodePoint, distinct, groupBy } from './moments.js';
import type { RunRow } from './run-row.js';

/**
 * Runs that may be averaged together: one campaign, agent, effort, way to the model, protocol, version of the benchmark
 * and edition of the data. None of these is ever pooled.
 */
export interface Stratum {
  /** What tells it from the other strata of the analysis; at least the campaign. */
  readonly label: string;
  readonly campaign: string;
  readonly agent: string;
  readonly effort: string;
  /** `key`, at the gateway, or `login`, the CLI's own. */
  readonly auth: 'key' | 'login';
  readonly protocol: string;
  readonly benchmarkVersion: string;
  readonly edition: string;
  readonly rows: readonly RunRow[];
  /** Models, ascending. */
  readonly models: readonly string[];
}

const fields = ['agent', 'effort', 'auth', 'protocol', 'benchmarkVersion', 'edition'] as const;

const fieldOf = (row: RunRow, field: (typeof fields)[number]): string =>
  field === 'auth' ? (row.auth ?? 'key') : row[field];

/** Strata in the order in which their campaigns first appear, then by the fields above. */
export function strataOf(rows: readonly RunRow[]): readonly Stratum[] {
  return [...groupBy(rows, (row) => row.campaign).values()].flatMap((campaignRows) => {
    const varying = fields.filter(
      (field) => distinct(campaignRows.map((row) => fieldOf(row, field))).length > 1,
    );
    const key = (row: RunRow): string => fields.map((field) => fieldOf(row, field)).join('\u0000');
    return [...groupBy(campaignRows, key).entries()]
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([, members]) => {
        const { campaign, agent, effort, protocol, benchmarkVersion, edition } = members[0]!;
        return {
          label: [campaign, ...varying.map((field) => fieldOf(members[0]!, field))].join(' / '),
          campaign,
          agent,
          effort,
          auth: members[0]!.auth ?? 'key',
          protocol,
          benchmarkVersion,
          edition,
          rows: members,
          models: distinct(members.map((row) => row.model)),
        };
      });
  });
}

/** The rows of the two native arms that the headline compares. */
export function nativeArms(rows: readonly RunRow[]): readonly RunRow[] {
  return rows.filter(
    (row) => row.schema === 'native' && (row.condition === 'no-skill' || row.condition === 'with-skill'),
  );
}
