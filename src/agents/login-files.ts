import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { M4BenchError, systemCodeOf } from '../support/errors.js';

/** Reads a file of a CLI's login and checks its form. Throws `LOGIN_MISSING` with how to sign in. */
export async function readLoginFile<Shape extends z.ZodType>(
  path: string,
  schema: Shape,
  cli: { readonly title: string; readonly signIn: string },
): Promise<z.infer<Shape>> {
  const missing = (what: string): M4BenchError =>
    new M4BenchError(
      'LOGIN_MISSING',
      `There is no login of ${cli.title} to use: ${what}.`,
      `Sign in with: ${cli.signIn}. Or leave --login away and set an API key.`,
      { party: 'environment' },
    );
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    throw missing(`${path} cannot be read (${systemCodeOf(thrown) ?? 'error'})`);
  }
  const parsed = schema.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  // What stands there is secret, so that only the names of fields are told.
  const fields = parsed.error.issues.map(({ path: at }) => at.join('.') || 'the whole').join(', ');
  throw missing(`${path} is not as expected (${fields.slice(0, 200)})`);
}

/** For an agent without one. */
export function loginNotOffered(agent: string): M4BenchError {
  return new M4BenchError(
    'LOGIN_NOT_OFFERED',
    `The agent ${agent} cannot be used with a subscription login.`,
    'Leave --login away and set an API key.',
  );
}

/** Throws `LOGIN_EXPIRES` when an access token does not last; undefined means that nothing is known. */
export function checkLasts(
  expiresAt: Date | undefined,
  need: { readonly now: Date; readonly seconds: number },
  cli: { readonly title: string; readonly renew: string },
): void {
  if (expiresAt === undefined) return;
  const left = (expiresAt.getTime() - need.now.getTime()) / 1000;
  if (left > need.seconds) return;
  throw new M4BenchError(
    'LOGIN_EXPIRES',
    `The login of ${cli.title} ${left <= 0 ? 'has expired' : `lasts for another ${Math.floor(left / 60)} minutes`}, and a run may take ${Math.ceil(need.seconds / 60)}; it is not renewed inside a sandbox.`,
    `Let the CLI renew it outside, with: ${cli.renew}.`,
    { party: 'environment' },
  );
}

/** When a JSON Web Token ends, by its own word (RFC 7519, `exp`); undefined for anything else. */
export function tokenExpiry(token: string): Date | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  const claims = z
    .object({ exp: z.number() })
    .safeParse(jsonOrNull(Buffer.from(payload, 'base64url').toString('utf8')));
  return claims.success ? new Date(claims.data.exp * 1000) : undefined;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
