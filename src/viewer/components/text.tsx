import { textSegments } from '../visible-text.js';

/** Text that may come from an agent: text nodes only, and whatever could not be seen is shown as a mark. */
export function Text({ value }: { readonly value: string }) {
  return (
    <>
      {textSegments(value).map(({ text, mark }) =>
        mark === undefined ? (
          text
        ) : (
          <span class="unseen" title={mark}>
            {text}
          </span>
        ),
      )}
    </>
  );
}

/** A block of such text as it stands; long lines are broken. */
export function TextBlock({ value }: { readonly value: string }) {
  return (
    <pre>
      <Text value={value} />
    </pre>
  );
}
