/**
 * Makes bundles import from the module that has a name, and not from the index of its package. esbuild takes each module that an index names into
 * the chunks of everything that imports the index, so that a thread that asks for the code of a country loads the schemas of all records.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where a name comes from: the module, and its name there. */
interface Origin {
  readonly module: string;
  readonly name: string;
}

const imports = /^import \{([^}]*)\} from "(@netfacts\/[^"]+)";/gm;
const exports = /^export \{([^}]*)\} from "(\.[^"]+)";/gm;

/**
 * @param root  absolute path of the repository.
 * @returns a function that rewrites the source text of a module. Lines keep their numbers. Names that an index does not export from a module of its
 * own, and imports of whole packages, stay as they are.
 */
export function directImports(root: string): (text: string) => string {
  const indexes = new Map<string, ReadonlyMap<string, Origin>>();
  const originsOf = (specifier: string): ReadonlyMap<string, Origin> => {
    const known = indexes.get(specifier) ?? originsIn(indexOf(root, specifier));
    indexes.set(specifier, known);
    return known;
  };
  return (text) =>
    text.replace(imports, (whole, names: string, specifier: string) => {
      const origins = originsOf(specifier);
      const statements = namesIn(names).map(([name, local]) => {
        const origin = origins.get(name);
        return origin === undefined ? importOf(name, local, specifier) : importOf(origin.name, local, origin.module);
      });
      return statements.join(" ") + "\n".repeat(whole.split("\n").length - 1);
    });
}

function importOf(name: string, local: string, from: string): string {
  return `import { ${name} as ${local} } from ${JSON.stringify(from)};`;
}

/** The values in the braces of an import or export, each with the name that it gets. Types are left out. */
function namesIn(braces: string): [name: string, local: string][] {
  if (braces.includes("/")) throw new Error(`bundles cannot read a comment in the braces of an import or export: {${braces}}`);
  return braces
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("type "))
    .map((part) => {
      const [name = "", local = name] = part.split(" as ");
      return [name, local];
    });
}

/** The source of a package's index; null if it is not of this house, or has none. */
function indexOf(root: string, specifier: string): string | null {
  const [scope = "", name = "", ...rest] = specifier.split("/");
  const folder = join(root, "libs", name);
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const source = manifest.exports?.[rest.length === 0 ? "." : `./${rest.join("/")}`]?.source;
    return manifest.name === `${scope}/${name}` && typeof source === "string" ? join(folder, source) : null;
  } catch {
    return null;
  }
}

function originsIn(index: string | null): ReadonlyMap<string, Origin> {
  const origins = new Map<string, Origin>();
  if (index === null) return origins;
  for (const [, names = "", module = ""] of readFileSync(index, "utf8").matchAll(exports))
    for (const [name, exported] of namesIn(names)) origins.set(exported, { module: join(dirname(index), module), name });
  return origins;
}
