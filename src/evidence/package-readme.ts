import type { PackageManifest, SanitisationReport } from './package-manifest.js';

/** `README.md` of a package: what it is, what is not in it, and how to check it. No times, so that bytes repeat. */
export function packageReadme(about: {
  readonly campaign: string;
  readonly mode: PackageManifest['mode'];
  readonly runs: PackageManifest['runs'];
  readonly report: SanitisationReport;
}): string {
  const { campaign, mode, runs, report } = about;
  const isPublic = mode === 'public';
  return `# Evidence of campaign ${campaign}

Made by m4bench. ${runs.packaged} runs${runs.planned === null ? '' : ` of ${runs.planned} planned`}; ${runs.missing.length} are missing and listed in manifest.json.

| path | what it is |
| --- | --- |
| manifest.sha256, manifest.json | every file with size and SHA-256 |
| campaign.json | the frozen plan |
| journal.jsonl | chain of hashes over every result, in the order in which they were made |
| lineage.jsonl | per run: what it was asked with, and what became of each of its files, by the hashes of the originals |
| sanitisation.json | every rule and how often it hit |
| tables/ | attempts and rewards, made of the records below and of nothing else |
| runs/ | result.json of every run, and per attempt: record, instruction, context, transcript, evaluation, logs |

## What is not in it

Source data (MIMIC-IV, eICU) and databases made of them are in no package. ${
    isPublic
      ? 'Outputs with one row per patient or stay and everything that tools gave back are withheld; lineage.jsonl has their size and SHA-256, so that whoever has the originals can compare them.'
      : 'This package is for private exchange between people who may see the data: identifiers are pseudonyms under a secret salt, times in outputs are hours since the first time of the same patient or stay. Do not publish it.'
  }
Datasets that the runs read: ${report.datasets.map(({ name, class: kind }) => `${name} (${kind})`).join(', ')}.

## How to check it

\`m4bench evidence verify FILE.tar.zst\`, with \`--home\` where the datasets are, looks at every byte, works out every score again from its counts, and looks for identifiers and dates of the datasets.
`;
}
