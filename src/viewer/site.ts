import { encodeSegment, shortHash } from '../support/ids.js';

/** Where the pages of one campaign are, in the local viewer or in a report's folder. */
export interface Site {
  readonly kind: 'view' | 'report';
  /** Address of a file that all pages share. */
  asset(name: 'viewer.css' | 'viewer.js'): string;
  /** List of campaigns; undefined in a report, which has one. */
  readonly home: string | undefined;
  readonly overview: string;
  readonly runs: string;
  readonly tasks: string;
  readonly tables: string;
  task(name: string): string;
  run(runId: string): string;
  /** Page that takes two runs; undefined in a report. */
  readonly compare: string | undefined;
  /** Below this are an attempt's transcript, log and files; undefined in a report, which holds none of them. */
  attempt(runId: string, n: number): string | undefined;
}

const segment = encodeURIComponent;

/** Addresses in the local viewer. */
export function viewSite(campaign: string): Site {
  const root = `/campaigns/${segment(campaign)}`;
  const run = (runId: string): string => `${root}/runs/${segment(runId)}`;
  return {
    kind: 'view',
    asset: (name) => `/assets/${name}`,
    home: '/',
    overview: root,
    runs: `${root}/runs`,
    tasks: `${root}/tasks`,
    tables: `${root}/tables`,
    task: (name) => `${root}/tasks/${segment(name)}`,
    run,
    compare: `${root}/compare`,
    attempt: (runId, n) => `${run(runId)}/attempts/${n}`,
  };
}

/** Addresses in a report's folder, relative, from a page `depth` folders below its root. */
export function reportSite(depth: 0 | 1): Site {
  const root = depth === 0 ? '' : '../';
  return {
    kind: 'report',
    asset: (name) => `${root}assets/${name}`,
    home: undefined,
    overview: `${root}index.html`,
    runs: `${root}runs.html`,
    tasks: `${root}tasks.html`,
    tables: `${root}tables.html`,
    task: (name) => `${root}tasks/${segment(pageFile(name))}`,
    run: (runId) => `${root}runs/${segment(pageFile(runId))}`,
    compare: undefined,
    attempt: () => undefined,
  };
}

/** Longest file name that every file system takes. */
const longestName = 200;

/** File name of the page of a task or run; a name that is too long for a file is cut and told apart by its hash. */
export function pageFile(name: string): string {
  const safe = encodeSegment(name);
  return `${safe.length <= longestName ? safe : `${safe.slice(0, longestName)}-${shortHash(name)}`}.html`;
}
