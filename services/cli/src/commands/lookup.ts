/** `netfacts lookup`: the records of the API, from a snapshot without any service. */

import {
  type LookupName,
  listLimitDefault,
  listLimitMax,
  parseAsOf,
  type Questions,
  type RpkiState,
  rpkiStates,
  searchCharactersMax,
  searchText,
  wholeRecord,
} from "@netfacts/contracts";
import { AnswerNotes, finish, type RecordBuilder, recordBuilders, type SnapshotOperation } from "@netfacts/records";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { loadNamed, loadPast } from "../named-snapshot.ts";
import { printJson, printLines } from "../output.ts";
import { recordLines } from "../record-text.ts";
import { asOfOption, snapshotOption } from "../snapshot-option.ts";
import { addressArgument, asnArgument, prefixArgument } from "../subject-arguments.ts";
import { natsOption } from "./snapshot/snapshots.ts";

/** Text in place of the API's request id. */
const requestId = "lookup";

/** The operations that a snapshot answers. */
type SnapshotLookup = LookupName & SnapshotOperation;

type Ask<O extends SnapshotLookup> = (command: Command, question: Questions[O]) => Promise<void>;

/** Arguments and options of each operation, in the order of `--help`. */
const commands: { readonly [O in SnapshotLookup]: (command: Command, ask: Ask<O>) => void } = {
  search(command, ask) {
    command
      .description("addresses, prefixes, ASes, organisations and countries that fit a text")
      .argument("<text>", "what to search for", textArgument)
      .addOption(limitOption())
      .action((q, { limit }: { limit: number }, command) => ask(command, { q, limit }));
  },
  ip(command, ask) {
    command
      .description("everything known about an address")
      .argument("<address>", "IPv4 or IPv6 address", addressArgument)
      .action((ip, _options, command) => ask(command, { ip }));
  },
  routing(command, ask) {
    command
      .description("longest match of an address, with all origins")
      .argument("<address>", "IPv4 or IPv6 address", addressArgument)
      .option("--more-specifics", "include the prefixes inside the match", false)
      .addOption(limitOption())
      .action((ip, { moreSpecifics, limit }: { moreSpecifics: boolean; limit: number }, command) =>
        ask(command, { ip, moreSpecifics, upstreams: false, limit }),
      );
  },
  asn(command, ask) {
    command
      .description("an AS: registration, prefixes, RPKI, neighbours")
      .argument("<asn>", "AS number: 3333, AS3333 or asdot", asnArgument)
      .addOption(familyOption("prefixes"))
      .addOption(new Option("--rpki <state>", "only prefixes in this RPKI state").choices([...rpkiStates]))
      .option("--aggregate", "aggregate prefixes without adding unannounced space", false)
      .addOption(limitOption())
      .action(
        (asn, { family, rpki, aggregate, limit }: { family?: "4" | "6"; rpki?: RpkiState; aggregate: boolean; limit: number }, command) =>
          ask(command, { asn, family: versionOf(family), rpki: rpki ?? null, aggregate, limit }),
      );
  },
  prefix(command, ask) {
    command
      .description("a prefix: origins, VRPs, related prefixes, registration")
      .argument("<prefix>", "IPv4 or IPv6 prefix", prefixArgument)
      .addOption(limitOption())
      .action((prefix, { limit }: { limit: number }, command) => ask(command, { prefix, limit }));
  },
  validity(command, ask) {
    command
      .description("RPKI origin validation of an AS and a prefix (RFC 6811)")
      .argument("<asn>", "AS number", asnArgument)
      .argument("<prefix>", "IPv4 or IPv6 prefix", prefixArgument)
      .action((asn, prefix, _options, command) => ask(command, { asn, prefix }));
  },
  asn_vrps(command, ask) {
    command
      .description("VRPs of an AS, and which of them its announcements use")
      .argument("<asn>", "AS number: 3333, AS3333 or asdot", asnArgument)
      .addOption(familyOption("VRPs"))
      .addOption(eitherOption("announced", "only VRPs with an announced prefix, or only those without"))
      .addOption(eitherOption("loose", "only VRPs that authorise more than the AS announces, or only the others"))
      .addOption(limitOption())
      .action((asn, { family, announced, loose, limit }: AsnVrpsArguments, command) =>
        ask(command, { asn, family: versionOf(family), announced: announced ?? null, loose: loose ?? null, limit }),
      );
  },
};

interface AsnVrpsArguments {
  readonly family?: "4" | "6";
  readonly announced?: boolean;
  readonly loose?: boolean;
  readonly limit: number;
}

export const lookup: RegisterCommand = (program, context) => {
  const group = program.command("lookup").description("look up a record in a snapshot, as the API returns it");
  const add = <O extends SnapshotLookup>(op: O): void => {
    const build: RecordBuilder<O> = recordBuilders[op];
    const command = group.command(op.replaceAll("_", "-")).addOption(snapshotOption()).addOption(natsOption()).addOption(asOfOption());
    commands[op](command, async (command, question) => {
      const notes = await notesOf(command, context.now());
      const body = { ...finish(build(question, notes)), meta: notes.meta(requestId) };
      if (sharedSettings(command).json) printJson(context, body);
      else printLines(context, recordLines(body));
    });
  };
  for (const op of Object.keys(commands) as SnapshotLookup[]) add(op);
};

/** Notes for answers from the snapshot that the command names, or from one of the past. Throws `CliError`. */
export async function notesOf(command: Command, nowMs: number): Promise<AnswerNotes> {
  const { asOf } = command.opts<{ asOf?: string }>();
  if (asOf === undefined) return new AnswerNotes(await loadNamed(command), nowMs);
  const at = parseAsOf(asOf, nowMs);
  if (typeof at !== "number")
    throw new CliError(
      exitCodes.usage,
      `--as-of: expected a time ${at === "future" ? "that is not in the future" : "such as 2026-11-20T12:00:00Z or 2026-11-20"}.`,
    );
  const { generation, publication } = await loadPast(command, at);
  return new AnswerNotes(generation, at * 1_000, wholeRecord, { publication, presentMs: nowMs });
}

function versionOf(family: "4" | "6" | undefined): 4 | 6 | null {
  return family === undefined ? null : family === "4" ? 4 : 6;
}

function familyOption(items: string): Option {
  return new Option("--family <version>", `only ${items} of this IP version`).choices(["4", "6"]);
}

function eitherOption(name: string, description: string): Option {
  return new Option(`--${name} <bool>`, description).argParser((text) => {
    if (text !== "true" && text !== "false") throw new InvalidArgumentError("Expected true or false.");
    return text === "true";
  });
}

export function limitOption(): Option {
  return new Option("--limit <n>", `maximum number of items in each list, up to ${listLimitMax}`)
    .default(listLimitDefault)
    .argParser((text) => {
      const limit = Number(text);
      if (!/^\d{1,4}$/.test(text) || limit < 1 || limit > listLimitMax)
        throw new InvalidArgumentError(`Expected a number from 1 to ${listLimitMax}.`);
      return limit;
    });
}

export function textArgument(text: string): string {
  const q = searchText(text);
  if (q === null) throw new InvalidArgumentError(`Expected 1 to ${searchCharactersMax} characters.`);
  return q;
}
