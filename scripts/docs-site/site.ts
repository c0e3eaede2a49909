/**
 * Builds the documentation site: the repository's Markdown pages as plain HTML files in `docs/dist`, which the gateway serves at `/docs/`.
 * Does nothing if the sources have not changed.
 */

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { replaceFolder } from "../replace-folder.ts";
import { sitePages } from "./navigation.ts";
import type { WrittenSite } from "./write-site.ts";

const root = resolve(import.meta.dirname, "../..");

/** Folder that the gateway reads, from the root of the repository and of a bundle. */
export const docsSite = "docs/dist";
/** Script that searches the index in the browser. */
const searchScript = "services/console/src/docs/search.ts";
/** File of the site that says from which sources it was built. */
const builtFile = "built.json";

interface Built extends WrittenSite {
  /** SHA-256 of the sources. */
  readonly sources: string;
}

/** @returns paths of the modules in the script of the site, from the repository's root. */
export async function buildDocs(): Promise<readonly string[]> {
  const built = await readFile(join(root, docsSite, builtFile), "utf8").catch(() => null);
  if (built !== null) {
    const { sources, files, inputs } = JSON.parse(built) as Built;
    if (files.every((path) => existsSync(join(root, path))) && sources === hashOfSources(files)) return inputs;
  }
  // Loaded only now: each start of the services checks the sources, and what renders pages takes longer to load than that.
  const { writeSite } = await import("./write-site.ts");
  const folder = await mkdtemp(join(root, "docs", ".dist."));
  const written = await writeSite(folder, searchScript);
  await writeFile(join(folder, builtFile), JSON.stringify({ sources: hashOfSources(written.files), ...written } satisfies Built));
  await replaceFolder(folder, join(root, docsSite));
  return written.inputs;
}

function hashOfSources(files: readonly string[]): string {
  const hash = createHash("sha256");
  const programs = globSync("scripts/docs-site/**/*.*", { cwd: root });
  for (const path of [...sitePages(root), ...programs, ...files, searchScript, "package-lock.json"].sort())
    hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}
