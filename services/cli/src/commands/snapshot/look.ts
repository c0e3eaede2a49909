/** `netfacts snapshot list`, `show`, `verify` and `pack`: what is kept, what is in it, whether it is whole, and one file of it. */

import { loadSnapshot, type Manifest, openPack, type SectionEntry, writePack } from "@netfacts/dataset";
import type { Command } from "commander";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { printJson, printLines, tableLines } from "../../output.ts";
import { recordLines } from "../../record-text.ts";
import { openNamed, refuse, snapshotOption } from "../../snapshot-option.ts";

export const lookCommands: RegisterCommand = (group, context) => {
  const command = (name: string, description: string): Command => group.command(name).description(description).addOption(snapshotOption());
  const print = (of: Command, value: unknown, lines: readonly string[]): void => {
    if (sharedSettings(of).json) printJson(context, value);
    else printLines(context, lines);
  };

  command("list", "the kept snapshots, oldest first").action(async (_options: unknown, self: Command) => {
    const { store, manifest: current } = await openNamed(self);
    const manifests = await Promise.all((await store.list()).map((id) => store.getManifest(id))).catch(refuse);
    const rows = manifests.map((manifest) => [manifest.id, manifest.id === current.id ? "current" : "", sectionTexts(manifest).join(", ")]);
    print(
      self,
      { snapshots: manifests.map(({ id }) => ({ id, current: id === current.id })) },
      tableLines(["SNAPSHOT", "", "SECTIONS"], rows),
    );
  });

  command("show", "the manifest: sections, sources, counts").action(async (_options: unknown, self: Command) => {
    const { manifest } = await openNamed(self);
    print(self, manifest, recordLines(manifest));
  });

  command("verify", "read every object, check digests, bounds and order").action(async (_options: unknown, self: Command) => {
    const { store, manifest, packed } = await openNamed(self);
    await loadSnapshot(store, manifest).catch(refuse);
    // A pack leaves out what only ingest reads.
    if (!packed) for (const { object, bytes } of Object.values(manifest.ingest_objects)) await store.getObject(object, bytes).catch(refuse);
    print(self, { id: manifest.id, whole: true }, [`${manifest.id} is whole: ${sectionTexts(manifest).join(", ")}`]);
  });

  command("pack", "write the snapshot into one file")
    .argument("<file>", "file to write; it appears whole or not at all")
    .action(async (file: string, _options: unknown, self: Command) => {
      const { store, manifest } = await openNamed(self);
      await writePack(store, manifest.id, file).catch(refuse);
      await loadSnapshot(await openPack(file), manifest).catch(refuse);
      print(self, { id: manifest.id, file }, [`${manifest.id} packed into ${file}, and read back`]);
    });
};

function sectionTexts(manifest: Manifest): string[] {
  return (Object.entries(manifest.sections) as [string, SectionEntry][]).map(([name, { version }]) => `${name} ${version}`);
}
