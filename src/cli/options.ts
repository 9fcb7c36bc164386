import { type Command, InvalidArgumentError } from 'commander';

/** An option as it is typed: `--max-tokens` for `maxTokens`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The options that the user wrote, without the defaults of the command. */
export function typedOptions<Options>(command: Command): Partial<Options> {
  return Object.fromEntries(
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) !== 'default'),
  ) as Partial<Options>;
}

/** Parser of a whole number of at least `least`. */
export function wholeNumber(name: string, least = 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`${name} takes a whole number of at least ${least}.`);
    }
    return value;
  };
}

/** Collects a folder option that may be given several times; a comma is part of a name. */
export function collectFolder(text: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), text];
}

/** Collects an option that may be given several times or as a comma-separated list. */
export function collect(text: string, previous: readonly string[] | undefined): readonly string[] {
  return [
    ...(previous ?? []),
    ...text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ];
}
