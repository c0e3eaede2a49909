/** The files of the container image: what is in, that every program starts from them, and that they and the Dockerfile agree. */

import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { sitePages } from "../../scripts/docs-site/navigation.ts";
import { entrypoint, environment, folders, labels, uid } from "../../scripts/images/config.ts";
import { closureOf } from "../../scripts/images/production-packages.ts";
import { readyTime, services } from "../../scripts/images/ready-times.ts";
import { assembleTree } from "../../scripts/images/tree.ts";
import { someSamples } from "../support/some-samples.ts";

const root = resolve(import.meta.dirname, "../..");
const parent = mkdtempSync(join(tmpdir(), "netfacts-image-"));
const tree = join(parent, "tree");
const app = join(tree, folders.app);
let packages: string[] = [];
/** Before any test started a program, which looks for code compiled for this user. */
let compiledFor: string[] = [];
let files: string[] = [];

beforeAll(async () => {
  packages = await assembleTree({ root, to: tree });
  compiledFor = readdirSync(join(tree, folders.compiled));
  files = readdirSync(tree, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(tree, path)).isFile());
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const childEnv = { ...environment, NODE_COMPILE_CACHE: join(tree, folders.compiled), NETFACTS_HOME: join(parent, "data") };

/** One run of the image's entry with the tree's Node. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const command = [join(tree, folders.node), join(app, "netfacts.js"), ...args] as const;
  return promisify(execFile)(command[0], command.slice(1), { cwd: parent, env: childEnv, maxBuffer: 1 << 26 }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, out: error.stdout, err: error.stderr }),
  );
}

test("has the programs, the modules of threads, the samples, licences and the reference page's files", () => {
  const wanted = [
    "netfacts.js",
    "LICENSE",
    "THIRD_PARTY_LICENSES",
    "sbom.cdx.json",
    "samples/sources.yaml",
    "services/ingest/sources.default.yaml",
    "services/ingest/src/runs/run-worker.js",
    "services/ingest/src/compare/compare-worker.js",
    "services/ingest/src/fetch/feed-worker.js",
    "services/ingest/src/pipeline/rib-thread.js",
    "libs/content/src/bzip2-thread.js",
    "libs/pod/src/past/past-worker.js",
    "libs/snapshot/src/loader-worker.js",
    "node_modules/@fastify/swagger-ui/static/swagger-ui.css",
    "docs/dist/index.html",
    "docs/dist/search-index.json",
  ];
  expect(wanted.filter((path) => !existsSync(join(app, path)))).toEqual([]);
});

test("the build of the image gets every page of the documentation", () => {
  const rules = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ isKept: line.startsWith("!"), pattern: line.replace("!", "") }));
  // The last rule that matches a path, or a folder that it is in, decides.
  const isKept = (path: string): boolean => {
    const places = path.split("/").map((_part, index, parts) => parts.slice(0, index + 1).join("/"));
    return rules.findLast(({ pattern }) => places.some((place) => matchesGlob(place, pattern)))?.isKept ?? true;
  };
  expect(isKept("charts/netfacts/Chart.yaml")).toBe(false);
  expect(sitePages(root).filter((path) => !isKept(path))).toEqual([]);
});

test("has no TypeScript, tests, source maps, build tools or secrets", () => {
  // The documentation has a page about tests.
  const programs = files.filter((path) => !path.startsWith("app/docs/dist/"));
  expect(files.filter((path) => /\.(ts|mts|cts|tsx|map|pem|key|log|tgz)$|\.test\.|(^|\/)\.(env|git|npmrc)/.test(path))).toEqual([]);
  expect(programs.filter((path) => /(^|\/)(test|__tests__)\//.test(path))).toEqual([]);
  const names = packages.map((name) => name.slice(0, name.lastIndexOf("@")));
  expect(
    names.filter((name) => /^(typescript|esbuild|jest.*|@jest\/.*|@biomejs\/.*|playwright-core|fast-check|@types\/.*)$/.test(name)),
  ).toEqual([]);
});

test("the list of parts names every package in the tree, the bundled ones too, and Node", () => {
  const list = JSON.parse(readFileSync(join(app, "sbom.cdx.json"), "utf8")) as { bomFormat: string; components: { "bom-ref": string }[] };
  expect(list.bomFormat).toBe("CycloneDX");
  const parts = new Set(list.components.map((part) => part["bom-ref"]));
  expect(packages.filter((name) => !parts.has(name))).toEqual([]);
  const named = (prefix: string) => [...parts].some((part) => part.startsWith(prefix));
  expect(["fastify@", "mongodb@", "nats@", "typebox@", `node@${process.versions.node}`].filter((prefix) => !named(prefix))).toEqual([]);
  const licences = readFileSync(join(app, "THIRD_PARTY_LICENSES"), "utf8");
  expect(packages.filter((name) => !licences.includes(`${name} (`))).toEqual([]);
});

test("each service answers its probes from the tree, and stops with status 0", async () => {
  const ends = [];
  for (const service of services) {
    const { status } = await readyTime(tree, service, { INGEST_STATE_DIR: join(parent, "ingest") });
    ends.push([service, status]);
  }
  expect(ends).toEqual(services.map((service) => [service, 0]));
});

test("has every file of the samples that their list names", () => {
  const samples = join(app, "samples");
  const { sources } = parse(readFileSync(join(samples, "sources.yaml"), "utf8")) as { sources: { location: string }[] };
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter(({ location }) => !existsSync(join(samples, location)))).toEqual([]);
});

test("the command line imports with its threads and answers from the data", async () => {
  const data = join(parent, "data");
  mkdirSync(data);
  const list = someSamples(data, ["route-views.jinx", "ripencc"], join(app, "samples"));
  const report = await run("cli", "ingest", "run", "--sources", list, "--data-dir", data, "--json");
  expect(report).toMatchObject({ code: 0 });
  const { out } = await run("cli", "lookup", "ip", "193.0.6.139", "--data-dir", data, "--json");
  expect(JSON.parse(out).routing).toMatchObject({ announced: true, prefix: "193.0.0.0/21" });
});

test("a service that does not exist is refused with the names of those that do", async () => {
  const { code, err } = await run("ip-rooting");
  expect({ code, err }).toEqual({
    code: 2,
    err: 'there is no service "ip-rooting"; use one of gateway-auth-quota, ip-routing, asn-prefix, rdns-resolver, ingest, standalone, cli\n',
  });
});

test("the compile cache is under the number of the image's user", () => {
  expect(compiledFor).toHaveLength(1);
  expect(compiledFor[0]).toMatch(new RegExp(`^v${process.versions.node.replaceAll(".", "\\.")}-.*-${uid}$`));
});

test("the heap's limit is half of the memory that the process may use", () => {
  const script = "[v8.getHeapStatistics().heap_size_limit, Math.min(process.constrainedMemory() || Infinity, os.totalmem())].join()";
  const [limit = 0, memory = 0] = execFileSync(join(tree, folders.node), ["-p", script], { env: childEnv, encoding: "utf8" })
    .split(",")
    .map(Number);
  const youngMax = 256 * (1 << 20);
  expect(limit).toBeGreaterThanOrEqual(memory / 2 - youngMax);
  expect(limit).toBeLessThanOrEqual(memory / 2 + youngMax);
});

test("the Dockerfile says what packed images say", () => {
  const stages = readFileSync(join(root, "Dockerfile"), "utf8")
    .replaceAll("\\\n", " ")
    .split(/^FROM /m);
  const text = stages.at(-1) ?? "";
  const env = /^ENV (.*)$/m.exec(text)?.[1]?.trim().split(/\s+/);
  expect(env).toEqual(Object.entries(environment).map(([name, value]) => `${name}=${value}`));
  expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? "null")).toEqual(entrypoint);
  expect(text).toContain(`\nUSER ${uid}:${uid}\n`);
  expect(text).toContain(`\nWORKDIR ${folders.data}\n`);
  const said = Object.fromEntries([...text.matchAll(/(org\.opencontainers\.\S+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the Dockerfile.
  expect(said).toEqual(labels("${VERSION}", "${REVISION}"));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(text).toContain(`\nARG VERSION=${version}\n`);
});

test("of two versions of a package, each is found from the package that needs it", () => {
  const locked = {
    "libs/one": { dependencies: { a: "1", "@s/b": "1" } },
    "node_modules/a": { version: "1.0.0", dependencies: { c: "1" } },
    "node_modules/a/node_modules/c": { version: "1.0.0" },
    "node_modules/@s/b": { version: "1.0.0", dependencies: { c: "2" }, optionalDependencies: { absent: "1" } },
    "node_modules/c": { version: "2.0.0" },
    "node_modules/@s/unused": { version: "1.0.0" },
  };
  expect(closureOf(locked, ["a"])).toEqual(["node_modules/a", "node_modules/a/node_modules/c"]);
  expect(closureOf(locked, ["@s/*"])).toEqual(["node_modules/@s/b", "node_modules/c"]);
});
