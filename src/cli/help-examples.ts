import type { Command } from 'commander';

/** Examples of commands whose own file gives none, by their words; each must be a call that the program accepts. */
export const helpExamples: Readonly<Record<string, readonly string[]>> = {
  quickstart: ['m4bench quickstart'],
  'data synthesize': ['m4bench data synthesize mimic-iv --stays 200 --seed 7'],
  'data list': ['m4bench data list', 'm4bench data list --json'],
  'data verify': ['m4bench data verify mimic-iv-demo'],
  'data compare': ['m4bench data compare mimic-iv-synthetic mimic-iv-demo'],
  'concepts build': ['m4bench concepts build', 'm4bench concepts build sofa --dataset mimic-iv-demo'],
  'concepts list': ['m4bench concepts list'],
  'concepts graph': ['m4bench concepts graph'],
  'references build': [
    'm4bench references build --dataset mimic-iv-demo',
    'm4bench references build icu-stay-hours --tasks tasks',
  ],
  'references verify': ['m4bench references verify --dataset mimic-iv-demo'],
  'references show': ['m4bench references show meld-24h'],
  'schemas build': ['m4bench schemas build --schema restructured --seed 2'],
  'schemas verify': ['m4bench schemas verify --dataset mimic-iv-demo'],
  'schemas translate': ['m4bench schemas translate meld-24h --schema obfuscated'],
  'tasks list': ['m4bench tasks list', 'm4bench tasks list --tasks tasks --json'],
  'tasks lint': ['m4bench tasks lint', 'm4bench tasks lint --tasks tasks'],
  'skills list': ['m4bench skills list'],
  'skills show': ['m4bench skills show sofa-score/raw'],
  'skills lint': ['m4bench skills lint'],
  'campaign preflight': [
    'm4bench campaign preflight tonight',
    'm4bench campaign preflight tonight --hostile',
  ],
  'campaign status': ['m4bench campaign status tonight'],
  'campaign pause': ['m4bench campaign pause tonight'],
  'campaign resume': ['m4bench campaign resume tonight'],
  'campaign stop': ['m4bench campaign stop tonight'],
  'campaign worker': ['m4bench campaign worker tonight --queue redis://queue.example:6379'],
  'campaign audit': ['m4bench campaign audit tonight', 'm4bench campaign audit adhoc --no-rescore'],
  'evidence verify': ['m4bench evidence verify tonight.tar.zst'],
  'evidence sign': ['m4bench evidence sign tonight --key signing-key.pem'],
  'evidence key': ['m4bench evidence key signing-key.pem'],
  'sandbox build': ['m4bench sandbox build'],
  'sandbox check': ['m4bench sandbox check'],
  'sandbox clean': ['m4bench sandbox clean'],
  doctor: ['m4bench doctor', 'm4bench doctor --json'],
};

/** Adds the examples to the help of the commands of a program. */
export function addHelpExamples(program: Command): void {
  const add = (command: Command, name: string): void => {
    const examples = helpExamples[name];
    if (examples !== undefined) {
      const heading = examples.length === 1 ? 'Example' : 'Examples';
      command.addHelpText('after', `\n${heading}:\n${examples.map((line) => `  ${line}`).join('\n')}`);
    }
    for (const inner of command.commands) add(inner, `${name} ${inner.name()}`);
  };
  for (const command of program.commands) add(command, command.name());
}
