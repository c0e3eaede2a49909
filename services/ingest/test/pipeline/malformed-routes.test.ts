/** Routes with malformed attributes in a RIB: each is left out alone, and a table that has too many of them is refused. */

import { expect, test } from "@jest/globals";
import { parsePrefix } from "@netfacts/address";
import { AnswerNotes, prefixRecord } from "@netfacts/records";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import { attribute, mrtRecord, peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { IngestError, runIngest } from "../../src/app.ts";
import { atWork } from "../support/made-files.ts";

const settings = "full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n  - {name: rrc00, section: routes, format: mrt, location: rib}\n";
const timestamp = 1_763_715_300;
const peers = [64500, 64501, 64502].map((asn, at) => ({ address: `192.0.2.${at + 1}`, asn }));
/** A segment without AS numbers. */
const emptySegment = attribute(0x40, 2, Buffer.of(2, 0));

/** A table of three peers and 100 prefixes; in the first `damaged` of them the first peer's path is malformed. */
function table(damaged: number): Buffer {
  const records = Array.from({ length: 100 }, (_, at) => {
    const routes = peers.map(({ asn }, peer) => ({ peer, path: `${asn} 9` }));
    const [, ...others] = routes;
    const listed = at < damaged ? [{ peer: 0, path: null, before: emptySegment }, ...others] : routes;
    return ribRecord(`11.0.${at}.0/24`, listed, { timestamp });
  });
  return Buffer.concat([peerIndexRecord(peers, "", 0, timestamp), ...records]);
}

test("the other peers' routes of the prefix are published, and the report says what was left out", async () => {
  await atWork(async (place) => {
    await place.write("rib", table(1));
    const report = await runIngest({ config: await place.sources(settings), store: place.store });
    expect(report.sources[0]).toMatchObject({ read: 100, accepted: 100, skipped: [] });
    expect(report.sources[0]?.notes).toContainEqual(
      expect.stringMatching(/^1 route was left out: bad-as-path: .* the first in the record at byte \d+$/),
    );
    const manifest = await place.store.getManifest(report.snapshot as string);
    const generation = Generation.of(await loadSnapshot(place.store, manifest));
    const reading = parsePrefix("11.0.0.0/24");
    if (!reading.ok) throw new TypeError("not a prefix");
    const { origins } = prefixRecord({ prefix: reading.prefix, limit: 10 }, new AnswerNotes(generation, timestamp * 1_000));
    expect(origins).toMatchObject([{ asn: 9, visibility: { peers_seeing: 2 } }]);
  });
});

test("more of them than bad_records_max allows refuse the table, with their number and the byte of the first", async () => {
  await atWork(async (place) => {
    await place.write("rib", table(4));
    const refused = await runIngest({ config: await place.sources(settings), store: place.store }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(IngestError);
    expect((refused as Error).message).toMatch(
      /byte \d+.*4 of 300 routes are malformed, more than bad_records_max allows; the first: bad-as-path: /,
    );
  });
});

test("a table of other kinds of records only is refused with their number, and kind and byte of the first", async () => {
  await atWork(async (place) => {
    const head = peerIndexRecord(peers, "", 0, timestamp);
    const multicast = Array.from({ length: 3 }, () => mrtRecord(13, 3, Buffer.alloc(7), timestamp));
    await place.write("rib", Buffer.concat([head, ...multicast]));
    await expect(runIngest({ config: await place.sources(settings), store: place.store })).rejects.toThrow(
      `rib: byte ${head.length}: contains no routes; 3 of 4 records were skipped, the first: other-record-type: TABLE_DUMP_V2 RIB_IPV4_MULTICAST`,
    );
  });
});
