/** skaffold.yaml: it has the form that skaffold reads, and what it names fits the Dockerfile, the charts and each other, in every profile. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "@jest/globals";
import Schema from "typebox/schema";
import { parse, parseAllDocuments } from "yaml";
import { toolOrNotRun } from "../support/debian.ts";
import { findHelm, type Manifest } from "../support/helm.ts";
import {
  buildArguments,
  type Image,
  imageName,
  installArguments,
  readSkaffold,
  renderArguments,
  type SkaffoldConfig,
  syncDestination,
} from "../support/skaffold.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const tool = toolOrNotRun(await findHelm(), "Helm", 12);
const testWithHelm = tool === null ? test.skip : test;

const pushed: Image = { repository: "registry.example.com/team/netfacts", tag: "0.1.0-3-gabc1234", digest: `sha256:${"ab".repeat(32)}` };
const local: Image = { repository: "netfacts", tag: "5f2b".repeat(16) };

interface Case {
  readonly typed: string;
  readonly config: SkaffoldConfig;
  /** Whether it runs the sources. */
  readonly isDevelopment: boolean;
  readonly hasInspector: boolean;
}

const cases: readonly Case[] = [
  { typed: "skaffold run", config: readSkaffold(root, "run"), isDevelopment: false, hasInspector: false },
  { typed: "skaffold dev", config: readSkaffold(root, "dev"), isDevelopment: true, hasInspector: false },
  { typed: "skaffold debug", config: readSkaffold(root, "debug"), isDevelopment: true, hasInspector: true },
  { typed: "skaffold dev -p debug", config: readSkaffold(root, "dev", ["debug"]), isDevelopment: true, hasInspector: true },
  { typed: "skaffold run -p full", config: readSkaffold(root, "run", ["full"]), isDevelopment: false, hasInspector: false },
  { typed: "skaffold dev -p full", config: readSkaffold(root, "dev", ["full"]), isDevelopment: false, hasInspector: false },
];
const developments = cases.filter(({ isDevelopment }) => isDevelopment);
const productions = cases.filter(({ isDevelopment }) => !isDevelopment);

/** Of each case: what `skaffold render` prints, by the name of the release. */
const rendered = new Map<string, Record<string, Manifest[]>>();
beforeAll(async () => {
  if (tool === null) return;
  for (const { typed, config } of cases) rendered.set(typed, await render(config, pushed));
}, 120_000);

async function render({ deploy }: SkaffoldConfig, image: Image): Promise<Record<string, Manifest[]>> {
  const result: Record<string, Manifest[]> = {};
  for (const release of deploy.helm.releases) {
    const home = tmpdir();
    const env = { PATH: process.env.PATH, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
    const args = [...renderArguments(release, { netfacts: image }), "--kube-version", "1.33.0"];
    const { stdout } = await run(tool?.command ?? "", args, { cwd: root, env, maxBuffer: 1 << 24 });
    result[release.name] = parseAllDocuments(stdout)
      .map((document) => document.toJS() as Manifest)
      .filter((object) => object !== null);
  }
  return result;
}

const objectsOf = (typed: string) => Object.values(rendered.get(typed) ?? {}).flat();
const servicePods = (typed: string) =>
  (rendered.get(typed)?.netfacts ?? []).filter(({ kind }) => kind === "Deployment").map(({ spec }) => spec.template);
const isHook = ({ metadata }: Manifest) => metadata.annotations?.["helm.sh/hook"] !== undefined;

test("has the form of skaffold/v4beta13", () => {
  const path = join(process.env.NETFACTS_TEST_DATA ?? join(root, "../shared/data"), "schemas/skaffold-v4beta13.schema.json.gz");
  if (!existsSync(path)) {
    console.log(`not run: needs ${path} (NETFACTS_TEST_DATA)`);
    return;
  }
  const schema = Schema.Compile(JSON.parse(gunzipSync(readFileSync(path)).toString()));
  const config = parse(readFileSync(join(root, "skaffold.yaml"), "utf8"));
  expect(config.apiVersion).toBe("skaffold/v4beta13");
  expect(schema.Check(config) ? [] : schema.Errors(config)).toEqual([]);
  // What patches set, too.
  for (const { config: patched } of cases) expect(schema.Check(patched) ? [] : schema.Errors(patched)).toEqual([]);
  config.deploy.helm.releases[0].chart = "charts/netfacts";
  expect(schema.Check(config)).toBe(false);
});

test.each(cases)("$typed: every file that is named exists", ({ config }) => {
  const paths = [
    ...config.build.artifacts.map(({ context, docker }) => join(context, docker.dockerfile)),
    ...config.deploy.helm.releases.flatMap(({ chartPath, valuesFiles = [] }) => [join(chartPath, "Chart.yaml"), ...valuesFiles]),
  ];
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** The stages of the Dockerfile by their names, in its order, with their instructions. */
function stages(): Map<string, string> {
  const text = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  return new Map(text.split(/^FROM /m).flatMap((stage) => [[/^\S+ AS (\S+)/.exec(stage)?.[1] ?? "", stage] as const]));
}

test.each(developments)("$typed: builds the stage for development", ({ config }) => {
  const [artifact] = config.build.artifacts as [(typeof config.build.artifacts)[0]];
  expect(buildArguments(artifact, local).join(" ")).toBe(`build . --file Dockerfile -t ${imageName(local)} --target development`);
  expect(stages().get("development")).toContain('ENTRYPOINT ["/usr/local/bin/node", "/app/netfacts.js"]');
});

test.each(productions)("$typed: builds the stage for production, and copies no file into it", ({ config }) => {
  const [artifact] = config.build.artifacts as [(typeof config.build.artifacts)[0]];
  expect(artifact.docker.target).toBe([...stages().keys()].at(-1));
  expect(syncDestination(artifact, "libs/rpki/src/index.ts")).toBeNull();
});

test.each(developments)(
  "$typed: a changed source goes where the image has it; anything else builds the image again",
  async ({ config }) => {
    const [artifact] = config.build.artifacts as [(typeof config.build.artifacts)[0]];
    const folder = /^WORKDIR (\S+)\s+COPY \. \.$/m.exec(stages().get("source") ?? "")?.[1];
    const files = (await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root })).stdout.trim().split("\n");
    // The pages of the console are built with the image.
    const isSource = (path: string) => /^(libs|services)\/.*\.(ts|yaml)$/.test(path) && !path.startsWith("services/console/");
    expect(files.filter(isSource).length).toBeGreaterThan(500);
    for (const path of files) expect([path, syncDestination(artifact, path)]).toEqual([path, isSource(path) ? `${folder}/${path}` : null]);
  },
);

testWithHelm.each(developments)(
  "$typed: pods may write where changed sources go, and keep them when a container is restarted",
  ({ typed }) => {
    const pods = servicePods(typed);
    expect(pods).toHaveLength(5);
    for (const { spec } of pods) {
      const [container] = spec.containers;
      expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
      for (const folder of ["/app/libs", "/app/services"]) {
        const mount = container.volumeMounts.find(({ mountPath }: Manifest) => mountPath === folder);
        expect(mount.readOnly).toBeUndefined();
        expect(spec.volumes.find(({ name }: Manifest) => name === mount.name).emptyDir).toBeDefined();
      }
      expect([container.startupProbe, container.livenessProbe]).toEqual([undefined, undefined]);
      expect(container.readinessProbe).toBeDefined();
    }
  },
);

testWithHelm.each(cases)("$typed: every pod of Netfacts has the image that was built, by its whole name", async ({ typed, config }) => {
  const podSpecs = (objects: readonly Manifest[]) => objects.map(({ kind, spec }) => (kind === "Pod" ? spec : spec?.template?.spec));
  const images = (objects: readonly Manifest[]) =>
    podSpecs(objects).flatMap((spec) => spec?.containers.map(({ image }: Manifest) => image) ?? []);
  const found = images(rendered.get(typed)?.netfacts ?? []);
  expect(found.length).toBeGreaterThan(5);
  expect(new Set(found)).toEqual(new Set([imageName(pushed)]));
  expect(new Set(images((await render(config, local)).netfacts ?? []))).toEqual(new Set([imageName(local)]));
});

testWithHelm.each(cases)("$typed: netfacts is installed after what it needs, and finds it", ({ typed, config }) => {
  expect(config.deploy.helm.releases.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
    ["backing", undefined],
    ["netfacts", ["backing"]],
  ]);
  expect(installArguments(config.deploy.helm.releases[0] as (typeof config.deploy.helm.releases)[0], {})).toContain("--wait");
  const has = (kind: string, name: string) => objectsOf(typed).some((object) => object.kind === kind && object.metadata.name === name);
  for (const { spec } of servicePods(typed)) {
    for (const { secret } of spec.volumes.find(({ name }: Manifest) => name === "secrets").projected.sources)
      expect([secret.name, has("Secret", secret.name)]).toEqual([secret.name, true]);
    const url = spec.containers[0].env.find(({ name }: Manifest) => name === "NATS_URL").value;
    expect(has("Service", new URL(url).hostname)).toBe(true);
  }
});

testWithHelm.each(cases)("$typed: no object is a Job that a second run would have to change", ({ typed }) => {
  expect(objectsOf(typed).filter((object) => object.kind === "Job" && !isHook(object))).toEqual([]);
});

testWithHelm.each(cases)(
  "$typed: ports are forwarded from what is installed, each to a port of its own",
  ({ typed, config, hasInspector }) => {
    const locals = config.portForward.map(({ localPort }) => localPort);
    expect(new Set(locals).size).toBe(locals.length);
    for (const { resourceType, resourceName, port } of config.portForward) {
      const object = objectsOf(typed).find(({ kind, metadata }) => kind.toLowerCase() === resourceType && metadata.name === resourceName);
      const ports =
        resourceType === "service"
          ? object?.spec.ports.map((each: Manifest) => each.port)
          : [...(object?.spec.template.spec.containers[0].ports.map((each: Manifest) => each.containerPort) ?? []), ...inspectorOf(object)];
      expect([resourceName, ports]).toEqual([resourceName, expect.arrayContaining([port])]);
    }
    const inspected = config.portForward.filter(({ port }) => port === 9229).map(({ resourceName }) => resourceName);
    expect(inspected).toHaveLength(hasInspector ? 5 : 0);
  },
);

function inspectorOf(deployment: Manifest | undefined): number[] {
  const inspect = deployment?.spec.template.spec.containers[0].env.find(({ name }: Manifest) => name === "INSPECT")?.value;
  return inspect === undefined ? [] : [Number(inspect.split(":")[1])];
}

testWithHelm.each(cases)("$typed: an inspector listens on loopback only, and skaffold adds none", ({ typed, hasInspector }) => {
  for (const { metadata, spec } of servicePods(typed)) {
    const inspect = spec.containers[0].env.find(({ name }: Manifest) => name === "INSPECT")?.value;
    expect(inspect).toBe(hasInspector ? "127.0.0.1:9229" : undefined);
    expect(metadata.annotations["debug.cloud.google.com/config"]).toBe(hasInspector ? "{}" : undefined);
  }
});

testWithHelm("one copy of each service, or with full two, beside three NATS servers", () => {
  const copies = (typed: string) =>
    (rendered.get(typed)?.netfacts ?? []).filter(({ kind }) => kind === "Deployment").map(({ spec }) => spec.replicas);
  const nats = (typed: string) =>
    objectsOf(typed).find(({ metadata, kind }) => kind === "StatefulSet" && metadata.name === "backing-nats")?.spec.replicas;
  for (const { typed } of cases) {
    const isFull = typed.endsWith("-p full");
    expect([typed, copies(typed), nats(typed)]).toEqual([typed, Array(5).fill(isFull ? 2 : 1), isFull ? 3 : 1]);
  }
});
