/** `make sbom`: writes the parts of the whole source tree as CycloneDX to dist/netfacts.cdx.json. */

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { markRuntime, readPartsList } from "./images/parts-list.ts";
import { identity, lockedPackages, ownIdentities, runtimePackages } from "./images/production-packages.ts";

const root = resolve(import.meta.dirname, "..");
const path = join(root, "dist/netfacts.cdx.json");

const locked = await lockedPackages(root);
const list = await readPartsList(root);
markRuntime(list, new Set([...runtimePackages(locked).map((place) => identity(place, locked)), ...ownIdentities(locked)]));
await mkdir(join(root, "dist"), { recursive: true });
await writeFile(path, `${JSON.stringify(list, null, 1)}\n`);
const required = list.components.filter(({ scope }) => scope === "required").length;
console.log(`${path}: ${list.components.length} parts, ${required} of them in what runs`);
