/** Files of certificates that are trusted besides the public ones. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigError } from "./config-error.ts";

/**
 * The file that a setting names.
 *
 * @throws ConfigError  when it cannot be read, or holds no certificate.
 */
export function readAuthorities(setting: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError([`${setting} cannot be read: ${(cause as Error).message}`]);
  }
  const fault = authorityFault(text);
  if (fault !== null) throw new ConfigError([`${setting} must hold PEM certificates: ${fault}`]);
  return text;
}

/** Why a text is no list of authorities in PEM, of which the first certificate tells; null: it is one. Node would take it for an empty one. */
export function authorityFault(text: string): string | null {
  try {
    new X509Certificate(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
