/** Lists of parts (SBOM) in CycloneDX format, made from npm's list. */

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
  /** `excluded`: not needed at run time. */
  scope?: "required" | "optional" | "excluded";
  properties?: readonly { readonly name: string; readonly value: string }[];
}

export interface PartsList {
  components: Part[];
  dependencies?: { readonly ref: string; dependsOn?: string[] }[];
}

/** All packages of the lockfile, with development tools. Cost: one run of npm, without the network. */
export async function readPartsList(root: string): Promise<PartsList> {
  // `--omit=dev` would also omit a package that one of ours needs at run time if another of ours needs it only in tests.
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--loglevel=error"];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: bytesMax });
  return JSON.parse(stdout) as PartsList;
}

/** Removes all other parts, and dependencies on them. */
export function keepParts(list: PartsList, kept: ReadonlySet<string>): void {
  list.components = list.components.filter((part) => kept.has(part["bom-ref"]));
  const refs = new Set(list.components.map((part) => part["bom-ref"]));
  list.dependencies = (list.dependencies ?? [])
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
}

/** Marks whether each part is needed at run time. npm's own mark is wrong if one of our packages needs the part at run time, another in tests. */
export function markRuntime(list: PartsList, runtime: ReadonlySet<string>): void {
  for (const part of list.components) {
    part.scope = runtime.has(part["bom-ref"]) ? "required" : "excluded";
    part.properties = (part.properties ?? []).filter(({ name }) => name !== "cdx:npm:package:development");
  }
}
