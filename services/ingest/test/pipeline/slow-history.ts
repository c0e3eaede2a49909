/** A history kept in maps by the names of things, tables to fill it with, and what a snapshot tells in the same words. */

import { parsePrefix } from "@netfacts/address";
import { decodeColumns, Generation, historyFormat, loadSnapshot, type Manifest, type RouteTable } from "@netfacts/snapshot";
import { peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import fc from "../../../../test/support/properties.ts";
import type { Workplace } from "../support/made-files.ts";

export const hour = 3_600;
export const midnight = 1_763_683_200;
export const keptHours = 4;

const prefixes = ["0.0.0.0/0", "11.0.0.0/8", "11.0.0.0/24", "11.0.1.0/24", "::/0", "2a00::/16", "2a00:1::/32"] as const;
const numbers = [1, 2, 3, 4, 5, 6] as const;

/** What a collector's table has: the time, and origins by prefix; 0 and −1 stand for AS_SETs, which have no history. */
export interface Table {
  readonly hour: number;
  readonly routes: Readonly<Partial<Record<(typeof prefixes)[number], readonly number[]>>>;
}

export const table: fc.Arbitrary<Table> = fc.record({
  hour: fc.integer({ min: 0, max: 16 }),
  routes: fc
    .dictionary(fc.constantFrom(...prefixes), fc.uniqueArray(fc.constantFrom(0, -1, ...numbers), { minLength: 1, maxLength: 3 }), {
      minKeys: 1,
      maxKeys: 4,
    })
    .map((routes) => routes as Table["routes"]),
});

export const tableFile = ({ hour: at, routes }: Table): Buffer => {
  const timestamp = midnight + at * hour;
  const records = Object.entries(routes).map(([prefix, origins]) =>
    ribRecord(
      prefix,
      origins.map((origin, peer) => ({ peer, path: `${64500 + peer} ${origin > 0 ? origin : origin === 0 ? "{7,8}" : "{8,9}"}` })),
      { timestamp },
    ),
  );
  const peers = [1, 2, 3].map((host) => ({ address: `192.0.2.${host}`, asn: 64499 + host }));
  return Buffer.concat([peerIndexRecord(peers, "", 0, timestamp), ...records]);
};

type Times = readonly [first: number, last: number];

/** The history by docs/design/semantics.md#time: everything by its name, nothing clever. */
export interface Slow {
  readonly origins: ReadonlyMap<string, Times>;
  readonly ases: ReadonlyMap<number, Times>;
}

export const nothing: Slow = { origins: new Map(), ases: new Map() };

export function slowImport(before: Slow, tables: readonly Table[]): Slow {
  const now = midnight + Math.max(...tables.map((one) => one.hour)) * hour;
  const origins = new Map(before.origins);
  const ases = new Map(before.ases);
  const announced = new Set<string | number>();
  const see = <K extends string | number>(map: Map<K, Times>, key: K, time: number) => {
    const [first, last] = map.get(key) ?? [time, time];
    map.set(key, [Math.min(first, time), Math.max(last, time)]);
    announced.add(key);
  };
  for (const { hour: at, routes } of tables)
    for (const [prefix, list] of Object.entries(routes))
      for (const origin of list) {
        if (origin <= 0) continue;
        see(origins, `${prefix} ${origin}`, midnight + at * hour);
        if (!prefix.endsWith("/0")) see(ases, origin, midnight + at * hour);
      }
  for (const map of [origins, ases] as Map<string | number, Times>[])
    for (const [key, [, last]] of map) if (!announced.has(key) && last < now - keptHours * hour) map.delete(key);
  return { origins, ases };
}

function prefixOf(text: string) {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new TypeError(text);
  return reading.prefix;
}

/** What pods tell: of what is announced, and of every AS. */
export async function toldBy(place: Workplace, manifest: Manifest): Promise<{ origins: Map<string, Times>; ases: Map<number, Times> }> {
  const routes = Generation.of(await loadSnapshot(place.store, manifest)).routes as RouteTable;
  const origins = new Map<string, Times>();
  const ases = new Map<number, Times>();
  for (const prefix of prefixes) {
    const entry = routes.prefixes.exact(prefixOf(prefix));
    for (const { asn } of entry < 0 ? [] : routes.origins(entry)) {
      const seen = asn === null ? null : routes.seen(entry, asn);
      if (seen !== null) origins.set(`${prefix} ${asn}`, [seen.first, seen.last]);
    }
  }
  for (const asn of [...numbers, 7, 8]) {
    const seen = routes.seenAs(asn);
    if (seen !== null) ases.set(asn, [seen.first, seen.last]);
  }
  return { origins, ases };
}

/** What ingest carries on. */
export async function carriedOn(place: Workplace, manifest: Manifest): Promise<Slow> {
  const { object, bytes } = manifest.ingest_objects.history as { object: string; bytes: number };
  const history = decodeColumns(historyFormat, await place.store.getObject(object, bytes));
  const words = (at: number) => Array.from(history.v6_words.subarray(at * 4, at * 4 + 4), (word) => word.toString(16)).join();
  const names = new Map(prefixes.map((text) => [keyOf(text), text]));
  const origins = new Map<string, Times>();
  const ipv4 = history.v4_length.length;
  for (let entry = 0; entry + 1 < history.origin_start.length; entry++) {
    const at = entry - ipv4;
    const key =
      entry < ipv4 ? `4 ${history.v4_address[entry]?.toString(16)} ${history.v4_length[entry]}` : `6 ${words(at)} ${history.v6_length[at]}`;
    for (let origin = history.origin_start[entry] as number; origin < (history.origin_start[entry + 1] as number); origin++)
      origins.set(`${names.get(key)} ${history.origin_as[origin]}`, [
        history.first_seen[origin] as number,
        history.last_seen[origin] as number,
      ]);
  }
  const ases = new Map(
    Array.from(history.as_number, (asn, at) => [asn, [history.as_first_seen[at] as number, history.as_last_seen[at] as number]] as const),
  );
  return { origins, ases };
}

function keyOf(text: string): string {
  const { version, w0, w1, w2, w3, length } = prefixOf(text);
  const hex = (word: number) => word.toString(16);
  return version === 4 ? `4 ${hex(w0)} ${length}` : `6 ${[w0, w1, w2, w3].map(hex).join()} ${length}`;
}
