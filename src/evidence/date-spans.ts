import { apart, type Span, type TextContext } from './text-context.js';

const CLOCK = String.raw`(?:[T _]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:\s?(?:Z|[+-]\d{2}:?\d{2}))?`;
const MONTH = String.raw`(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`;
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th)?`;

/** Spellings of a date; the group `year` is its year. */
const SPELLINGS = [
  String.raw`(?<!\d)(?<year>\d{4})[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)${CLOCK}`,
  String.raw`(?<!\d)(?<year>\d{4})-\d{2}(?![\d])`,
  String.raw`(?<!\d)\d{1,2}[-/.]\d{1,2}[-/.](?<year>\d{4})(?!\d)${CLOCK}`,
  String.raw`(?<!\d)(?<year>\d{4})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[T_ ]?\d{4}(?:\d{2})?)?(?!\d)`,
  String.raw`(?<!\d)(?<year>\d{4})\s*,\s*\d{1,2}\s*,\s*\d{1,2}(?!\d)(?:\s*,\s*\d{1,2}){0,3}`,
  String.raw`(?<!\w)(?:${DAY}\s*(?:of\s+)?[-, ]?\s*)?${MONTH}[-, ]*(?:${DAY}[-, ]+)?(?<year>\d{4})(?!\d)(?:,?\s+\d{1,2}:\d{2}(?::\d{2})?)?`,
  String.raw`(?<!\d)(?<year>\d{4})[-, ]+${MONTH}[-, ]*${DAY}(?!\w)(?:,?\s+\d{1,2}:\d{2}(?::\d{2})?)?`,
].map((spelling) => new RegExp(spelling, 'gi'));

/** Dates and times whose year is one of the dataset's. */
export function dateSpans(text: string, context: TextContext): readonly Span[] {
  const { years } = context;
  if (years === undefined) return [];
  const spans: Span[] = [];
  for (const spelling of SPELLINGS) {
    for (const match of text.matchAll(spelling)) {
      const year = Number(match.groups!.year);
      if (year >= years.from && year <= years.to)
        spans.push({ start: match.index, end: match.index + match[0].length });
    }
  }
  return apart(spans);
}
