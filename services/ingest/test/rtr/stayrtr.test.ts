/** The client against Debian's stayrtr: whole sets, deltas, both versions, TLS; against the two exports of half an hour, an independent difference. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { vrpsOf } from "@netfacts/rpki/rtr";
import { toolOrNotRun } from "../../../../test/support/debian.ts";
import { type ExportedRoa, parseExportLine, readExportLines, roaText, thinnedExports } from "../../../../test/support/rpki-export.ts";
import { findStayrtr, type StayrtrOptions, startStayrtr } from "../../../../test/support/stayrtr.ts";
import { fetchVrps, type RtrChange, RtrClient, type RtrData, readCacheList } from "../../src/rtr/index.ts";
import type { RtrClientOptions } from "../../src/rtr/rtr-client.ts";
import { fullSizeData } from "../support/full-size-data.ts";

type Roa = Omit<ExportedRoa, "expires">;

/** Getting the tool the first time, and a machine that is busy. */
const timeoutMs = 180_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

let isThere = false;
beforeAll(async () => {
  isThere = toolOrNotRun(await findStayrtr(), "stayrtr", 5) !== null;
}, timeoutMs);

async function stayrtr(roas: readonly Roa[], options: StayrtrOptions = {}) {
  const server = await startStayrtr(roas, options);
  stops.push(() => server.stop());
  return server;
}

function follow(url: string, more: Partial<RtrClientOptions> = {}) {
  const changes: RtrChange[] = [];
  let look: () => void = () => undefined;
  const client = new RtrClient({
    caches: readCacheList(url) ?? [],
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    session: { notifiedQueryMsMin: 0 },
    onChange(change) {
      changes.push(change);
      look();
    },
    ...more,
  });
  stops.push(() => client.stop());
  client.start();
  return {
    client,
    changes,
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        look = () => holds() && resolve();
        look();
      }),
  };
}

const contentOf = (data: RtrData | null) =>
  data === null
    ? null
    : [...vrpsOf(data.records)].map(({ prefix, maxLength, asn }) => roaText({ prefix: formatPrefix(prefix), maxLength, asn })).sort();

const roa = (prefix: string, asn: number, maxLength = Number(prefix.split("/")[1])): Roa => ({ prefix, asn, maxLength, ta: "ripe" });
const some = [roa("192.0.2.0/24", 1), roa("192.0.2.0/24", 1, 25), roa("2001:db8::/32", 4_294_967_295, 48), roa("198.51.100.0/24", 0)];
const textsOf = (roas: readonly Roa[]) => roas.map(roaText).sort();

test(
  "has what stayrtr serves, in one run's reading and in a session that follows it",
  async () => {
    if (!isThere) return;
    const server = await stayrtr(some);
    const data = await fetchVrps({ caches: readCacheList(server.url) ?? [], timeoutMs });
    expect(contentOf(data)).toEqual(textsOf(some));
    expect(data.version).toBe(1);

    const { client, changes, until } = follow(server.url);
    await until(() => changes.length === 1);
    const next = [...some.slice(1), roa("203.0.113.0/24", 7)];
    server.serve(next);
    await until(() => changes.length === 2);
    expect(changes[1]).toMatchObject({ kind: "updated", added: 1, withdrawn: 1, vrps: 4 });
    expect(contentOf(client.current())).toEqual(textsOf(next));
  },
  timeoutMs,
);

test.each([0, 1, 2])(
  "agrees on a version with a cache that speaks %d at most",
  async (protocol) => {
    if (!isThere) return;
    const server = await stayrtr(some, { protocol });
    const { client, changes, until } = follow(server.url);
    await until(() => changes.length === 1);
    expect(client.status()[0]).toMatchObject({ version: Math.min(protocol, 1), vrps: 4, state: "synchronised" });
    expect(contentOf(client.current())).toEqual(textsOf(some));
  },
  timeoutMs,
);

test(
  "follows the real change of half an hour as deltas, as an independent difference has it",
  async () => {
    const folders = fullSizeData("modern/rpki-client.20250720T0931.json.bz2", "modern/rpki-client.20250720T1001.json.bz2");
    if (!isThere || folders === null) return;
    const own = mkdtempSync(join(tmpdir(), "netfacts-rtr-exports-"));
    stops.push(() => rmSync(own, { recursive: true, force: true }));
    const pair = await thinnedExports([folders[0] ?? "", folders[1] ?? ""], own);
    const [before, after] = [await readExportLines(pair.paths[0]), await readExportLines(pair.paths[1])];
    // All that changed, and of the rest one in forty: the whole is a matter of size, not of meaning.
    const common = [...before.keys()].filter((key) => after.has(key)).filter((_, at) => at % 4 === 0);
    const gone = [...before.keys()].filter((key) => !after.has(key));
    const come = [...after.keys()].filter((key) => !before.has(key));
    expect([...pair.vrps, come.length, gone.length]).toEqual([723_521, 723_524, 9, 6]);
    const roasOf = (lines: ReadonlyMap<string, string>, keys: readonly string[]): Roa[] =>
      keys.map((key) => parseExportLine(lines.get(key) ?? ""));
    const first = roasOf(before, [...common, ...gone]);
    const second = roasOf(after, [...common, ...come]);

    const server = await stayrtr(first);
    const { client, changes, until } = follow(server.url);
    await until(() => changes.length === 1);
    expect(changes[0]).toMatchObject({ vrps: first.length });
    server.serve(second);
    await until(() => changes.length === 2);
    expect(changes[1]).toMatchObject({ added: 9, withdrawn: 6, vrps: second.length });
    expect(contentOf(client.current())).toEqual(textsOf(second));
  },
  timeoutMs,
);

test(
  "goes over TLS to a cache whose certificate is trusted, and to no other",
  async () => {
    if (!isThere) return;
    const folder = mkdtempSync(join(tmpdir(), "netfacts-rtr-tls-"));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    const [certificate, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate, ...names],
      {
        stdio: "ignore",
      },
    );
    const server = await stayrtr(some, { tls: { certificate, key } });
    const caches = readCacheList(server.url) ?? [];
    await expect(fetchVrps({ caches, timeoutMs })).rejects.toThrow("self-signed certificate");
    const program = `
      import { fetchVrps, readCacheList } from ${JSON.stringify(join(import.meta.dirname, "../../src/rtr/index.ts"))};
      const data = await fetchVrps({ caches: readCacheList(${JSON.stringify(server.url)}), timeoutMs: 60_000 });
      console.log(data.records.asn.length);`;
    const output = execFileSync(process.execPath, ["--conditions=source", "--input-type=module-typescript", "-e", program], {
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", NODE_EXTRA_CA_CERTS: certificate, NODE_NO_WARNINGS: "1" },
    });
    expect(output.trim()).toBe("4");
  },
  timeoutMs,
);
