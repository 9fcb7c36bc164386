/**
 * The pages in reading order: group, and pages by path below `docs/`. A page that does not exist is left out, one
 * that is not listed goes to the end.
 * @type {readonly (readonly [string, readonly (readonly [string, string])[]])[]}
 */
export const navigation = [
  [
    'Start',
    [
      ['index', 'What it is'],
      ['start', 'Five minutes'],
      ['credentials', 'With credentials'],
      ['data', 'Data'],
    ],
  ],
  [
    'The benchmark',
    [
      ['tasks', 'Tasks and conditions'],
      ['generated/families', 'Task families'],
      ['schemas', 'Schemas'],
      ['scoring', 'Scoring'],
      ['isolation', 'Isolation and its limits'],
    ],
  ],
  [
    'Running it',
    [
      ['agents', 'Agents'],
      ['campaigns', 'Campaigns'],
      ['statistics', 'Statistics'],
      ['report', 'Report and viewer'],
      ['evidence', 'Evidence'],
    ],
  ],
  [
    'Your own',
    [
      ['own-tasks', 'Tasks and data'],
      ['api', 'TypeScript API'],
      ['generated/api/README', 'API reference'],
    ],
  ],
  [
    'Reference',
    [
      ['generated/commands', 'Commands'],
      ['generated/errors', 'Troubleshooting'],
      ['generated/architecture', 'Architecture'],
      ['comparison', 'Other benchmarks'],
      ['cite', 'How to cite'],
      ['generated/changelog', 'Changes'],
    ],
  ],
];
