import { type Transcript, transcriptSchema } from '../agents/transcript.js';
import { type Json, recordText, sanitisingWalk, walkRecord } from './record-sanitiser.js';
import type { PackageMode, Treatment } from './ruleset.js';
import { addHits, type TextSanitiser } from './text-sanitiser.js';
import { sanitiseTranscript } from './transcript-sanitiser.js';

/** What a text is treated with. */
export interface TreatmentTools {
  readonly sanitiser: TextSanitiser;
  readonly mode: PackageMode;
  /** Counts of rules are added here. */
  readonly hits: Map<string, number>;
  /** Run ids of the campaign. */
  readonly exempt: ReadonlySet<string>;
}

/** A text after its rules; undefined when it is not what it should be, and then nothing of it is published. */
export function treatText(
  text: string,
  treatment: Exclude<Treatment, 'withheld' | 'output'>,
  tools: TreatmentTools,
): string | undefined {
  const { sanitiser, hits } = tools;
  switch (treatment) {
    case 'reviewed':
    case 'text': {
      const done = sanitiser.sanitise(text, treatment === 'reviewed' ? 'reviewed' : 'prose');
      addHits(hits, done.hits);
      return done.text;
    }
    case 'record': {
      const value = parsed(text);
      return value === undefined ? undefined : recordText(walkRecord(value, walkOf(tools)));
    }
    case 'records': {
      const lines = text.split('\n').filter((line) => line !== '');
      const values = lines.map(parsed);
      if (values.some((value) => value === undefined)) return undefined;
      return values.map((value) => `${JSON.stringify(walkRecord(value!, walkOf(tools)))}\n`).join('');
    }
    case 'transcript': {
      const transcript = transcriptSchema.safeParse(parsed(text));
      if (!transcript.success) return undefined;
      return transcriptText(transcript.data, tools);
    }
  }
}

function transcriptText(transcript: Transcript, { sanitiser, mode, hits }: TreatmentTools): string {
  return recordText(sanitiseTranscript(transcript, sanitiser, mode, hits) as unknown as Json);
}

const walkOf = ({ sanitiser, hits, exempt }: TreatmentTools) => sanitisingWalk(sanitiser, hits, exempt);

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
