/**
 * P3: the text of an address → the full record as JSON text, in process, against mmdb-lib's `get` on an ASN-shaped file of the
 * same prefixes. Ours is much more: allocation, every origin, visibility, RPKI. `scripts/run.sh bench/text-to-record.ts`
 */

import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { gunzipSync } from "node:zlib";
import { AddressList, formatAddress, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { Generation, loadSnapshot, openDataFolder } from "@netfacts/snapshot";
import { type AsnResponse, Reader } from "mmdb-lib";
import { IpAnswers, type IpQuestionText } from "../services/ip-routing/src/domain/ip-answers.ts";
import { requireData } from "./support/data.ts";
import { writeMmdb } from "./support/mmdb-writer.ts";
import { importModern } from "./support/modern.ts";
import { seededRandom } from "./support/random.ts";
import { interleave, printResults } from "./support/rounds.ts";

// A service keeps no address longer than its frame. This program keeps a million prefixes to draw from, which would teach V8 to
// put every address among what lives long.
setFlagsFromString("--no-allocation-site-pretenuring");

const addressesPerFamily = 100_000;
const rounds = 9;
/** Questions that arrive in one event-loop turn share a frame of at most this many, and are answered together. */
const frame = 64;
const requestId = "01JD5T7Q9M3W8K2V6B4N1XCZPE";
const requestIds = new Array<string>(frame).fill(requestId);

const data = requireData();
const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
try {
  await importModern(data, folder);
  const store = openDataFolder(folder);
  const id = (await store.currentId()) as string;
  const generation = Generation.of(await loadSnapshot(store, await store.getManifest(id)));

  const table = gunzipSync(readFileSync(join(data, "modern/prefix-origin.tsv.gz")))
    .toString()
    .split("\n");
  const prefixes: { prefix: Prefix; asn: number }[] = [];
  for (const line of table) {
    const [text, asn] = line.split("\t");
    if (text === undefined || asn === undefined || !/^[1-9]\d*$/.test(asn)) continue;
    const reading = parsePrefix(text);
    if (reading.ok) prefixes.push({ prefix: reading.prefix, asn: Number(asn) });
  }
  const names = generation.names;
  const reader = new Reader<AsnResponse>(
    writeMmdb(prefixes.map(({ prefix, asn }) => ({ prefix, asn, organisation: names?.lookupName(asn) ?? "" }))),
  );

  const random = seededRandom(2026);
  // Every prefix as likely as any other is the worst case for any cache; what people ask follows Zipf's law.
  const populations = {
    "every prefix equally often": (count: number) => Math.floor(random() * count),
    "prefixes by Zipf's law": (count: number) => Math.min(count - 1, Math.floor(count ** random()) - 1),
  };
  for (const version of [4, 6] as const) {
    const own = shuffled(
      prefixes.filter(({ prefix }) => prefix.version === version),
      random,
    );
    for (const [population, pick] of Object.entries(populations)) {
      const texts = Array.from({ length: addressesPerFamily }, () => {
        const { prefix } = own[pick(own.length)] as { prefix: Prefix };
        const host = Math.floor(random() * 250) + 1;
        const address =
          version === 6
            ? { ...prefix, w3: prefix.length < 121 ? host : prefix.w3 }
            : { ...prefix, w0: (prefix.w0 + (prefix.length < 25 ? host : 0)) >>> 0 };
        // By way of bytes, as texts come from the network: a text joined of parts is slower to read, for both sides.
        return Buffer.from(formatAddress(address)).toString();
      });
      const list = new AddressList();
      const answers = new IpAnswers({ textsBytesMax: Number.POSITIVE_INFINITY });
      // What the population before left behind must not be collected in the rounds of this one.
      globalThis.gc?.();
      const now = Date.parse("2026-01-01T00:00:00Z");
      let sum = 0;
      const results = await interleave(
        [
          {
            name: "mmdb-lib get",
            run: () => {
              for (const text of texts) sum += reader.get(text)?.autonomous_system_number ?? 0;
              return texts.length;
            },
          },
          {
            name: `text → full record, frames of ${frame}`,
            run: () => {
              for (let from = 0; from < texts.length; from += frame) {
                list.clear();
                for (let at = from; at < Math.min(from + frame, texts.length); at++)
                  if (!list.add(texts[at] as string)) throw notOne(texts[at]);
                for (const text of answers.texts(generation, list, requestIds, now)) sum += text.length;
              }
              return texts.length;
            },
          },
          {
            name: "text → full record, one by one",
            run: () => {
              for (const text of texts) sum += answers.text(generation, questionOf(text), now).length;
              return texts.length;
            },
          },
        ],
        rounds,
        2,
      );
      printResults(
        `P3 IPv${version}, ${addressesPerFamily.toLocaleString("en-US")} announced addresses, ${population}`,
        "records/s",
        results,
        {
          checksum: sum > 0,
        },
      );
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The text read, and written back in its canonical form, as the gateway sends it. */
function questionOf(text: string): IpQuestionText {
  const ip = parseAddress(text);
  if (ip === null) throw notOne(text);
  return { ip, text: formatAddress(ip), requestId };
}

function notOne(text: string | undefined): Error {
  return new Error(`${text} is no address`);
}

/** The same items in random order. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other] as T, list[last] as T];
  }
  return list;
}
