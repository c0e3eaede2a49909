/** A snapshot of made sections: as objects, as a generation, and published in a folder. */

import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrefixTrie } from "@netfacts/prefix-trie";
import {
  type AllocationsColumns,
  type AsNamesColumns,
  type AspasColumns,
  encodeColumns,
  Generation,
  kindOf,
  type LoadedSnapshot,
  type LocationsColumns,
  loadSection,
  type Manifest,
  type NetworkTypesColumns,
  type ProfilesColumns,
  type PublishOptions,
  type RouteOverlay,
  type RoutesColumns,
  type SectionColumns,
  type SectionEntry,
  type SectionName,
  type SnapshotStore,
  sealManifest,
  sectionNames,
  type VrpsColumns,
} from "../../src/index.ts";

import { routePrefixes } from "../../src/sections/routes.ts";

export const madeAsOf = "2026-11-21T08:55:00Z";

export interface MadeSnapshot {
  readonly routes?: RoutesColumns;
  readonly vrps?: VrpsColumns;
  readonly aspas?: AspasColumns;
  readonly allocations?: AllocationsColumns;
  readonly names?: AsNamesColumns;
  readonly profiles?: ProfilesColumns;
  readonly networkTypes?: NetworkTypesColumns;
  readonly locations?: LocationsColumns;
  readonly peersTotal?: { ipv4: number; ipv6: number };
  readonly matchPeersMin?: number;
  readonly sampleData?: boolean;
  readonly asOf?: string;
  /** The sections that it lacks were removed on purpose. Default: they were not, and a pod that serves one refuses it. */
  readonly removesOthers?: boolean;
  /** What else a section's entry says. */
  readonly entry?: Partial<SectionEntry>;
}

/** The objects of a made snapshot by section. */
export function madeObjects(made: MadeSnapshot): Partial<Record<SectionName, Buffer>> {
  const columns: { readonly [S in SectionName]: SectionColumns<S> | undefined } = {
    routes: made.routes,
    vrps: made.vrps,
    aspas: made.aspas,
    allocations: made.allocations,
    as_names: made.names,
    profiles: made.profiles,
    network_types: made.networkTypes,
    locations: made.locations,
  };
  return Object.fromEntries(
    sectionNames.flatMap((name) => (columns[name] === undefined ? [] : [[name, encodeColumns(kindOf(name).format, columns[name])]])),
  );
}

export function madeManifest(made: MadeSnapshot): Manifest {
  const objects = madeObjects(made);
  const sections: Manifest["sections"] = {};
  for (const name of sectionNames) {
    const object = objects[name];
    if (object === undefined) continue;
    sections[name] = {
      object: createHash("sha256").update(object).digest("hex"),
      bytes: object.length,
      version: "1",
      as_of: made.asOf ?? madeAsOf,
      stale_after_seconds: null,
      interval_seconds: null,
      counts: {},
      sources: [{ name: `${name}-source`, format: "made", sha256: "", as_of: madeAsOf, accepted: 1, skipped: 0, error: null }],
      ...(name === "routes" && {
        peers_total: made.peersTotal ?? { ipv4: 10, ipv6: 10 },
        collectors: ["rrc00"],
        match_peers_min: made.matchPeersMin ?? 2,
      }),
      ...made.entry,
    };
  }
  const lacking = sectionNames.filter((name) => sections[name] === undefined);
  return sealManifest({
    sample_data: made.sampleData ?? false,
    sections,
    ingest_objects: {},
    ...(made.removesOthers === true && { removed_sections: lacking }),
  });
}

/** A copy of bytes in shared memory, as a store hands them out. */
export function shared(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

export function madeGeneration(made: MadeSnapshot, overlay: RouteOverlay | null = null): Generation {
  const sections: Record<string, ReturnType<typeof loadSection>> = {};
  for (const [name, object] of Object.entries(madeObjects(made))) sections[name] = loadSection(name as SectionName, shared(object));
  return Generation.of({ manifest: madeManifest(made), sections } as LoadedSnapshot, overlay);
}

/** Routes that changed since the snapshot; none of its own is removed. */
export function madeOverlay(columns: RoutesColumns): RouteOverlay {
  return { columns, trie: PrefixTrie.build(routePrefixes(columns)), removed: new Uint8Array(2) };
}

/** Stores the objects and publishes the manifest. */
export async function publishMade(store: SnapshotStore, made: MadeSnapshot, options: PublishOptions = {}): Promise<Manifest> {
  for (const object of Object.values(madeObjects(made))) await store.putObject(object);
  const manifest = madeManifest(made);
  await store.publish(manifest, options);
  return manifest;
}

/** Runs with a folder of its own, which is removed afterwards. */
export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-dataset-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
