/** @netfacts/runtime/secret-setting: secret settings, from the environment or from files. Loads nothing else. */

import { readFileSync } from "node:fs";
import { getSystemErrorMessage } from "node:util";
import { ConfigError } from "./config-error.ts";

export { ConfigError } from "./config-error.ts";

/** Settings that are secrets or contain one: each may be in the file that `<NAME>_FILE` names. */
const secretName = /^(NATS_URL|MONGODB_URI|ADMIN_KEY|KEY_PEPPERS|\w+_(TOKEN|SECRET|PASSWORD))$/;

export function isSecretSetting(name: string): boolean {
  return secretName.test(name);
}

/**
 * The text of the setting without white space around it: tools that write secrets add a line break. Empty: neither is set.
 *
 * @throws ConfigError if both are set, or the file is missing, empty or cannot be read.
 */
export function readSecretSetting(name: string, env: NodeJS.ProcessEnv = process.env): string {
  const text = (env[name] ?? "").trim();
  const path = (env[`${name}_FILE`] ?? "").trim();
  if (path === "") return text;
  if (text !== "") throw new ConfigError([`${name} and ${name}_FILE are both set; set only one`]);
  let content: string;
  try {
    content = readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException;
    const reason = errno === undefined ? "it is not a text file" : getSystemErrorMessage(errno);
    throw new ConfigError([`${name}_FILE: ${path} ${code === "ENOENT" ? "does not exist" : `cannot be read: ${reason}`}`]);
  }
  if (content === "") throw new ConfigError([`${name}_FILE: ${path} is empty`]);
  return content;
}
