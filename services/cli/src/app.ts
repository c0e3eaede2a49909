/** The command line: the program, its shared options, and the end of every command. */

import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { CliError, endingOf } from "./cli-error.ts";
import { commands } from "./commands/index.ts";
import { type CliContext, defaultDataDir } from "./context.ts";
import { type ExitCode, exitCodeHelp, exitCodes } from "./exit-codes.ts";

/**
 * Runs one command line to its end. Never throws and never ends the process.
 *
 * @param args  without the program's name.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  try {
    const program = buildProgram(context, args);
    for (const register of await Promise.all(wanted(args).map((load) => load()))) register(program, context);
    pointToHelp(program, program.name());
    addHelp(program, program.name());
    await program.parseAsync(args, { from: "user" }).catch((error: unknown) => {
      if (error instanceof CommanderError && error.code === "commander.missingMandatoryOptionValue") throw misspelt(program, args) ?? error;
      throw error;
    });
    return exitCodes.ok;
  } catch (error) {
    const { exitCode, lines } = endingOf(error);
    for (const line of lines) context.stderr.write(`netfacts: ${shown(line, args)}\n`);
    return exitCode;
  }
}

/** The text with control characters as escapes: arguments may be lines of somebody's log. Line breaks stay that are of no argument. */
function shown(text: string, args: readonly string[]): string {
  const withArgs = args
    .filter((arg) => arg.trim() !== "" && arg.includes("\n"))
    .reduce((all, arg) => all.replaceAll(arg, escaped(arg)), text);
  return withArgs.replaceAll(/[^\P{Cc}\n]/gu, escaped);
}

function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (sign) => (sign === "\n" ? "\\n" : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

function buildProgram(context: CliContext, args: readonly string[]): Command {
  // Commands inherit these settings, because they are added afterwards.
  return new Command("netfacts")
    .description("Look up internet addresses and networks in your own data, and manage these data.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .addOption(
      new Option("--data-dir <dir>", "data folder of the installation").default(
        defaultDataDir(),
        "NETFACTS_HOME, or .netfacts of the repository",
      ),
    )
    .option("--json", "print JSON instead of text")
    .addHelpText("after", `\n${exitCodeHelp}`)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) => write(shown(text.replace(/^error: /, "netfacts: "), args)),
    })
    .exitOverride();
}

/** Makes errors in the command line point to the help of the command. */
function pointToHelp(command: Command, path: string): void {
  const what = command.commands.length === 0 ? "arguments and options" : "commands and options";
  command.showHelpAfterError(`(see ${path} --help for ${what})`);
  for (const one of command.commands) pointToHelp(one, `${path} ${one.name()}`);
}

/** Adds the command `help` to every group. That of commander ignores names of commands that do not exist. */
function addHelp(group: Command, path: string): void {
  const commands = [...group.commands];
  if (commands.length === 0) return;
  for (const one of commands) addHelp(one, `${path} ${one.name()}`);
  // Otherwise `--help` after the name of a command that does not exist prints the help of the group.
  group.addHelpText("before", () => {
    const name = group.args[0];
    if (name !== undefined && !name.startsWith("-")) named(group, path, name);
    return "";
  });
  group
    .command("help")
    .description("print help for a command")
    .argument("[command...]")
    .helpOption(false)
    .usage("[command]")
    .action((names: readonly string[]) => helpOf(group, path, names).help());
}

function helpOf(group: Command, path: string, names: readonly string[]): Command {
  const [name, ...others] = names;
  if (name === undefined) return group;
  return helpOf(named(group, path, name), `${path} ${name}`, others);
}

/** The command of the group with this name. Throws `CliError` if there is none. */
function named(group: Command, path: string, name: string): Command {
  const command = group.commands.find((one) => one.name() === name || one.aliases().includes(name));
  if (command === undefined) throw new CliError(exitCodes.usage, `unknown command '${name}' (see ${path} --help for commands and options)`);
  return command;
}

/** An error that names options unknown to all commands of the line: commander does not name them if another option is missing. Null: none. */
function misspelt(program: Command, args: readonly string[]): CliError | null {
  const known: Option[] = [...program.options];
  let command = program;
  for (const arg of args) {
    const named = command.commands.find((one) => one.name() === arg || one.aliases().includes(arg));
    if (named === undefined) continue;
    command = named;
    known.push(...named.options);
  }
  const flags = args.flatMap((arg) => /^--[a-z][a-z-]*(?==|$)/.exec(arg)?.[0] ?? []);
  const unknown = flags.filter((flag) => flag !== "--help" && !known.some((option) => option.long === flag));
  if (unknown.length === 0) return null;
  return new CliError(
    exitCodes.usage,
    unknown.map((flag) => `unknown option '${flag}'`),
  );
}

/** The commands that the line names. All if it names none, for help and "did you mean". */
function wanted(args: readonly string[]): (typeof commands)[string][] {
  const named = Object.entries(commands).filter(([name]) => args.includes(name));
  return (named.length > 0 ? named : Object.entries(commands)).map(([, load]) => load);
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
