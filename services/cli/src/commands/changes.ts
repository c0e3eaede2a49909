/** `netfacts changes`: changes of a prefix or an AS between the kept snapshots of a data folder or of services, newest first. */

import { listLimitDefault } from "@netfacts/contracts";
import { type Change, type ChangeSubject, changeItem, changesOf, changesSubject, finish, snapshotOf } from "@netfacts/records";
import {
  Generation,
  type LoadedSnapshot,
  loadSnapshot,
  type Publication,
  pastManifest,
  SnapshotError,
  type SnapshotStore,
  SnapshotUnavailableError,
} from "@netfacts/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { none, printJson, printLines, tableLines } from "../output.ts";
import { refuse } from "../snapshot-option.ts";
import { prefixOrAsnArgument } from "../subject-arguments.ts";
import { natsOption, withSnapshots } from "./snapshot/snapshots.ts";

/** The largest `--limit`. */
const limitMax = 10_000;

/** A change, and the publications between which it happened. */
interface DatedChange {
  readonly change: Change;
  /** The older one. */
  readonly before: Publication;
  readonly after: Publication;
}

export const changes: RegisterCommand = (program, context) => {
  program
    .command("changes")
    .description("show what changed for a prefix or an AS between the kept snapshots, newest first")
    .argument("<prefix or AS>", "a prefix such as 193.0.0.0/21, or an AS number such as AS3333", prefixOrAsnArgument)
    .addOption(new Option("--limit <n>", `maximum number of changes, up to ${limitMax}`).default(listLimitDefault).argParser(limitArgument))
    .addOption(natsOption())
    .action(async (subject: ChangeSubject, { limit }: { limit: number }, command: Command) => {
      const { place, earliest, latest, items, skipped } = await withSnapshots(command, async ({ place: at, storeOf }) => ({
        place: at,
        ...(await findChanges(await storeOf(), subject, limit)),
      }));
      const shown = items.slice(0, limit);
      const isTruncated = items.length > limit;
      if (sharedSettings(command).json) {
        const found = shown.map(({ change, before, after }) => changeItem(change, before, after));
        return printJson(context, {
          subject: changesSubject(subject),
          earliest,
          latest,
          changes: { items: found, skipped: skipped.map(snapshotOf), truncated: isTruncated },
        });
      }
      if (earliest === null) throw new CliError(exitCodes.notFound, `${place}: nothing says when its snapshots were published`);
      const rows = shown.map(({ change, before, after }) => [before.at, after.at, change.change, ...cellsOf(change)]);
      printLines(context, [
        ...(rows.length === 0 ? ["no changes"] : tableLines(titles, rows)),
        "",
        ...skipped.map(({ id, at }) => `skipped, because it is damaged: ${id}, published at ${at}`),
        `kept since ${earliest}${isTruncated ? `; only the newest ${limit} changes are shown` : ""}`,
      ]);
    });
};

interface FoundChanges {
  /** At most one more than the limit, which means that there are further ones. */
  readonly items: readonly DatedChange[];
  /** Damaged snapshots, newest first. Their neighbours are compared with each other. */
  readonly skipped: readonly Publication[];
  readonly earliest: string | null;
  readonly latest: string | null;
}

/** Has two snapshots in memory at a time. Throws `CliError` if no kept snapshot can be read, or the store is unavailable. */
async function findChanges(store: SnapshotStore, subject: ChangeSubject, limit: number): Promise<FoundChanges> {
  const publications = await store.publications().catch(refuse);
  const items: DatedChange[] = [];
  const skipped: Publication[] = [];
  let fault: unknown = null;
  let newer: { readonly publication: Publication; readonly loaded: LoadedSnapshot } | null = null;
  for (const publication of publications.toReversed()) {
    if (items.length > limit) break;
    let loaded: LoadedSnapshot;
    try {
      const manifest = pastManifest(await store.getManifest(publication.id));
      loaded = await loadSnapshot(store, manifest, { reuse: newer === null ? [] : [newer.loaded] });
    } catch (error) {
      if (!(error instanceof SnapshotError) || error instanceof SnapshotUnavailableError) return refuse(error);
      fault = error;
      // It is not damaged if an import has removed it meanwhile.
      const isKept = (await store.publications().catch(refuse)).some(({ id }) => id === publication.id);
      if (isKept) skipped.push(publication);
      continue;
    }
    if (newer !== null)
      for (const change of finish(changesOf(subject, Generation.of(loaded), Generation.of(newer.loaded))))
        items.push({ change, before: publication, after: newer.publication });
    newer = { publication, loaded };
  }
  if (newer === null && fault !== null) return refuse(fault);
  return { items, skipped, earliest: publications[0]?.at ?? null, latest: publications.at(-1)?.at ?? null };
}

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

function limitArgument(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,5}$/.test(text) || limit < 1 || limit > limitMax) throw new InvalidArgumentError(`Expected a number from 1 to ${limitMax}.`);
  return limit;
}
