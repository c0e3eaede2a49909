/**
 * The commands of docker, helm, kubectl and tar that skaffold runs for skaffold.yaml, because tests do not have skaffold itself. Supports only the
 * features that our file uses. The arguments are those of skaffold v2 (its packages `helm`, `sync` and `portforward`), without its labels.
 */

import { readFileSync } from "node:fs";
import { join, matchesGlob, posix } from "node:path";
import { parse } from "yaml";

export interface Artifact {
  readonly image: string;
  readonly context: string;
  readonly docker: { readonly dockerfile: string; readonly target?: string };
  readonly sync?: { readonly manual?: readonly { readonly src: string; readonly dest: string; readonly strip?: string }[] };
}

export interface Release {
  readonly name: string;
  readonly chartPath: string;
  readonly wait?: boolean;
  readonly dependsOn?: readonly string[];
  readonly valuesFiles?: readonly string[];
  readonly setValues?: Readonly<Record<string, string | number>>;
  readonly setValueTemplates?: Readonly<Record<string, string>>;
}

export interface PortForward {
  readonly resourceType: string;
  readonly resourceName: string;
  readonly port: number;
  readonly localPort: number;
}

export interface SkaffoldConfig {
  readonly build: { readonly artifacts: readonly Artifact[] };
  readonly deploy: { readonly helm: { readonly releases: readonly Release[] } };
  readonly portForward: readonly PortForward[];
}

interface Patch {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

interface Profile {
  readonly name: string;
  readonly activation?: readonly { readonly command: string }[];
  readonly patches: readonly Patch[];
}

/** A built image. It has a digest if it was pushed to a registry. */
export interface Image {
  readonly repository: string;
  readonly tag: string;
  readonly digest?: string;
}

/** Name of the image in pods. */
export const imageName = ({ repository, tag, digest }: Image) => `${repository}:${tag}${digest ? `@${digest}` : ""}`;

/**
 * The configuration of `skaffold COMMAND -p PROFILE,…`. Profiles that the command activates are applied first.
 *
 * @param root  folder of skaffold.yaml.
 */
export function readSkaffold(root: string, command: string, named: readonly string[] = []): SkaffoldConfig {
  const { profiles, ...config } = parse(readFileSync(join(root, "skaffold.yaml"), "utf8")) as SkaffoldConfig & { profiles: Profile[] };
  const activated = profiles.filter(({ activation = [] }) => activation.some((each) => each.command === command)).map(({ name }) => name);
  for (const name of new Set([...activated, ...named])) {
    const profile = profiles.find((each) => each.name === name);
    if (profile === undefined) throw new Error(`there is no profile ${name}`);
    const { name: _name, activation: _activation, patches, ...others } = profile;
    if (Object.keys(others).length > 0) throw new Error(`the profile ${name} has ${Object.keys(others)}: only patches are known`);
    for (const patch of patches) applyPatch(config, patch);
  }
  return config;
}

function applyPatch(config: object, { op, path, value }: Patch): void {
  if (op !== "add") throw new Error(`the patch of ${path} has the operation ${op}: only add is known`);
  const keys = path.split("/").slice(1);
  const last = keys.pop() ?? "";
  let place = config as Record<string, unknown>;
  for (const key of keys) {
    const next = place[key];
    if (typeof next !== "object" || next === null) throw new Error(`the patch of ${path}: there is no ${key}`);
    // A map, or a list with an index as the key.
    place = next as Record<string, unknown>;
  }
  if (Array.isArray(place)) throw new Error(`the patch of ${path} adds to a list`);
  place[last] = structuredClone(value);
}

/** Arguments of `docker` in the folder of skaffold.yaml; also of `buildah`, with `bud` instead of `build`. */
export function buildArguments({ context, docker: { dockerfile, target } }: Artifact, image: Image): string[] {
  const name = imageName({ repository: image.repository, tag: image.tag });
  return ["build", context, "--file", posix.join(context, dockerfile), "-t", name, ...(target ? ["--target", target] : [])];
}

/** Arguments of helm that set the values of a release. @param images  images by the names of their artifacts. */
function valueArguments(release: Release, images: Readonly<Record<string, Image>>): string[] {
  const { setValues = {}, setValueTemplates = {}, valuesFiles = [] } = release;
  const known: Record<string, string> = {};
  for (const [name, { repository, tag, digest = "" }] of Object.entries(images)) {
    const suffix = name.replaceAll(/[/-]/g, "_");
    known[`IMAGE_REPO_${suffix}`] = repository;
    known[`IMAGE_TAG_${suffix}`] = tag;
    known[`IMAGE_DIGEST_${suffix}`] = digest;
  }
  const filled = (template: string) => {
    const text = template.replaceAll(/\{\{\s*\.(\w+)\s*\}\}/g, (_all, name: string) => {
      const value = known[name];
      if (value === undefined) throw new Error(`${template}: nothing sets ${name}`);
      return value;
    });
    // The image has no digest.
    return text.replace(/@$/, "");
  };
  const byName = (one: [string, unknown], other: [string, unknown]) => (one[0] < other[0] ? -1 : 1);
  return [
    ...Object.entries(setValues)
      .sort(byName)
      .flatMap(([key, value]) => ["--set", `${key}=${value}`]),
    ...Object.entries(setValueTemplates)
      .sort(byName)
      .flatMap(([key, template]) => ["--set", `${key}=${filled(template)}`]),
    ...valuesFiles.flatMap((file) => ["-f", file]),
  ];
}

/** Arguments of helm that install a release, in the folder of skaffold.yaml. Use `upgrade` instead of `install` if it is installed. */
export function installArguments(release: Release, images: Readonly<Record<string, Image>>): string[] {
  return ["install", release.name, release.chartPath, ...valueArguments(release, images), ...(release.wait ? ["--wait"] : [])];
}

/** Arguments of helm that render a release, as `skaffold render` does. */
export function renderArguments(release: Release, images: Readonly<Record<string, Image>>): string[] {
  return ["template", release.name, release.chartPath, ...valueArguments(release, images)];
}

/** Path of a changed file in containers. @param path  path from the folder of skaffold.yaml. @returns null: the image must be built again. */
export function syncDestination({ sync, context }: Artifact, path: string): string | null {
  const inContext = posix.relative(context, path);
  const rule = sync?.manual?.find(({ src }) => matchesGlob(inContext, src));
  if (rule === undefined) return null;
  if (!rule.dest.startsWith("/")) throw new Error(`the destination ${rule.dest} depends on the image's working folder`);
  const { strip = "" } = rule;
  return posix.join(rule.dest, inContext.startsWith(strip) ? inContext.slice(strip.length) : inContext);
}

/** Arguments of `kubectl exec` that copy changed files into a container. Its input is a tar file with their destinations as names. */
export function copyArguments(pod: string, namespace: string, container: string): string[] {
  return ["exec", pod, "--namespace", namespace, "-c", container, "-i", "--", "tar", "xmf", "-", "-C", "/", "--no-same-owner"];
}

/** Arguments of `kubectl port-forward`. */
export function forwardArguments({ resourceType, resourceName, port, localPort }: PortForward, namespace: string): string[] {
  return [
    "port-forward",
    "--pod-running-timeout",
    "1s",
    "--namespace",
    namespace,
    `${resourceType}/${resourceName}`,
    `${localPort}:${port}`,
  ];
}
