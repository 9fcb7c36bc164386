import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { readMeasuredExchanges, withGatewayTimes } from '../../agents/gateway-times.js';
import { readTranscript, traceFormatNamed, traceFormatOf, traceFormats } from '../../agents/trace-formats.js';
import { transcriptHtml } from '../../agents/transcript-html.js';
import { transcriptText } from '../../agents/transcript-text.js';
import { M4BenchError } from '../../support/errors.js';
import { writeFileAtomic } from '../../support/files.js';
import { contextOf } from '../context.js';

/** `m4bench transcript FILE`: any CLI's trace as one readable transcript. */
export function transcriptCommand(): Command {
  return new Command('transcript')
    .description("an agent's trace as one readable transcript")
    .argument('<file>', 'trace.jsonl, or the folder of an attempt')
    .option('--html [file]', 'write a page that needs nothing else; default: beside the trace')
    .option('--format <name>', `${traceFormats.join(', ')}; default: told by the trace itself`)
    .addHelpText(
      'after',
      '\nThe gateway log beside the trace, if there is one, adds times and tokens of each turn.\n\nExample:\n  m4bench transcript .m4bench/campaigns/adhoc/runs/RUN/attempts/1 --html',
    )
    .action(async (file: string, options: { html?: string | true; format?: string }, command: Command) => {
      const context = contextOf(command);
      const tracePath = await traceAt(file);
      const format =
        options.format === undefined ? await traceFormatOf(tracePath) : traceFormatNamed(options.format);
      const transcript = withGatewayTimes(
        await readTranscript(format, tracePath),
        await readMeasuredExchanges(join(dirname(tracePath), 'gateway.jsonl')),
      );
      context.json(transcript);
      if (options.html === undefined) {
        context.say(transcriptText(transcript));
        return;
      }
      const page =
        options.html === true ? `${tracePath.replace(/\.(jsonl|json|txt|log)$/, '')}.html` : options.html;
      await writeFileAtomic(page, transcriptHtml(transcript, { title: tracePath }));
      context.say(`Wrote ${page} (${transcript.turns.length} turns, format ${format}).`);
    });
}

/** The trace at a path, which may be that of an attempt's folder. */
async function traceAt(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  const file = found?.isDirectory() ? join(path, 'trace.jsonl') : path;
  if (found?.isFile() || (await stat(file).catch(() => undefined))?.isFile()) return file;
  throw new M4BenchError(
    'TRACE_NOT_FOUND',
    `There is no trace at ${file}.`,
    'Name a trace.jsonl, or the folder of an attempt (runs/<run-id>/attempts/<n>).',
  );
}
