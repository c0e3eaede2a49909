/** The import rules of docs/design/architecture.md. Each rule returns a line for each violation, with its place. */

import { isBuiltin } from "node:module";
import { findCircles } from "./circles.ts";
import { type Import, importedPath, type Package, packageName, type SourceFile, type Sources } from "./read-sources.ts";

/** A library may import only those above it. */
export const libOrder = [
  "address",
  "contracts",
  "prefix-trie",
  "rpki",
  "content",
  "mrt",
  "threads",
  "snapshot",
  "records",
  "messaging",
  "keys",
  "storage",
  "runtime",
  "pod",
  "client",
];

interface SoleImporter {
  readonly folder: string;
  /** The only files of `src` that may import it; absent: all may. */
  readonly sources?: readonly string[];
}

/** Packages that only one folder may import, so that a replacement or another setting needs a change in one place. */
const soleImporters = new Map<string, SoleImporter>([
  [
    "nats",
    { folder: "libs/messaging", sources: ["nats/client.ts", "nats/connect.ts", "nats/handshake.ts", "nats/link.ts", "nats/transport.ts"] },
  ],
  ["prom-client", { folder: "libs/runtime" }],
  ["fast-check", { folder: "test/support" }],
]);

/** Folders of `libs/messaging/src` that depend on a broker. Files outside of them may not import them. */
const brokers = /^libs\/messaging\/src\/(nats)\//;

/** Modules that do I/O or belong to a framework, which `domain/` may not import. `node:net` is allowed for its functions on addresses. */
const impure =
  /^(fastify|@fastify\/.*|nats|mongodb|pino|node:(fs|http|https|http2|dgram|dns|tls|child_process|sqlite|worker_threads)(\/.*)?)$/;

/** Modules that `libs/runtime/src/telemetry.ts` may not import, directly or through others, because it must start before them. */
const lateModules = ["pino", "prom-client", "fastify"];

interface Found extends Import {
  readonly file: SourceFile;
}

/** All violations, sorted by place. */
export function findBreaches(sources: Sources): string[] {
  const rules = [
    serviceToService,
    libToService,
    libsInOrder,
    outOfPackage,
    domainStaysPure,
    soleImporter,
    messagingKnowsNoBroker,
    fileCircles,
    packageCircles,
    telemetryFirst,
    declared,
  ];
  return [...new Set(rules.flatMap((rule) => [...rule(sources)]))].sort();
}

function at({ file, line }: Found, text: string): string {
  return `${file.path}:${line}: ${text}`;
}

function importsOf(files: readonly SourceFile[]): Found[] {
  return files.flatMap((file) => file.imports.map((found) => ({ ...found, file })));
}

function sourceFiles({ folder, files }: Package): SourceFile[] {
  return files.filter(({ path }) => path.startsWith(`${folder}/src/`));
}

/** Imports of one of our packages by another. */
function* crossings({ packages }: Sources): Generator<{ from: Package; to: Package; found: Found }> {
  const byName = new Map(packages.map((each) => [each.name, each]));
  for (const from of packages) {
    for (const found of importsOf(from.files)) {
      const to = byName.get(packageName(found.specifier));
      if (to !== undefined && to !== from) yield { from, to, found };
    }
  }
}

function* serviceToService(sources: Sources): Generator<string> {
  for (const { from, to, found } of crossings(sources)) {
    if (from.kind !== "service" || to.kind !== "service") continue;
    const toApp = found.specifier === `${to.name}/app`;
    if (toApp && (from.folder === "services/standalone" || (from.folder === "services/cli" && to.folder === "services/ingest"))) continue;
    yield at(found, `a service imports another service, ${found.specifier}; they meet in contracts`);
  }
}

function* libToService(sources: Sources): Generator<string> {
  for (const { from, to, found } of crossings(sources)) {
    if (from.kind === "lib" && to.kind === "service") yield at(found, `a lib imports a service, ${found.specifier}`);
  }
}

function* libsInOrder(sources: Sources): Generator<string> {
  const place = ({ folder }: Package): number => libOrder.indexOf(folder.slice("libs/".length));
  for (const lib of sources.packages) {
    if (lib.kind === "lib" && place(lib) < 0) yield `${lib.folder}: has no place in the order of libs (scripts/imports/rules.ts)`;
  }
  for (const { from, to, found } of crossings(sources)) {
    if (from.kind !== "lib" || to.kind !== "lib" || place(to) < place(from)) continue;
    yield at(found, `${from.folder} stands above ${to.folder} in the order of libs and must not import it`);
  }
}

function* outOfPackage({ packages }: Sources): Generator<string> {
  for (const { folder, files } of packages) {
    for (const found of importsOf(files)) {
      const path = importedPath(found.file, found.specifier);
      if (path === null || path.startsWith(`${folder}/`)) continue;
      // Tests share oracles, servers and samples.
      if (/(^|\/)test\/|^samples\//.test(path) && !found.file.path.startsWith(`${folder}/src/`)) continue;
      yield at(found, `reaches out of its package: ${found.specifier}`);
    }
  }
}

function* domainStaysPure({ packages }: Sources): Generator<string> {
  for (const { folder, files } of packages) {
    for (const found of importsOf(files.filter(({ path }) => path.startsWith(`${folder}/src/domain/`)))) {
      const path = importedPath(found.file, found.specifier);
      const edge = /\/src\/(edge|http|lookups|operations|plugins)\//.exec(path ?? "")?.[1];
      if (edge !== undefined) yield at(found, `domain imports ${edge}; it points the other way`);
      if (impure.test(found.specifier)) yield at(found, `domain imports ${found.specifier}; it does no I/O and knows no framework`);
    }
  }
}

function* soleImporter({ packages, others }: Sources): Generator<string> {
  for (const found of importsOf([...packages.flatMap(({ files }) => files), ...others])) {
    const owner = soleImporters.get(packageName(found.specifier));
    if (owner === undefined) continue;
    const { folder, sources } = owner;
    const { path } = found.file;
    if (!path.startsWith(`${folder}/`)) yield at(found, `only ${folder} imports ${found.specifier}`);
    else if (path.startsWith(`${folder}/src/`) && sources?.every((source) => path !== `${folder}/src/${source}`))
      yield at(found, `in ${folder}/src only ${sources.join(", ")} import ${found.specifier}`);
  }
}

function* messagingKnowsNoBroker({ packages }: Sources): Generator<string> {
  for (const found of importsOf(packages.filter(({ folder }) => folder === "libs/messaging").flatMap(sourceFiles))) {
    const broker = brokers.exec(importedPath(found.file, found.specifier) ?? "")?.[1];
    if (broker !== undefined && broker !== brokers.exec(found.file.path)?.[1])
      yield at(found, `queues, retries, frames and deadlines know no broker, and must not import ${broker}`);
  }
}

function* fileCircles({ packages, others }: Sources): Generator<string> {
  const files = [...packages.flatMap(({ files }) => files), ...others];
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports.filter(({ typeOnly }) => !typeOnly).flatMap(({ specifier }) => importedPath(file, specifier) ?? []),
    ]),
  );
  for (const circle of findCircles(edges)) yield `${circle[0]}: files import each other in a circle: ${circle.join(" → ")}`;
}

function* packageCircles(sources: Sources): Generator<string> {
  const edges = new Map(sources.packages.map(({ name, dependencies }) => [name, new Set(dependencies)]));
  for (const { from, to } of crossings(sources)) edges.get(from.name)?.add(to.name);
  for (const circle of findCircles(edges)) yield `${circle[0]}: packages import each other in a circle: ${circle.join(" → ")}`;
}

/** Instrumentation must be loaded before the modules that it instruments. */
function* telemetryFirst({ packages }: Sources): Generator<string> {
  const files = new Map(packages.flatMap((each) => each.files).map((file) => [file.path, file]));
  const waiting = ["libs/runtime/src/telemetry.ts"];
  const seen = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const file = files.get(path);
    if (file === undefined || seen.has(path)) continue;
    seen.add(path);
    for (const found of importsOf([file])) {
      if (found.typeOnly) continue;
      if (lateModules.includes(packageName(found.specifier)))
        yield at(found, `telemetry starts first and must not load ${found.specifier}`);
      waiting.push(importedPath(file, found.specifier) ?? "");
    }
  }
}

function* declared({ packages, rootDependencies }: Sources): Generator<string> {
  for (const each of packages) {
    const inSources = new Set<string>();
    for (const found of importsOf(each.files)) {
      const name = packageName(found.specifier);
      if (name.startsWith(".") || isBuiltin(name) || name === each.name) continue;
      const isSource = found.file.path.startsWith(`${each.folder}/src/`);
      if (isSource) inSources.add(name);
      const allowed = isSource ? each.dependencies : [...each.dependencies, ...each.devDependencies, ...rootDependencies];
      if (!allowed.includes(name)) yield at(found, `${name} is not declared in ${each.folder}/package.json`);
    }
    if (sourceFiles(each).length === 0) continue;
    for (const name of each.dependencies) {
      if (!inSources.has(name)) yield `${each.folder}/package.json: ${name} is declared and not imported`;
    }
  }
}
