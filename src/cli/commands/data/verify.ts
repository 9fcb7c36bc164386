import { Command } from 'commander';
import { printWithThousands, toText } from '../../../analysis/tables.js';
import { openDataset } from '../../../datasets/dataset.js';
import { type VerifiedTable, verifyDataset } from '../../../datasets/verify.js';
import { contextOf } from '../../context.js';

/** `m4bench data verify`. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('hold the files of a dataset against its manifest and what its release publishes')
    .argument('<name>', 'a dataset under the home folder')
    .action(async (name: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const dataset = await openDataset(context.home, name);
      const verification = await verifyDataset(dataset, { progress: context.progress });
      context.say(
        toText({
          columns: ['table', 'rows', 'published rows', 'published file', 'state'],
          print: printWithThousands(
            ['table', 'rows', 'published rows', 'published file', 'state'],
            ['rows', 'published rows'],
          ),
          rows: verification.tables.map((table) => ({
            table: `${table.schema}.${table.table}`,
            rows: table.rows,
            'published rows': table.publishedRows,
            'published file': sourceText(table),
            state: table.faults.join('; ') || 'sound',
          })),
        }),
      );
      for (const fault of verification.faults) context.say(fault);
      for (const reason of verification.accepted) context.say(`accepted at import: ${reason}`);
      context.say(
        `${name}: ${verification.isSound ? 'sound' : 'NOT SOUND'}${dataset.verified ? '' : ', UNVERIFIED against its release'}`,
      );
      context.json(verification);
      if (!verification.isSound) process.exitCode = 1;
    });
}

function sourceText({ hasPublishedSource }: VerifiedTable): string {
  if (hasPublishedSource === null) return '-';
  return hasPublishedSource ? 'yes' : 'no';
}
