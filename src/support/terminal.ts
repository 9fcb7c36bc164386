/**
 * Text that may come from an agent or a provider, made safe for one line of a terminal or a log: control
 * characters, terminal escapes, bidirectional marks and line separators become `?`.
 */
export function cleanForTerminal(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
