import { z } from 'zod';

/** Fields of trace events: what is missing or of another type reads as undefined (or 0), never as an error. */
export const textField = z.string().optional().catch(undefined);

export const countField = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).catch(0);

export const flagField = z.boolean().optional().catch(undefined);

/** A finite number, such as a duration. */
export const numberField = z.number().optional().catch(undefined);

/** Milliseconds since 1970, from a number or from an ISO 8601 text. */
export const timeField = z
  .union([z.number(), z.string().transform((text) => Date.parse(text))])
  .transform((time) => (Number.isFinite(time) ? time : undefined))
  .optional()
  .catch(undefined);

export const anyObjectField = z.record(z.string(), z.unknown()).optional().catch(undefined);

/** An object of these fields, or undefined. */
export function objectField<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).optional().catch(undefined);
}

/** A list whose members may each be damaged; those that are no objects are left out. */
export function listField<Shape extends z.ZodRawShape>(shape: Shape) {
  const member = z.object(shape).optional().catch(undefined);
  return z
    .array(member)
    .transform((members) => members.filter((one) => one !== undefined))
    .catch([]);
}

/** Names of a list of texts; other members are left out. */
export const namesField = z
  .array(z.string().optional().catch(undefined))
  .transform((names) => names.filter((name) => name !== undefined))
  .catch([]);

/** The text of a result that is a string or a list of content parts (`{ type: 'text', text }`). */
export const contentTextField = z
  .union([
    z.string(),
    z
      .array(
        z
          .object({ text: z.string() })
          .transform(({ text }) => text)
          .catch(''),
      )
      .transform((parts) => parts.filter((part) => part !== '').join('\n')),
  ])
  .optional()
  .catch(undefined);

/** The `command` of a shell tool's arguments, and the arguments beside it. */
export function shellInput(input: Readonly<Record<string, unknown>> | undefined): {
  readonly command: string | undefined;
  readonly input: unknown;
} {
  if (typeof input?.command !== 'string') return { command: undefined, input };
  const { command, ...rest } = input;
  return { command, input: Object.keys(rest).length === 0 ? undefined : rest };
}
