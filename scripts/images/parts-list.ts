/** Lists of parts (SBOM) in the form of CycloneDX, made of npm's. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const bytesMax = 1 << 26;

export interface Part {
  /** `name@version`. */
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  /** `excluded`: not in what runs. */
  scope?: "required" | "optional" | "excluded";
  properties?: readonly { readonly name: string; readonly value: string }[];
}

export interface PartsList {
  components: Part[];
  dependencies?: { readonly ref: string; dependsOn?: string[] }[];
}

/** Everything that the lockfile names, development tools included. Cost: one run of npm, without the network. */
export async function readPartsList(root: string): Promise<PartsList> {
  // `--omit=dev` would also leave out what one of our packages needs at run time and another one only in its tests.
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--loglevel=error"];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: bytesMax });
  return JSON.parse(stdout) as PartsList;
}

/** Leaves only these parts, and what they need among themselves. */
export function keepParts(list: PartsList, kept: ReadonlySet<string>): void {
  list.components = list.components.filter((part) => kept.has(part["bom-ref"]));
  const refs = new Set(list.components.map((part) => part["bom-ref"]));
  list.dependencies = (list.dependencies ?? [])
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
}

/** Says of each part whether it is in what runs: npm's own word on it is wrong where two of our packages need a part for different ends. */
export function markRuntime(list: PartsList, runtime: ReadonlySet<string>): void {
  for (const part of list.components) {
    part.scope = runtime.has(part["bom-ref"]) ? "required" : "excluded";
    part.properties = (part.properties ?? []).filter(({ name }) => name !== "cdx:npm:package:development");
  }
}
