/** Walks back through the kept snapshots, pair by pair, in limited time, and collects the changes of a prefix or an AS, newest first. */

import { formatPrefix } from "@netfacts/address";
import type { ChangeItem } from "@netfacts/contracts";
import type { Manifest, PastAnswer, Publication } from "@netfacts/snapshot";
import {
  type Change,
  type ChangedOrigin,
  type ChangedRegistration,
  type ChangeSubject,
  changeSections,
  changesBetween,
  type SubjectFacts,
  subjectFacts,
} from "./changes.ts";
import type { Steps } from "./steps.ts";

/** The kept snapshots (`PastGenerations`). */
export interface KeptSnapshots {
  publications(): Promise<readonly Publication[] | null>;
  /** The manifest, without loading the snapshot; null: it cannot be read now. */
  manifest(id: string): Promise<Manifest | null>;
  of(publication: Publication, turn: number, msMax: number): Promise<PastAnswer>;
}

/** The place at which the walk continues: a pair, and the number of its changes that were shown. */
export interface ChangesPlace {
  /** The newer snapshot of the pair. */
  readonly snapshotId: string;
  /** Time at which the older one was published, in Unix seconds. */
  readonly at: number;
  readonly shown: number;
}

export interface ChangesWalk {
  readonly subject: ChangeSubject;
  /** Null: begins at the latest snapshot. */
  readonly place: ChangesPlace | null;
  readonly limit: number;
  /** A number for the caller: callers take turns. */
  readonly turn: number;
  /** Longest time of the answer. */
  readonly msMax: number;
}

export interface ChangesPage {
  readonly publications: readonly Publication[];
  readonly items: readonly ChangeItem[];
  /** Damaged snapshots that were skipped, newest first: changes at their time appear between their neighbours. */
  readonly skipped: readonly Publication[];
  /** Null: every pair was compared. */
  readonly next: ChangesPlace | null;
}

export type ChangesRefusal = Extract<PastAnswer, { refusal: string }>;

/** Most snapshots that are loaded for one page, and the share of its time after which no further pair is begun. */
const snapshotsMax = 4;
const beginShare = 0.3;

/**
 * @param run  runs the steps, with other work in between.
 * @param now  monotonic, in ms.
 * @returns a refusal if not even one pair could be compared; after a later failure, the rest is left to the next page.
 */
export async function walkChanges(
  kept: KeptSnapshots,
  { subject, place, limit, turn, msMax }: ChangesWalk,
  run: <T>(steps: Steps<T>) => Promise<T>,
  now: () => number = () => performance.now(),
): Promise<ChangesPage | ChangesRefusal> {
  const started = now();
  const all = await kept.publications();
  if (all === null) return { refusal: "unavailable" };
  // Of one second the last counts, as for `as_of`: a place names a pair by its second.
  const publications = all.filter(({ at }, index) => all[index + 1]?.at !== at);
  if (publications.length === 0) return { refusal: "empty" };
  const begin = place === null ? { after: publications.length - 1, before: publications.length - 2 } : pairAt(publications, place);
  if (begin === null) return { refusal: "gone" };

  const items: ChangeItem[] = [];
  const skipped: Publication[] = [];
  const page = (next: ChangesPlace | null): ChangesPage => ({ publications, items, skipped, next });
  const pairs = new Pairs(kept, subject, run, (publication) => kept.of(publication, turn, Math.max(0, msMax - (now() - started))));
  let after = publications[begin.after] as Publication;
  let shown = place?.shown ?? 0;

  for (let index = begin.before; index >= 0; index--) {
    const before = publications[index] as Publication;
    const here = { snapshotId: after.id, at: secondsOf(before), shown };
    const isFirst = index === begin.before;
    if (!isFirst && (items.length >= limit || now() - started > msMax * beginShare)) return page(here);
    const compared = await pairs.compare(before, after);
    if (compared === "enough") return page(here);
    if ("refusal" in compared) {
      if (!isFirst) return page(here);
      if (compared.refusal !== "gone") return compared;
      // A snapshot was withdrawn meanwhile, which is not damage. The list is another one now.
      return walkChanges(kept, { subject, place, limit, turn, msMax: msMax - (now() - started) }, run, now);
    }
    let next = before;
    if ("unreadable" in compared) {
      skipped.push(compared.unreadable);
      // The older snapshots are compared with the same newer one. That is another pair, of which nothing was shown.
      if (compared.unreadable === before) next = after;
    } else {
      const changes = compared.changes.slice(shown);
      const room = limit - items.length;
      for (const change of changes.slice(0, room)) items.push(changeItem(change, before, after));
      if (changes.length > room) return page({ ...here, shown: shown + room });
    }
    after = next;
    shown = 0;
  }
  return page(null);
}

/** `unreadable`: the damaged snapshot of the pair. `enough`: no further snapshot is loaded for this page. */
type Comparison = { readonly changes: readonly Change[] } | { readonly unreadable: Publication } | ChangesRefusal | "enough";

/** Compares one pair after the other, from newer to older. */
class Pairs {
  readonly #kept: KeptSnapshots;
  readonly #subject: ChangeSubject;
  readonly #run: <T>(steps: Steps<T>) => Promise<T>;
  readonly #load: (publication: Publication) => Promise<PastAnswer>;
  #loads = 0;
  /** What the newer snapshot of the next pair says, if it is known already. */
  #newer: SubjectFacts | null = null;

  constructor(
    kept: KeptSnapshots,
    subject: ChangeSubject,
    run: <T>(steps: Steps<T>) => Promise<T>,
    load: (publication: Publication) => Promise<PastAnswer>,
  ) {
    this.#kept = kept;
    this.#subject = subject;
    this.#run = run;
    this.#load = load;
  }

  async compare(before: Publication, after: Publication): Promise<Comparison> {
    if (await isSame(this.#kept, this.#subject, before, after)) return { changes: [] };
    if (this.#loads >= snapshotsMax) return "enough";
    const to = this.#newer ?? (await this.#facts(after));
    if ("refusal" in to) return to.refusal === "unreadable" ? { unreadable: after } : to;
    this.#newer = to;
    const from = await this.#facts(before);
    if ("refusal" in from) return from.refusal === "unreadable" ? { unreadable: before } : from;
    this.#newer = from;
    return { changes: await this.#run(changesBetween(from, to)) };
  }

  async #facts(publication: Publication): Promise<SubjectFacts | ChangesRefusal> {
    this.#loads += 1;
    const found = await this.#load(publication);
    // The generation is dropped here, so that never two of them are in memory for one question.
    return "refusal" in found ? found : this.#run(subjectFacts(this.#subject, found.generation));
  }
}

/**
 * The indexes of the pair at that place, which may have skipped snapshots in between. Null: the newer snapshot is not kept any more, or the older one
 * is not and some of their changes were shown.
 *
 * A snapshot that a rollback restored is in the list more than once: the time identifies the right one.
 */
function pairAt(publications: readonly Publication[], { snapshotId, at, shown }: ChangesPlace): { after: number; before: number } | null {
  const newerThan = (older: number) => publications.findIndex(({ id }, index) => index > older && id === snapshotId);
  const before = publications.findLastIndex((publication, index) => secondsOf(publication) === at && newerThan(index) >= 0);
  if (before >= 0) return { before, after: newerThan(before) };
  const after = publications.findIndex((publication) => publication.id === snapshotId && secondsOf(publication) >= at);
  return shown > 0 || after < 0 ? null : { before: after - 1, after };
}

/** Whether nothing can have changed; decided without loading either snapshot. */
async function isSame(kept: KeptSnapshots, subject: ChangeSubject, before: Publication, after: Publication): Promise<boolean> {
  const [from, to] = [await kept.manifest(before.id), await kept.manifest(after.id)];
  if (from === null || to === null) return false;
  return changeSections.every(
    (name) => (name === "as_names" && !("asn" in subject)) || from.sections[name]?.object === to.sections[name]?.object,
  );
}

/** A change in the form of answers, with the snapshots between which it happened: `before` is the older one. */
export function changeItem(change: Change, before: Publication, after: Publication): ChangeItem {
  return { ...itemOf(change), before: snapshotOf(before), after: snapshotOf(after) };
}

function itemOf(change: Change): Omit<ChangeItem, "before" | "after"> {
  const none = { prefix: null, origin: null, as_set: null, from: null, to: null, registration_from: null, registration_to: null };
  if (change.change === "registration_changed")
    return { change: change.change, ...none, registration_from: registrationOf(change.from), registration_to: registrationOf(change.to) };
  if (change.change === "name_changed") return { change: change.change, ...none, from: change.from, to: change.to };
  const { prefix, origin } = change;
  const route = { ...none, prefix, origin: typeof origin === "number" ? origin : null, as_set: isAsSet(origin) ? [...origin] : null };
  if (change.change !== "rpki_state_changed") return { change: change.change, ...route };
  return { change: change.change, ...route, from: change.from, to: change.to };
}

function isAsSet(origin: ChangedOrigin): origin is readonly number[] {
  return typeof origin === "object" && origin !== null;
}

function registrationOf(registration: ChangedRegistration | null): ChangeItem["registration_from"] {
  return registration === null ? null : { ...registration, block: registration.block ?? null };
}

export function changesSubject(subject: ChangeSubject): { readonly asn: number } | { readonly prefix: string } {
  return "asn" in subject ? { asn: subject.asn } : { prefix: formatPrefix(subject.prefix) };
}

export function snapshotOf({ id, at }: Publication): ChangeItem["before"] {
  return { snapshot: id, published_at: at };
}

function secondsOf({ at }: Publication): number {
  return Date.parse(at) / 1_000;
}
