import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { agentNamed } from '../../agents/agents.js';
import { toText } from '../../analysis/tables.js';
import { installSkills } from '../../skills/install-skills.js';
import {
  fittingSkill,
  type LibrarySkill,
  namedSkill,
  type SkillSetting,
  skillLibrary,
} from '../../skills/skill-library.js';
import { lintContent } from '../../tasks/lint.js';
import { contextOf } from '../context.js';
import { lintOptions } from '../lint-options.js';
import { shortPath } from './short-path.js';

/** Agents whose skill folder inside a project `skills install` knows. */
const skillAgents = ['claude', 'codex', 'gemini', 'pi'] as const;

/** `m4bench skills …`: the skills as a library of their own. */
export function skillsCommand(): Command {
  return new Command('skills')
    .description('the clinical skills as a library, to list, read, check and install')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(lintCommand())
    .addCommand(installCommand());
}

const modeOption = (): Option =>
  new Option('--mode <mode>', 'raw: source tables only; standard: derived tables are there as well')
    .choices(['raw', 'standard'])
    .default('raw');

const databaseOption = (): Option =>
  new Option('--database <kind>', 'database that the skills are used on').default('mimic-iv');

/** A text without its content, for listings. */
function summaryOf({
  text: _text,
  file: _file,
  ...summary
}: LibrarySkill): Omit<LibrarySkill, 'text' | 'file'> {
  return summary;
}

function listCommand(): Command {
  return new Command('list')
    .description('every text of every skill with version and checksum')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const library = await skillLibrary(context.content);
      context.say(
        toText({
          columns: ['skill', 'text', 'version', 'tier', 'words', 'sha256', 'description'],
          rows: library.map((skill) => ({
            skill: skill.name,
            text: skill.variant,
            version: skill.version,
            tier: skill.tier,
            words: skill.words,
            sha256: skill.sha256.slice(0, 16),
            description: skill.description.split('. ')[0] ?? '',
          })),
        }),
      );
      context.json({ skills: library.map(summaryOf) });
    });
}

function showCommand(): Command {
  return new Command('show')
    .description('one skill, byte for byte')
    .argument('<skill>', 'a skill, or a text of it, for example sofa-score/raw')
    .addOption(modeOption())
    .addOption(databaseOption())
    .action(async (wanted: string, options: SkillSetting, command: Command) => {
      const context = contextOf(command);
      const skill = namedSkill(await skillLibrary(context.content), wanted, options);
      context.say(skill.text.replace(/\n$/, ''));
      context.json({ ...summaryOf(skill), text: skill.text });
    });
}

function lintCommand(): Command {
  return new Command('lint')
    .description('check the skills and the facts that they state')
    .argument('[folders...]', "folders of own families, checked besides the project's")
    .action(async (folders: string[], _options: unknown, command: Command) => {
      const context = contextOf(command);
      const all = await lintContent(await lintOptions(context, folders));
      const findings = all.filter(({ rule }) => /^(skill|fact|content)-/.test(rule));
      for (const { file, line, rule, message } of findings) {
        context.say(`${shortPath(file)}:${line} ${rule} ${message}`);
      }
      if (findings.length === 0) context.say('No findings.');
      context.json({ findings });
      if (findings.length > 0) process.exitCode = 1;
    });
}

interface InstallCommandOptions extends SkillSetting {
  readonly agent: string;
  readonly project: string;
  readonly force?: boolean;
}

function installCommand(): Command {
  return new Command('install')
    .description('put skills where an agent finds them; changed files stay unless --force is given')
    .argument('[skills...]', 'default: all, each in the text for the mode and the database')
    .addOption(
      new Option('--agent <agent>', 'agent that is to find them').choices(skillAgents).makeOptionMandatory(),
    )
    .option('--project <dir>', 'folder of the project', '.')
    .addOption(modeOption())
    .addOption(databaseOption())
    .option('--force', 'overwrite files that were changed')
    .addHelpText(
      'after',
      '\nExample:\n  m4bench skills install sofa-score --agent claude --project ~/icu-study',
    )
    .action(async (wanted: string[], options: InstallCommandOptions, command: Command) => {
      const context = contextOf(command);
      const library = await skillLibrary(context.content);
      const names = wanted.length > 0 ? wanted : [...new Set(library.map(({ name }) => name))];
      const skills =
        wanted.length > 0
          ? names.map((name) => namedSkill(library, name, options))
          : names.map((name) => fittingSkill(library, name, options));
      const { skillFolder } = agentNamed(options.agent, {
        environment: process.env,
        userHome: homedir(),
      });
      const folder = join(resolve(options.project), skillFolder);
      const installed = await installSkills({ folder, skills, isForced: options.force === true });
      context.say(
        toText({
          columns: ['skill', 'text', 'version', 'sha256', 'state'],
          rows: installed.map(({ skill, state }) => ({
            skill: skill.name,
            text: skill.variant,
            version: skill.version,
            sha256: skill.sha256.slice(0, 16),
            state,
          })),
        }),
      );
      const kept = installed.filter(({ state }) => state === 'kept');
      context.say(`in ${folder}`);
      for (const { path } of kept) context.say(`not overwritten, because it was changed: ${path}`);
      if (kept.length > 0) context.say('Run again with --force to overwrite.');
      context.json({
        agent: options.agent,
        folder,
        skills: installed.map(({ skill, path, state }) => ({ ...summaryOf(skill), path, state })),
      });
      if (kept.length > 0) process.exitCode = 1;
    });
}
