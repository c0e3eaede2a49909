/** A list of some sources of the samples, where others cost time and prove nothing. */

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";

interface Sources {
  readonly sources: readonly { readonly name: string; readonly location: string }[];
}

/**
 * @param folder  where `sources.yaml` is written.
 * @param samples  folder of the samples.
 * @returns the path of the list.
 */
export function someSamples(folder: string, names: readonly string[], samples = resolve(import.meta.dirname, "../../samples")): string {
  const list = parse(readFileSync(join(samples, "sources.yaml"), "utf8")) as Sources;
  const sources = names.map((name) => {
    const source = list.sources.find((one) => one.name === name);
    if (source === undefined) throw new Error(`the samples have no source ${name}`);
    return { ...source, location: join(samples, source.location) };
  });
  const path = join(folder, "sources.yaml");
  writeFileSync(path, stringify({ ...list, sources }));
  return path;
}
