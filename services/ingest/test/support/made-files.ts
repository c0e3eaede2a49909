/** Small source files of every format, and runs over them in a folder of their own. */

import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderStore, type SnapshotStore } from "@netfacts/snapshot";
import { peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { readSources, type SourcesConfig } from "../../src/app.ts";

/** A RIB of two peers with so many /24s; the first three have an origin of their own. */
export function ribFile(prefixes = 20, timestamp = 1_763_715_300): Buffer {
  const peers = [
    { address: "192.0.2.1", asn: 64500 },
    { address: "192.0.2.2", asn: 64501 },
  ];
  const records = Array.from({ length: prefixes }, (_, at) =>
    ribRecord(
      `11.0.${at}.0/24`,
      [
        { peer: 0, path: `64500 ${at < 3 ? at + 1 : 9}` },
        { peer: 1, path: "64501 9" },
      ],
      { timestamp },
    ),
  );
  return Buffer.concat([peerIndexRecord(peers, "", 0, timestamp), ...records]);
}

export function delegatedFile(registry = "ripencc", records = 10, day = "20251120"): string {
  const lines = Array.from({ length: records }, (_, at) => `${registry}|NL|ipv4|11.0.${at}.0|256|20200101|allocated|holder-${at}`);
  return [`2|${registry}|${day}|${records}|19830101|${day}|+0100`, `${registry}|*|ipv4|*|${records}|summary`, ...lines, ""].join("\n");
}

export function vrpFile(count = 10, buildtime = "2025-11-21T08:50:12Z"): string {
  const roas = Array.from({ length: count }, (_, at) => ({
    asn: 9,
    prefix: `11.0.${at}.0/24`,
    maxLength: at === 0 ? 25 : 24,
    ta: "ripe",
    expires: 1_900_000_000,
  }));
  return JSON.stringify({ metadata: { buildtime }, roas });
}

export function namesFile(count = 10): string {
  return Array.from({ length: count }, (_, at) => `${at + 1}\tNAME-${at + 1}\n`).join("");
}

export interface Workplace {
  readonly folder: string;
  readonly store: SnapshotStore;
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** Writes `sources.yaml` and reads it. */
  sources(yaml: string): Promise<SourcesConfig>;
  /** Every file of the store with its content: what served must stay as it is, byte for byte. */
  current(): Promise<string>;
}

/** What most tests run: all four sections, required. */
export const allSources = `
full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: rib, section: routes, format: mrt, location: rib}
  - {name: ripe, section: allocations, format: delegated, location: ripe}
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}
  - {name: names, section: as_names, format: name-list, location: names}
`;

/** Marks sources as optional. */
export const optional = (yaml: string, ...names: string[]): string =>
  names.reduce((text, name) => text.replace(`{name: ${name},`, `{name: ${name}, required: false,`), yaml);

export async function atWork<T>(use: (place: Workplace) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-ingest-"));
  const store = openFolderStore(join(folder, "snapshots"));
  const write = async (name: string, content: string | Uint8Array) => {
    await writeFile(join(folder, name), content);
    // Names tell no date of their own: the file's is theirs.
    await utimes(join(folder, name), 1_763_700_000, 1_763_700_000);
  };
  try {
    await write("rib", ribFile());
    await write("ripe", delegatedFile());
    await write("vrps", vrpFile());
    await write("names", namesFile());
    return await use({
      folder,
      store,
      write,
      sources: async (yaml) => {
        await write("sources.yaml", yaml);
        return readSources(join(folder, "sources.yaml"));
      },
      current: async () => {
        const id = await store.currentId();
        if (id === null) return "none";
        const manifest = await readFile(join(folder, "snapshots", "manifests", `${id}.json`), "utf8");
        const objects = Object.values((await store.getManifest(id)).sections).map(({ object }) =>
          readFile(join(folder, "snapshots", "objects", object), "latin1"),
        );
        return [await readFile(join(folder, "snapshots", "current"), "utf8"), manifest, ...(await Promise.all(objects))].join("\n");
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
