/** @netfacts/runtime/authorities: files of trusted certificates, in addition to the public ones. Loads nothing else. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { getSystemErrorMessage } from "node:util";
import { ConfigError } from "./config-error.ts";

/**
 * Reads the file that a setting names.
 *
 * @throws ConfigError  when it cannot be read, or holds no certificate.
 */
export function readAuthorities(setting: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const { code, errno, message } = cause as NodeJS.ErrnoException;
    const reason = errno === undefined ? message : getSystemErrorMessage(errno);
    throw new ConfigError([`${setting}: ${path} ${code === "ENOENT" ? "does not exist" : `cannot be read: ${reason}`}`]);
  }
  const fault = authorityFault(text);
  if (fault !== null) throw new ConfigError([`${setting}: ${path} must hold PEM certificates: ${fault}`]);
  return text;
}

/**
 * The reason why a text is not a list of authorities in PEM, by its first certificate; null: it is one. Node would use an invalid text as an empty
 * list.
 */
export function authorityFault(text: string): string | null {
  try {
    new X509Certificate(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
