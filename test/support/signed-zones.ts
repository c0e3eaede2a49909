/** DNSSEC for the zones of an authoritative server in tests: valid and invalid signatures, made by ldns (Debian package `ldnsutils`). */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, findDebianTool } from "./debian.ts";

const run = promisify(execFile);

const packageName = "ldnsutils";
const tool = (name: string, variable: string) => findDebianTool({ name, variable, packageName, binary: `usr/bin/${name}` });

/** Looks at `LDNS_KEYGEN` and `LDNS_SIGNZONE` in the environment, then in PATH, the cache and the registry. */
export async function findZoneSigner(): Promise<{ readonly keygen: FoundTool; readonly signzone: FoundTool }> {
  // Search one after the other, because both are in the same package.
  const keygen = await tool("ldns-keygen", "LDNS_KEYGEN");
  return { keygen, signzone: await tool("ldns-signzone", "LDNS_SIGNZONE") };
}

/**
 * `good`: signed, with a DS record in the root. `expired`: signed until last year. `forged`: records were changed after signing.
 * `unsigned`: the root proves that it is not signed.
 */
export type Signing = "good" | "expired" | "forged" | "unsigned";

export interface SignedZone {
  readonly text: string;
  readonly signing: Signing;
}

export interface SignedZones {
  /** Zone files by zone name for `startNsd`, with the root, which delegates all others. */
  readonly zones: Readonly<Record<string, string>>;
  /** The key of the root, for `startUnbound`. */
  readonly trustAnchor: string;
}

/** @param zones  zones by name, without the dot at its end. */
export async function signZones(zones: Readonly<Record<string, SignedZone>>): Promise<SignedZones> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-signed-"));
  try {
    const signed: [string, string][] = [];
    let root = "$ORIGIN .\n$TTL 3600\n@ IN SOA ns.example. host.example. 1 7200 900 86400 120\n@ IN NS ns.example.\n";
    for (const [name, { text, signing }] of Object.entries(zones)) {
      root += `${name}. IN NS ns.example.\n`;
      if (signing === "unsigned") {
        signed.push([name, text]);
        continue;
      }
      const { signedText, ds } = await signZone(folder, name, text, signing);
      root += `${ds}\n`;
      signed.push([name, signedText]);
    }
    const { signedText, key } = await signZone(folder, "", root, "good");
    return { zones: Object.fromEntries([...signed, [".", signedText]]), trustAnchor: key };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function signZone(folder: string, name: string, text: string, signing: Signing) {
  const { keygen, signzone } = await findZoneSigner();
  if (!keygen.found || !signzone.found) throw new Error("ldns-keygen and ldns-signzone are needed: install Debian's ldnsutils");
  const options = (env: Readonly<Record<string, string>>) => ({ cwd: folder, env: { PATH: process.env.PATH, ...env } });
  const made = await run(keygen.command, ["-a", "ECDSAP256SHA256", "-k", "-r", "/dev/urandom", `${name}.`], options(keygen.env));
  const key = made.stdout.trim();
  await writeFile(join(folder, "zone"), text);
  const times = signing === "expired" ? ["-i", "20250101", "-e", "20250201"] : [];
  await run(signzone.command, ["-o", `${name}.`, ...times, "-f", "signed", "zone", key], options(signzone.env));
  const read = (file: string) => readFile(join(folder, file), "utf8");
  const signedText = await read("signed");
  return {
    signedText: signing === "forged" ? forge(signedText) : signedText,
    key: (await read(`${key}.key`)).trim(),
    ds: (await read(`${key}.ds`)).trim(),
  };
}

/** Changes the name in each PTR record, but keeps its signature. */
function forge(text: string): string {
  return text.replace(/^(\S+\s+\d+\s+IN\s+PTR\s+)(\S+)$/gm, "$1evil.example.");
}
