/** Bundles of threads import from the modules that have the names, and not from the indexes of packages. */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { build } from "esbuild";
import { directImports } from "../../scripts/direct-imports.ts";

const root = resolve(import.meta.dirname, "../..");
const direct = directImports(root);
const module = (path: string) => JSON.stringify(join(root, path));

test("a value comes from its module, by the name that it gets, and a type from nowhere", () => {
  expect(direct('import { isCountry as isAlpha2, type CountryCode } from "@netfacts/records";\nisAlpha2("NL");\n')).toBe(
    `import { isCountry as isAlpha2 } from ${module("libs/records/src/country-flag.ts")};\nisAlpha2("NL");\n`,
  );
});

test("lines keep their numbers", () => {
  const text = 'import {\n  formatPrefix,\n  type Prefix,\n  parsePrefix,\n} from "@netfacts/address";\nthrow new Error();\n';
  const rewritten = direct(text).split("\n");
  expect(rewritten).toHaveLength(text.split("\n").length);
  expect(rewritten.indexOf("throw new Error();")).toBe(5);
  const prefix = module("libs/address/src/prefix.ts");
  expect(rewritten[0]).toBe(
    `import { formatPrefix as formatPrefix } from ${prefix}; import { parsePrefix as parsePrefix } from ${prefix};`,
  );
});

test("further entries of a package are known, too", () => {
  expect(direct('import { openBus } from "@netfacts/runtime/bus";')).toMatch(/^import \{ openBus as openBus \} from ".*";$/);
  expect(direct('import { vrpsOf } from "@netfacts/rpki/rtr";')).toMatch(/from ".*\/libs\/rpki\/src\/rtr\/[a-z-]+\.ts";$/);
});

test.each([
  'import { unknown as unknown } from "@netfacts/address";',
  'import { some as some } from "@netfacts/no-such-package";',
  'import type { Prefix } from "@netfacts/address";',
  'import * as address from "@netfacts/address";',
  'import { join } from "node:path";',
])("%s stays as it is", (text) => {
  expect(direct(text)).toBe(text);
});

test("a comment between the names is refused, because its words would be taken for names", () => {
  expect(() => direct('import {\n  // Both, of each.\n  parsePrefix,\n} from "@netfacts/address";')).toThrow(
    "cannot read a comment in the braces",
  );
});

test("the thread that reads geofeeds loads no schema of a record", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["services/ingest/src/fetch/feed-worker.ts"],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    conditions: ["source"],
    plugins: [
      {
        name: "direct",
        setup({ onLoad }) {
          onLoad({ filter: /\/(?:libs|services)\/.*\.ts$/ }, async ({ path }) => {
            return { contents: direct(await readFile(path, "utf8")), loader: "ts" };
          });
        },
      },
    ],
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs).toContain("services/ingest/src/readers/geofeed.ts");
  expect(inputs.filter((path) => path.startsWith("libs/contracts/") || path.includes("/typebox/"))).toEqual([]);
});
