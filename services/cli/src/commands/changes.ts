/** `netfacts changes`: what changed for a prefix or an AS between the snapshots that a data folder keeps, newest first. */

import { parseAsn, parsePrefix } from "@netfacts/address";
import { listLimitDefault } from "@netfacts/contracts";
import { type Change, type ChangeSubject, changesOf, finish } from "@netfacts/records";
import { Generation, type LoadedSnapshot, loadSnapshot, openSnapshot, type Publication, pastManifest } from "@netfacts/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { none, printJson, printLines, tableLines } from "../output.ts";
import { refuse } from "../snapshot-option.ts";

/** The largest `--limit`. */
const limitMax = 10_000;

/** A change, and the publications between which it happened. */
type DatedChange = { readonly after: string; readonly before: string; readonly snapshot: string } & Change;

export const changes: RegisterCommand = (program, context) => {
  program
    .command("changes")
    .description("show what changed for a prefix or an AS between the kept snapshots, newest first")
    .argument("<prefix or AS>", "a prefix such as 193.0.0.0/21, or an AS number such as AS3333", subjectArgument)
    .addOption(new Option("--limit <n>", `maximum number of changes, up to ${limitMax}`).default(listLimitDefault).argParser(limitArgument))
    .action(async (subject: ChangeSubject, { limit }: { limit: number }, command: Command) => {
      const settings = sharedSettings(command);
      const { store } = await openSnapshot(settings.dataDir).catch(refuse);
      const publications = await store.publications().catch(refuse);
      const [earliest, latest] = [publications[0]?.at ?? null, publications.at(-1)?.at ?? null];
      const items: DatedChange[] = [];
      let newer: { readonly publication: Publication; readonly loaded: LoadedSnapshot } | null = null;
      for (const publication of publications.toReversed()) {
        if (items.length > limit) break;
        const manifest = pastManifest(await store.getManifest(publication.id).catch(refuse));
        const loaded: LoadedSnapshot = await loadSnapshot(store, manifest, { reuse: newer === null ? [] : [newer.loaded] }).catch(refuse);
        if (newer !== null)
          for (const change of finish(changesOf(subject, Generation.of(loaded), Generation.of(newer.loaded))))
            items.push({ after: publication.at, before: newer.publication.at, snapshot: newer.publication.id, ...change });
        newer = { publication, loaded };
      }
      const shown = items.slice(0, limit);
      if (settings.json) return printJson(context, { items: shown, truncated: items.length > limit, earliest, latest });
      if (earliest === null) throw new CliError(exitCodes.notFound, `${settings.dataDir}: nothing says when its snapshots were published`);
      const rows = shown.map(({ after, before, change, ...rest }) => [after, before, change, ...cellsOf(rest)]);
      printLines(context, [
        ...(rows.length === 0 ? ["no changes"] : tableLines(titles, rows)),
        "",
        `kept since ${earliest}${items.length > limit ? `; only the newest ${limit} changes are shown` : ""}`,
      ]);
    });
};

const titles = ["AFTER", "UP TO", "CHANGE", "PREFIX", "ORIGIN", "FROM", "TO"];

function cellsOf(change: object): string[] {
  const { prefix, origin, from, to } = change as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string => {
    if (value === null || value === undefined) return none;
    return typeof value === "object" ? Object.values(value).flatMap(flat).join(" ") : String(value);
  };
  return [prefix, Array.isArray(origin) ? `{${origin.join()}}` : origin, from, to].map(text);
}

function flat(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? [Object.values(value).join("-")] : [value ?? none];
}

function subjectArgument(text: string): ChangeSubject {
  const asn = parseAsn(text);
  if (asn !== null) return { asn };
  const reading = parsePrefix(text);
  if (reading.ok) return { prefix: reading.prefix };
  throw new InvalidArgumentError("expected a prefix without host bits, such as 193.0.0.0/21, or an AS number, such as AS3333.");
}

function limitArgument(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,5}$/.test(text) || limit < 1 || limit > limitMax) throw new InvalidArgumentError(`expected a number from 1 to ${limitMax}.`);
  return limit;
}
