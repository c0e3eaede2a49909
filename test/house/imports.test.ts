/** The import rules: a small tree that keeps them, and each violation planted into it. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readImports, readSources } from "../../scripts/imports/read-sources.ts";
import { findBreaches } from "../../scripts/imports/rules.ts";

let root: string;

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function manifest(name: string, ...dependencies: string[]): string {
  return JSON.stringify({ name, dependencies: Object.fromEntries(dependencies.map((each) => [each, "1.0.0"])) });
}

/** A tree that keeps every rule, with an example of each exception. */
const lawful = {
  "package.json": JSON.stringify({ devDependencies: { "fast-check": "1.0.0", "@jest/globals": "1.0.0" } }),
  "libs/address/package.json": manifest("@netfacts/address"),
  "libs/address/src/index.ts": 'export { parse } from "./parse.ts";\n',
  "libs/address/src/parse.ts": 'import { isIP } from "node:net";\n',
  "libs/address/test/parse.test.ts": 'import fc from "../../../test/support/properties.ts";\nimport { parse } from "@netfacts/address";\n',
  "test/support/properties.ts": 'import fc from "fast-check";\n',
  "libs/messaging/package.json": manifest("@netfacts/messaging", "nats"),
  "libs/messaging/src/deadlines.ts": "",
  "libs/messaging/src/nats/link.ts": 'import { connect } from "nats";\nimport { Deadlines } from "../deadlines.ts";\n',
  "libs/messaging/src/nats/index.ts": 'export { Link } from "./link.ts";\n',
  "libs/messaging/test/nats/link.test.ts": 'import { connect } from "nats";\nimport { Link } from "../../src/nats/link.ts";\n',
  "libs/runtime/package.json": manifest("@netfacts/runtime", "prom-client", "@netfacts/address"),
  "libs/runtime/src/index.ts": 'import * as prom from "prom-client";\nimport type { Address } from "@netfacts/address";\n',
  "libs/runtime/src/telemetry.ts": 'import { start } from "./start.ts";\n',
  "libs/runtime/src/start.ts": "",
  "services/ip-routing/package.json": manifest("@netfacts/ip-routing", "@netfacts/address"),
  "services/ip-routing/src/app.ts": 'import { ip } from "./operations/ip.ts";\n',
  "services/ip-routing/src/operations/ip.ts": 'import { record } from "../domain/record.ts";\n',
  "services/ip-routing/src/domain/record.ts": 'import { parse } from "@netfacts/address";\n',
  "services/ingest/package.json": manifest("@netfacts/ingest"),
  "services/ingest/src/app.ts": "",
  "services/standalone/package.json": manifest("@netfacts/standalone", "@netfacts/ip-routing"),
  "services/standalone/src/app.ts": 'import { buildApp } from "@netfacts/ip-routing/app";\n',
  "services/cli/package.json": manifest("@netfacts/cli", "@netfacts/ingest"),
  "services/cli/src/main.ts": 'const { run } = await import("@netfacts/ingest/app");\n',
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "netfacts-imports-"));
  write(lawful);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function breaches(): Promise<string[]> {
  return findBreaches(await readSources(root));
}

test("accepts a tree that keeps the rules", async () => {
  expect(await breaches()).toEqual([]);
});

test.each<[string, Record<string, string>, string]>([
  [
    "a service that imports another service",
    {
      "services/ip-routing/package.json": manifest("@netfacts/ip-routing", "@netfacts/address", "@netfacts/ingest"),
      "services/ip-routing/src/app.ts": 'import { ip } from "./operations/ip.ts";\nimport { run } from "@netfacts/ingest/app";\n',
    },
    "services/ip-routing/src/app.ts:2: a service imports another service, @netfacts/ingest/app; they meet in contracts",
  ],
  [
    "standalone that imports more than another's app",
    { "services/standalone/src/app.ts": 'import { record } from "@netfacts/ip-routing/domain";\n' },
    "services/standalone/src/app.ts:1: a service imports another service, @netfacts/ip-routing/domain; they meet in contracts",
  ],
  [
    "the command line that imports another service than ingest",
    {
      "services/cli/package.json": manifest("@netfacts/cli", "@netfacts/ip-routing"),
      "services/cli/src/main.ts": 'const { run } = await import("@netfacts/ip-routing/app");\n',
    },
    "services/cli/src/main.ts:1: a service imports another service, @netfacts/ip-routing/app; they meet in contracts",
  ],
  [
    "a service that reaches into another by path",
    { "services/ingest/src/app.ts": 'import { ip } from "../../ip-routing/src/app.ts";\n' },
    "services/ingest/src/app.ts:1: reaches out of its package: ../../ip-routing/src/app.ts",
  ],
  [
    "domain that imports operations",
    {
      "services/ip-routing/src/domain/record.ts":
        'import { parse } from "@netfacts/address";\nimport type { ip } from "../operations/ip.ts";\n',
    },
    "services/ip-routing/src/domain/record.ts:2: domain imports operations; it points the other way",
  ],
  [
    "domain that imports http",
    {
      "services/ip-routing/src/http/me/route.ts": "",
      "services/ip-routing/src/domain/deep/record.ts": 'import { me } from "../../http/me/route.ts";\n',
    },
    "services/ip-routing/src/domain/deep/record.ts:1: domain imports http; it points the other way",
  ],
  [
    "domain that reads files",
    { "services/ip-routing/src/domain/file.ts": 'import { readFile } from "node:fs/promises";\n' },
    "services/ip-routing/src/domain/file.ts:1: domain imports node:fs/promises; it does no I/O and knows no framework",
  ],
  [
    "an upper lib that imports a lower one",
    {
      "libs/address/package.json": manifest("@netfacts/address", "@netfacts/runtime"),
      "libs/address/src/parse.ts": 'import type { Clock } from "@netfacts/runtime";\n',
    },
    "libs/address/src/parse.ts:1: libs/address stands above libs/runtime in the order of libs and must not import it",
  ],
  [
    "a lib that imports a service",
    {
      "libs/runtime/package.json": manifest("@netfacts/runtime", "prom-client", "@netfacts/ingest"),
      "libs/runtime/src/index.ts": 'import * as prom from "prom-client";\nexport * from "@netfacts/ingest/app";\n',
    },
    "libs/runtime/src/index.ts:2: a lib imports a service, @netfacts/ingest/app",
  ],
  [
    "a second importer of nats",
    { "libs/runtime/test/bus.test.ts": 'import { connect } from "nats";\n' },
    "libs/runtime/test/bus.test.ts:1: only libs/messaging imports nats",
  ],
  [
    "another file of messaging that imports nats",
    { "libs/messaging/src/nats/index.ts": 'import type { Msg } from "nats/lib/src/core.js";\n' },
    "libs/messaging/src/nats/index.ts:1: in libs/messaging/src only nats/client.ts, nats/connect.ts, nats/handshake.ts, nats/link.ts, nats/transport.ts import nats/lib/src/core.js",
  ],
  [
    "a part of messaging that knows its broker",
    { "libs/messaging/src/deadlines.ts": 'import type { Link } from "./nats/link.ts";\n' },
    "libs/messaging/src/deadlines.ts:1: queues, retries, frames and deadlines know no broker, and must not import nats",
  ],
  [
    "a second importer of prom-client",
    { "scripts/metrics.ts": 'import type { Counter } from "prom-client";\n' },
    "scripts/metrics.ts:1: only libs/runtime imports prom-client",
  ],
  [
    "a circle of files",
    { "libs/address/src/parse.ts": 'import { parse } from "./index.ts";\n' },
    "libs/address/src/index.ts: files import each other in a circle: libs/address/src/index.ts → libs/address/src/parse.ts → libs/address/src/index.ts",
  ],
  [
    "a circle of packages",
    {
      "services/ingest/package.json": manifest("@netfacts/ingest", "@netfacts/cli"),
      "services/ingest/src/app.ts": 'import { main } from "@netfacts/cli/app";\n',
    },
    "@netfacts/cli: packages import each other in a circle: @netfacts/cli → @netfacts/ingest → @netfacts/cli",
  ],
  [
    "telemetry that loads what it instruments, through another file",
    {
      "libs/runtime/package.json": manifest("@netfacts/runtime", "prom-client", "@netfacts/address", "pino"),
      "libs/runtime/src/start.ts": 'import { pino } from "pino";\n',
    },
    "libs/runtime/src/start.ts:1: telemetry starts first and must not load pino",
  ],
  [
    "an import that is not declared",
    { "libs/address/src/parse.ts": 'import { LRUCache } from "lru-cache";\n' },
    "libs/address/src/parse.ts:1: lru-cache is not declared in libs/address/package.json",
  ],
  [
    "a development dependency in a source",
    { "libs/address/src/parse.ts": 'import { test } from "@jest/globals";\n' },
    "libs/address/src/parse.ts:1: @jest/globals is not declared in libs/address/package.json",
  ],
  [
    "properties without what sets them up",
    { "libs/address/test/parse.test.ts": 'import fc from "fast-check";\n' },
    "libs/address/test/parse.test.ts:1: only test/support imports fast-check",
  ],
  [
    "a dependency that nothing imports",
    { "libs/address/package.json": manifest("@netfacts/address", "lru-cache") },
    "libs/address/package.json: lru-cache is declared and not imported",
  ],
  [
    "a lib without a place in the order",
    { "libs/misc/package.json": manifest("@netfacts/misc") },
    "libs/misc: has no place in the order of libs (scripts/imports/rules.ts)",
  ],
])("refuses %s", async (_what, files, breach) => {
  write(files);
  expect(await breaches()).toContain(breach);
});

test("reads every form of import with its line", () => {
  const text = [
    "/** Not an import: import x from nowhere. */",
    'import a from "one";',
    "import {",
    "  type B,",
    "  c as d,",
    '} from "two";',
    'import type { E } from "three";',
    'export * from "four";',
    'import "five";',
    'export const text = "six";',
    '// import("seven")',
    'const late = await import("eight");',
  ].join("\n");
  expect(readImports(text).map(({ specifier, line, typeOnly }) => [specifier, line, typeOnly])).toEqual([
    ["one", 2, false],
    ["two", 3, false],
    ["three", 7, true],
    ["four", 8, false],
    ["five", 9, false],
    ["eight", 12, false],
  ]);
});
