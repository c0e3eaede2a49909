/** `netfacts snapshot list`, `show`, `verify` and `pack`: the kept snapshots, their content, their integrity, and one as a file. */

import { type Manifest, type OpenedSnapshot, openPack, type SectionEntry, type SnapshotPointer, writePack } from "@netfacts/snapshot";
import type { Command } from "commander";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { interruptible } from "../../interrupt.ts";
import { printJson, printLines, tableLines } from "../../output.ts";
import { cannotWrite, refuseExisting } from "../../output-file.ts";
import { recordLines } from "../../record-text.ts";
import { refuse, snapshotOption } from "../../snapshot-option.ts";
import { load, natsOption, withSnapshots } from "./snapshots.ts";

export const lookCommands: RegisterCommand = (group, context) => {
  const print = (of: Command, value: unknown, lines: readonly string[]): void => {
    if (sharedSettings(of).json) printJson(context, value);
    else printLines(context, lines);
  };
  /** Makes a command for one snapshot: the named one, else the current one. */
  const about = (command: Command, work: (opened: OpenedSnapshot, self: Command, argument: string) => Promise<void>): Command =>
    command
      .addOption(snapshotOption("data folder, manifest in one, pack, or id of a kept snapshot (default: the current one)"))
      .addOption(natsOption())
      .action(async (...given: unknown[]) => {
        const self = given.at(-1) as Command;
        await withSnapshots(self, async ({ find }) => work(await find(self.opts<{ snapshot?: string }>().snapshot), self, `${given[0]}`));
      });

  about(group.command("list").description("list the kept snapshots, oldest first"), async ({ store }, self) => {
    const pointer = await store.pointer().catch(refuse);
    const manifests = await Promise.all((await store.list().catch(refuse)).map((id) => store.getManifest(id))).catch(refuse);
    const rows = manifests.map((manifest) => [manifest.id, standing(manifest.id, pointer), sectionTexts(manifest).join(", ")]);
    print(
      self,
      { snapshots: manifests.map(({ id }) => ({ id, current: id === pointer?.published, served: id === pointer?.active })) },
      tableLines(["SNAPSHOT", "", "SECTIONS"], rows),
    );
  });

  about(group.command("info").alias("show").description("show the manifest: sections, sources, counts"), async ({ manifest }, self) =>
    print(self, manifest, recordLines(manifest)),
  );

  about(group.command("verify").description("read every object and check digests, bounds and order"), async (opened, self) => {
    const { store, manifest, packed } = opened;
    await load(opened);
    // A pack does not have the objects that only ingest reads.
    if (!packed) for (const { object, bytes } of Object.values(manifest.ingest_objects)) await store.getObject(object, bytes).catch(refuse);
    print(self, { id: manifest.id, whole: true }, [`${manifest.id} is valid: ${sectionTexts(manifest).join(", ")}`]);
  });

  about(
    group
      .command("pack")
      .description("write the snapshot into one file")
      .argument("<file>", "file to create; it must not exist, and is created only when it is complete"),
    async ({ store, manifest }, self, file) => {
      refuseExisting(file);
      await interruptible((signal) => writePack(store, manifest.id, file, signal).catch((error) => refuse(cannotWrite(file, error))));
      await load({ store: await openPack(file), manifest, packed: true });
      print(self, { id: manifest.id, file }, [`${manifest.id} written to ${file} and verified`]);
    },
  );
};

/** State of a snapshot. If the active one is not the last published one, pods are still loading the latter, or have refused it. */
function standing(id: string, pointer: SnapshotPointer | null): string {
  if (id === pointer?.published) return id === pointer.active ? "current" : "current, not served";
  return id === pointer?.active ? "served" : "";
}

function sectionTexts(manifest: Manifest): string[] {
  return (Object.entries(manifest.sections) as [string, SectionEntry][]).map(([name, { version }]) => `${name} ${version}`);
}
