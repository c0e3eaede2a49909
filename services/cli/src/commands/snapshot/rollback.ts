/** `netfacts snapshot rollback`: makes an earlier snapshot the current one. */

import { existsSync } from "node:fs";
import type { ActivationOutcome } from "@netfacts/ingest/app";
import { rollbackManifest, takenBackBy } from "@netfacts/snapshot";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings, storePath } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines, printNote } from "../../output.ts";
import { refuse } from "../../snapshot-option.ts";
import { databaseUri, type StoreUse, withStore, writeAudit } from "../control-store.ts";
import { findPrevious, load, natsOption, type Snapshots, withSnapshots } from "./snapshots.ts";

export const rollbackCommand: RegisterCommand = (group, context) => {
  group
    .command("rollback")
    .description("make an earlier snapshot the current one, after it has been verified; the next import publishes as usual")
    .argument("[id]", "id, as in `snapshot list` (default: the snapshot before the current one)")
    .addOption(natsOption())
    .action(async (named: string | undefined, _options: unknown, command: Command) =>
      withSnapshots(command, async (snapshots) => {
        const audit = (target: string, replaces: string) => auditRollback(target, replaces, snapshots, { command, context });
        const { id, replaced, activation } = await rollBack(snapshots, named, audit);
        if (sharedSettings(command).json) printJson(context, { id, replaced, ...(activation && { pods: podsOf(activation) }) });
        else printLines(context, [endOf(id, replaced, activation)]);
      }),
    );
};

/** Audits the rollback like the operator API. If the store of keys is unknown, a note says that nothing is audited. */
async function auditRollback(
  target: string,
  replaces: string,
  { activate }: Snapshots,
  { command, context }: Pick<StoreUse, "command" | "context">,
): Promise<void> {
  const change = { action: "snapshot.rollback", target, details: { replaces } } as const;
  const isShared = activate !== null;
  const path = storePath(sharedSettings(command));
  if (databaseUri() !== "" || (!isShared && existsSync(path)))
    return withStore({ command, context, create: false }, (store) => writeAudit(store, change, context));
  const reason = isShared ? "MONGODB_URI is not set" : `there is no store ${path}`;
  printNote(context, `the rollback is not in the audit log: ${reason}`);
}

/** @param beforeChange  called with the ids of the earlier snapshot and of the current one. */
async function rollBack(
  snapshots: Snapshots,
  named: string | undefined,
  beforeChange: (target: string, replaces: string) => Promise<void>,
) {
  const { store, manifest: current } = await snapshots.find();
  const earlier = named ?? (await findPrevious(snapshots));
  if (!(await store.list().catch(refuse)).includes(earlier))
    throw new CliError(
      exitCodes.notFound,
      `${snapshots.place}: there is no snapshot ${earlier}; \`netfacts snapshot list\` lists all that are kept`,
    );
  const pointer = await store.pointer().catch(refuse);
  if (pointer?.published === earlier && pointer.active === earlier)
    throw new CliError(exitCodes.refused, `${earlier} is already the current snapshot; nothing was changed`);
  const wanted = await snapshots.find(earlier);
  await load(wanted);
  const manifest = rollbackManifest(current, wanted.manifest);
  const { id } = manifest;
  await beforeChange(earlier, current.id);
  // Equal ids: an unfinished rollback has already published it, but it is not served.
  if (id !== current.id) {
    const takenBack = takenBackBy(current, manifest, await store.takenBack().catch(refuse));
    // An import of another process may have stored objects that it has not published yet.
    await store.publish(manifest, { replaces: current.id, isAlone: false, takenBack }).catch(refuse);
  }
  const activation = snapshots.activate === null ? null : await snapshots.activate(id);
  if (activation?.activated === false)
    throw new CliError(exitCodes.untrusted, [
      `${id} is published, but every pod rejected it; they continue to serve the previous snapshot`,
      ...activation.refused.map(({ pod, reason }) => `${pod}: ${reason}`),
    ]);
  return { id, replaced: id === current.id ? (pointer?.active ?? null) : current.id, activation };
}

function podsOf({ loaded, refused, loading }: ActivationOutcome) {
  return { loaded, refused, loading };
}

function endOf(id: string, replaced: string | null, activation: ActivationOutcome | null): string {
  const begun = `${id} is now the current snapshot, replacing ${replaced}`;
  if (activation === null) return `${begun}; running services load it within a second`;
  const { loaded, refused, loading } = activation;
  const behind = [
    ...refused.map(({ pod, reason }) => `${pod} rejected it (${reason})`),
    ...loading.map((pod) => `${pod} is still loading it`),
  ];
  return [`${begun}; ${loaded.length} ${loaded.length === 1 ? "pod has" : "pods have"} loaded it and serve it`, ...behind].join("; ");
}
