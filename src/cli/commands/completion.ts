import { Argument, Command } from 'commander';
import { completionsOf, valuesFrom } from '../completion.js';
import { completionScripts, type Shell, shells } from '../completion-scripts.js';
import { contextOf } from '../context.js';

const setUp: Readonly<Record<Shell, string>> = {
  bash: "echo 'source <(m4bench completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(m4bench completion zsh)' >> ~/.zshrc",
  fish: 'm4bench completion fish > ~/.config/fish/completions/m4bench.fish',
};

/** `m4bench completion SHELL`: the script that makes a shell complete commands, options, tasks, datasets, agents. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print the script that makes a shell complete commands, options and names')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText('after', `\nExamples:\n${shells.map((shell) => `  ${setUp[shell]}`).join('\n')}`)
    .action((shell: Shell) => {
      process.stdout.write(completionScripts[shell]);
    });
}

/** What the script of a shell calls: `m4bench complete -- WORDS…`, the last word being the one to complete. */
export function completeCommand(): Command {
  return new Command('complete')
    .description('what may stand where the cursor is; called by the script of a shell')
    .argument('[words...]')
    .helpOption(false)
    .action(async (words: string[], _options: unknown, command: Command) => {
      const context = contextOf(command);
      const values = valuesFrom(context.home, context.content);
      const { suggestions, allowsFiles } = await completionsOf(command.parent!, words, values);
      for (const { value, description } of suggestions)
        process.stdout.write(`${value}\t${description.replace(/\s+/g, ' ')}\n`);
      // The directives of the scripts: 0 also completes file names, 4 does not.
      process.stdout.write(`:${allowsFiles ? 0 : 4}\n`);
    });
}
