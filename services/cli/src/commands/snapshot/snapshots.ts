/** The snapshots for commands: those of a data folder, or of the store that several services share. */

import { isSnapshotId } from "@netfacts/contracts";
import type { ActivationOutcome } from "@netfacts/ingest/app";
import type { ConnectOptions } from "@netfacts/messaging/nats";
import { Generation, loadSnapshot, type OpenedSnapshot, openSnapshot, openSnapshots, type SnapshotStore } from "@netfacts/snapshot";
import { type Command, Option } from "commander";
import { CliError } from "../../cli-error.ts";
import { sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { refuse } from "../../snapshot-option.ts";

export interface Snapshots {
  /** Name of the place in messages. */
  readonly place: string;
  /** The snapshot with an id, at the path of a data folder, manifest or pack, or the current one. Throws `CliError`. */
  find(name?: string): Promise<OpenedSnapshot>;
  /** The store at a path, or of the place; reads none of its snapshots. Throws `CliError` if there is none. */
  storeOf(path?: string): Promise<SnapshotStore>;
  /** Makes all pods serve the last published snapshot; null: publishing does that already. */
  activate: ((id: string) => Promise<ActivationOutcome>) | null;
}

export const natsOption = (): Option =>
  new Option(
    "--nats <url>",
    "NATS server with the snapshot store of running services (default: NATS_URL; the data folder if that is not set or --data-dir is given)",
  );

/** Opens the place that the command line or the environment names, uses it, and closes it. */
export async function withSnapshots<T>(command: Command, work: (snapshots: Snapshots) => Promise<T>): Promise<T> {
  const servers = sharedServers(command);
  if (servers !== null) return withShared(servers, work);
  const { dataDir } = sharedSettings(command);
  const find = async (name: string = dataDir): Promise<OpenedSnapshot> => {
    if (!isSnapshotId(name)) return openSnapshot(name).catch(refuse);
    const { store, packed } = await openSnapshot(dataDir).catch(refuse);
    return { store, packed, manifest: await store.getManifest(name).catch(refuse) };
  };
  const storeOf = async (path: string = dataDir) => (await openSnapshots(path).catch(refuse)).store;
  return work({ place: dataDir, find, storeOf, activate: null });
}

/** Servers from the option, else from the environment. Null: use the data folder, like every command without the option. */
function sharedServers(command: Command): { readonly servers?: string } | null {
  if (!command.options.some((option) => option.attributeName() === "nats")) return null;
  const { nats } = command.opts<{ nats?: string }>();
  if (nats !== undefined) return { servers: nats };
  const isShared = Boolean(process.env.NATS_URL || process.env.NATS_URL_FILE);
  return !isShared || command.getOptionValueSourceWithGlobals("dataDir") === "cli" ? null : {};
}

/** Loads the NATS client, only here. */
async function withShared<T>({ servers }: { readonly servers?: string }, work: (snapshots: Snapshots) => Promise<T>): Promise<T> {
  const [{ connectJetStreamStore, snapshotsBucketDefault }, { natsConnection, noServer }] = await Promise.all([
    import("@netfacts/pod/jetstream"),
    import("../../nats.ts"),
  ]);
  const bucket = process.env.SNAPSHOT_BUCKET || snapshotsBucketDefault;
  const place = `bucket ${bucket}`;
  const connection = natsConnection(servers);
  const opened = await connectJetStreamStore({ bucket, connection, retention: null }).catch(noServer);
  const { store } = opened;
  const noSnapshot = () => new CliError(exitCodes.notFound, `${place}: contains no snapshot; run an import to publish one`);
  const find = async (name?: string): Promise<OpenedSnapshot> => {
    if (name !== undefined && !isSnapshotId(name)) return openSnapshot(name).catch(refuse);
    const id = name ?? (await store.currentId().catch(refuse));
    if (id === null) throw noSnapshot();
    return { store, packed: false, manifest: await store.getManifest(id).catch(refuse) };
  };
  const storeOf = async (path?: string): Promise<SnapshotStore> => {
    if (path !== undefined) return (await openSnapshots(path).catch(refuse)).store;
    if ((await store.currentId().catch(refuse)) === null) throw noSnapshot();
    return store;
  };
  try {
    return await work({ place, find, storeOf, activate: (id) => activateAll(connection, store, id) });
  } finally {
    await opened.close();
  }
}

/** Activates like ingest: pods serve the snapshot when every pod that reports has loaded it, or the time limit has passed. */
async function activateAll(connection: ConnectOptions, store: SnapshotStore, id: string): Promise<ActivationOutcome> {
  const [{ ActivationCoordinator }, { openNatsMessaging }, { podReportIntervalMs }] = await Promise.all([
    import("@netfacts/ingest/app"),
    import("../../nats.ts"),
    import("@netfacts/pod"),
  ]);
  const broadcast = await openNatsMessaging(connection);
  // No pod is known at first: wait for a report of each.
  const coordinator = new ActivationCoordinator({ broadcast, store, settings: { discoverMs: podReportIntervalMs + 1_000 } });
  try {
    coordinator.start();
    return await coordinator.activate(id).catch(refuse);
  } finally {
    await coordinator.stop();
    await broadcast.close();
  }
}

/** Loads a snapshot, which reads and checks all of it. Throws `CliError`. */
export async function load({ store, manifest }: OpenedSnapshot): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, manifest).catch(refuse));
}

/** Id of the snapshot that was published before the current one. Throws `CliError` if none is kept. */
export async function findPrevious({ place, find }: Snapshots): Promise<string> {
  const { store, manifest } = await find();
  const ids = await store.list().catch(refuse);
  const previous = ids[ids.indexOf(manifest.id) - 1];
  if (previous === undefined)
    throw new CliError(exitCodes.notFound, `${place}: there is no snapshot from before ${manifest.id}, the current one`);
  return previous;
}
