/** Numbered snapshots of one small world, of which any two in turn differ in every section of every record that is asked for; and what each answers. */

import { encodeQuestion, type OperationName, type Questions } from "@netfacts/contracts";
import { AnswerNotes, asnRecord, ipRecord, prefixRecord, routingRecord, validityRecord } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";
import { type MadeRoute, madeAllocations, madeNames, madeRoutes, madeVrps, route } from "../../libs/snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, madeGeneration, madeManifest } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { address, prefix } from "../../libs/snapshot/test/support/text.ts";

/** Networks of the world: 193.0.0.0/16, 193.1.0.0/16 and so on, each of an AS that stays and one that changes. */
export const networks = 32;
const stayingAs = (network: number): number => 196_000 + network;
const changingAs = (world: number, network: number): number => 200_000 + world * 100 + network;
const countries = ["NL", "SE", "FI", "DE", "FR", "IT", "ES", "PT"];

/** @param world  0 to 7. */
export function madeWorld(world: number): MadeSnapshot {
  const each = Array.from({ length: networks }, (_, network) => network);
  const numbers = each.flatMap((network) => [stayingAs(network), ...countries.map((_, other) => changingAs(other, network))]);
  const routes = each.flatMap((network): MadeRoute[] => [
    { ...route(`193.${network}.0.0/16`, [stayingAs(network), 9 - world], [changingAs(world, network), 1]), full: 10 },
    route(`194.${world}.${network}.0/24`, [stayingAs(network), 10]),
  ]);
  const registration = { country: countries[world] as string, date: 20000101 + world, holder: `holder-${world}` };
  return {
    routes: madeRoutes(routes),
    // The one origin is valid in even worlds and the other in odd ones, so that the mere state shows.
    vrps: madeVrps(
      each.map((network) => {
        const asn = world % 2 === 0 ? stayingAs(network) : changingAs(world, network);
        return { prefix: `193.${network}.0.0/16`, asn, maxLength: 17 + world };
      }),
    ),
    allocations: madeAllocations(
      each.map((network) => ({ start: `193.${network}.0.0`, end: `193.${network}.255.255`, ...registration })),
      each.map((network) => ({ first: stayingAs(network), ...registration })),
    ),
    // Every world names every number, so that names of another world show.
    names: madeNames(Object.fromEntries(numbers.map((asn) => [asn, `WORLD-${world}-AS${asn}`]))),
    asOf: `2026-11-21T08:${10 + world}:00Z`,
    entry: { version: `world-${world}` },
  };
}

export interface WorldQuestion {
  readonly op: OperationName;
  /** Canonical query. */
  readonly query: string;
  /** Below `/api/v1`. */
  readonly path: string;
  /** The record without `meta`, and the sections that it tells of. */
  record(generation: Generation): { readonly text: string; readonly sections: readonly string[] };
}

function question<O extends OperationName>(
  op: O,
  path: string,
  asked: Questions[O],
  record: (asked: Questions[O], notes: AnswerNotes) => object,
): WorldQuestion {
  return {
    op,
    query: encodeQuestion(op, asked),
    path,
    record(generation) {
      const notes = new AnswerNotes(generation, Date.now());
      const text = JSON.stringify(record(asked, notes));
      return { text, sections: Object.keys(notes.meta("").data) };
    },
  };
}

/** Five questions of each network. */
export const worldQuestions: readonly WorldQuestion[] = Array.from({ length: networks }, (_, network) => {
  const ip = `193.${network}.7.${network + 1}`;
  const asn = stayingAs(network);
  return [
    question("ip", `/ip/${ip}`, { ip: address(ip) }, (asked, notes) => ipRecord(asked.ip, notes)),
    question("routing", `/routing/${ip}`, { ip: address(ip), moreSpecifics: false, upstreams: false, limit: 100 }, routingRecord),
    question(
      "validity",
      `/validity?asn=${asn}&prefix=193.${network}.0.0/20`,
      { asn, prefix: prefix(`193.${network}.0.0/20`) },
      validityRecord,
    ),
    question("asn", `/asn/${asn}`, { asn, family: null, rpki: null, aggregate: false, limit: 100 }, asnRecord),
    question("prefix", `/prefix/193.${network}.0.0/16`, { prefix: prefix(`193.${network}.0.0/16`), limit: 100 }, prefixRecord),
  ];
}).flat();

/** One answer as it came. */
export interface WorldAnswer {
  readonly question: WorldQuestion;
  readonly body: Uint8Array | string;
  /** The snapshot that it says it is of, and the one that it had to be of; null: not told, or any. */
  readonly snapshotId: string | null;
  readonly pinned: string | null;
}

/** Compares answers with what the one world that their `meta` names would have answered, each world by itself. */
export class WorldOracle {
  readonly #expected = new Map<string, Map<WorldQuestion, { readonly text: string; readonly sections: string }>>();
  readonly #ids = new Map<string, string>();
  /** By the question and the text: most answers under load are equal to an earlier one. */
  readonly #judged = new Map<WorldQuestion, Map<string, Verdict>>();

  /** @param worlds  numbers of those that may answer. */
  constructor(worlds: readonly number[]) {
    for (const world of worlds) {
      const made = madeWorld(world);
      const generation = madeGeneration(made);
      this.#ids.set(`world-${world}`, madeManifest(made).id);
      const records = worldQuestions.map((one) => {
        const { text, sections } = one.record(generation);
        return [one, { text, sections: sections.join() }] as const;
      });
      this.#expected.set(`world-${world}`, new Map(records));
    }
  }

  /** What is wrong with the answer; null: it is wholly of the world that it names. */
  fault({ question, body, snapshotId, pinned }: WorldAnswer): string | null {
    const text = typeof body === "string" ? body : Buffer.from(body).toString();
    const judged = this.#judged.get(question) ?? new Map<string, Verdict>();
    this.#judged.set(question, judged);
    const verdict = judged.get(text) ?? this.#judge(question, text);
    judged.set(text, verdict);
    const { fault, world } = verdict;
    if (fault !== null) return fault;
    if (snapshotId !== null && snapshotId !== this.#ids.get(world)) return `${question.path}: ${world} answered as ${snapshotId}`;
    if (pinned !== null && pinned !== this.#ids.get(world)) return `${question.path}: ${world} answered where ${pinned} was asked for`;
    return null;
  }

  #judge(question: WorldQuestion, text: string): Verdict {
    const { meta, ...record } = JSON.parse(text) as WorldRecord;
    const told = [...new Set(Object.values(meta.data).map(({ version }) => version))];
    const [world = ""] = told;
    const is = (fault: string | null): Verdict => ({ fault: fault === null ? null : `${question.path}: ${fault}`, world });
    const expected = this.#expected.get(world)?.get(question);
    if (expected === undefined || told.length > 1) return is(`meta names ${told.join(" and ") || "nothing"}`);
    if (Object.keys(meta.data).join() !== expected.sections) return is(`meta lacks sections of ${world}`);
    return is(JSON.stringify(record) === expected.text ? null : `meta names ${world}, and the record is not of it`);
  }

  /** The world that an answer's `meta` names. */
  static worldOf(body: Uint8Array | string): string {
    const { meta } = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString()) as WorldRecord;
    return Object.values(meta.data)[0]?.version ?? "none";
  }
}

interface Verdict {
  readonly fault: string | null;
  readonly world: string;
}

interface WorldRecord {
  readonly meta: { readonly data: Readonly<Record<string, { readonly version: string; readonly stale: boolean }>> };
}
