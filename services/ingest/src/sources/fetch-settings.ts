/** The settings of a fetched source in `sources.yaml`: its URL, and what is allowed when it is fetched. */

import { resolve } from "node:path";
import type { MappingReader } from "./mapping.ts";
import { durationForm, readDuration } from "./quantities.ts";
import { hasTimes, templateFault, templateForm } from "./time-template.ts";

/** How a source is fetched. */
export interface FetchSettings {
  /** URL as written, with any credentials in it: never show it. It may contain times in braces (`time-template.ts`). */
  readonly url: string;
  /** Seconds between two files whose names contain a time; 0: the URL contains none. */
  readonly everySeconds: number;
  /** Whether addresses that are not global may be connected to. */
  readonly allowPrivate: boolean;
  /** Whether a redirect from https to http is followed. */
  readonly allowDowngrade: boolean;
  /** Whether the digest in `<url>.md5` is compared. */
  readonly md5: "required" | "if-present" | "no";
  /** Absolute path of certificates (PEM) that are trusted in addition to the default ones; null: none. */
  readonly caFile: string | null;
  /** Absolute path of a file with the value of the header Authorization; null: none. */
  readonly authorizationFile: string | null;
}

/** Keys that only a source with a URL may have. */
export const fetchKeys = ["every", "allow_private", "allow_downgrade", "md5", "ca_file", "authorization_file"] as const;

export type Fault = (key: string, message: string) => void;

/** @returns null if the URL itself is invalid */
export function readFetchSettings(
  members: MappingReader,
  url: string,
  format: string | null,
  folder: string,
  fault: Fault,
): FetchSettings | null {
  const flag = (key: string) => members.read(key, "true or false", (value) => (typeof value === "boolean" ? value : null));
  const file = (key: string) => {
    const path = members.read(key, "the path of a file", (value) => (typeof value === "string" && value.trim() !== "" ? value : null));
    return path === null ? null : resolve(folder, path);
  };
  const md5 = flag("md5");
  const every = members.read("every", durationForm, readDuration);
  if (hasTimes(url) && !members.has("every"))
    fault("location", "location: contains times in braces; set `every` to the interval between files, such as 2h");
  if (!hasTimes(url) && members.has("every")) fault("every", `every: is only for a location with times, ${templateForm}`);
  const settings = {
    url,
    everySeconds: every ?? 0,
    allowPrivate: flag("allow_private") ?? false,
    allowDowngrade: flag("allow_downgrade") ?? false,
    // The registries publish a digest beside each file.
    md5: md5 === null ? (format === "delegated" ? "if-present" : "no") : md5 ? "required" : "no",
    caFile: file("ca_file"),
    authorizationFile: file("authorization_file"),
  } as const;
  const wrong = urlFault(url);
  if (wrong !== null) fault("location", `location: ${wrong}`);
  return wrong === null ? settings : null;
}

function urlFault(url: string): string | null {
  const wrong = templateFault(url);
  if (wrong !== null) return wrong;
  // Braces stand for digits, which are valid in every place where braces are useful.
  const parsed = URL.parse(url.replaceAll(/[{}]/g, ""));
  return parsed === null || parsed.hostname === "" ? "is not a URL" : null;
}

/** Words in the name of a query parameter whose value is secret. */
const secretName = /key|token|secret|pass|sig|auth|cred/i;

/** The URL without secrets: without user, password, fragment, and the values of parameters with a secret name. */
export function shownUrl(text: string): string {
  return text
    .replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1")
    .replace(/#.*$/, "")
    .replaceAll(/([?&])([^=&]*)=([^&]*)/g, (whole, mark: string, name: string) => (secretName.test(name) ? `${mark}${name}=…` : whole));
}
