/** The MD5 that registries publish beside their files: `<file>.md5`. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { openContent, systemReason } from "@netfacts/content";
import { md5In } from "../fetch/md5-text.ts";
import { SourceError } from "../readers/reader-report.ts";

/**
 * Compares a file with the digest in `<file>.md5` (`md5In`), where there is one. The digest may be that of the file as it is stored or of its unpacked content.
 *
 * Throws `SourceError` where it differs, or where that file holds no digest. Cost: the file is read once or twice.
 */
export async function checkMd5Beside(location: string): Promise<void> {
  const file = `${location}.md5`;
  let text: string;
  try {
    text = await textOf(file);
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new SourceError(file, null, `cannot be read: ${systemReason(cause)}`, { cause });
  }
  const told = md5In(text);
  if (told === null) throw new SourceError(file, { line: 1 }, "has no MD5 digest (32 hexadecimal digits)");
  try {
    if ((await md5Of(createReadStream(location))) === told || (await md5Of(openContent(location).stream)) === told) return;
  } catch {
    // What is wrong with the file itself is told by its reader.
    return;
  }
  throw new SourceError(location, null, `does not match the digest in ${file} (${told})`);
}

/** What there is beside a file, as text: beside another digest, a file that was refused may be good. Undefined: nothing. Never rejects. */
export function md5Beside(location: string): Promise<string | undefined> {
  return textOf(`${location}.md5`).catch(({ code, message }: NodeJS.ErrnoException) => (code === "ENOENT" ? undefined : (code ?? message)));
}

async function textOf(file: string): Promise<string> {
  // A pipe would be waited for.
  if (!(await stat(file)).isFile()) throw new SourceError(file, null, "cannot be read: it is not a file");
  return (await readFile(file, "latin1")).slice(0, 4096);
}

async function md5Of(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash("md5");
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest("hex");
}
