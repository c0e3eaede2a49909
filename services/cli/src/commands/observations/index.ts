/** `netfacts observations`: imports observations and geofeeds, and shows or deletes stored ones. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ContentError, openContent } from "@netfacts/content";
import type { ObservationUpload } from "@netfacts/contracts";
import type { UploadFormat } from "@netfacts/storage";
import { type Command, Option } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { signalCodes } from "../../interrupt.ts";
import { printJson, printLines } from "../../output.ts";
import { writePieces } from "../../record-text.ts";
import { keyIdOf } from "../keys/key-id.ts";
import { inputExitCode, nameOf } from "../mrt/files.ts";
import { mediaTypes, type ObservationsBackend, type Selection, withBackend } from "./backend.ts";

interface ServerOption {
  readonly url?: string;
}

interface ImportOptions extends ServerOption {
  readonly format?: UploadFormat;
  readonly source?: string;
  readonly resume?: boolean;
}

const urlOption = () =>
  new Option("--url <url>", "operator listener of a server, used with the key in NETFACTS_KEY (default: the store)").env(
    "NETFACTS_OPERATOR_URL",
  );
/** Formats by file name. A word in the name distinguishes a geofeed from other CSV. */
const formatsByName: readonly (readonly [RegExp, UploadFormat])[] = [
  [/geofeed/i, "geofeed"],
  [/\.(?:ndjson|jsonl|json)(?:\.(?:gz|bz2|zst))?$/i, "ndjson"],
  [/\.csv(?:\.(?:gz|bz2|zst))?$/i, "csv"],
];
const badLinesShown = 10;

export const observations: RegisterCommand = (program, context) => {
  const group = program.command("observations").description("import, export and delete observations of where addresses are");
  group
    .command("import")
    .description("store the lines of files; a file that was imported before is not stored twice")
    .argument("<file...>", "files of NDJSON, CSV or RFC 8805 geofeed, - for standard input; gzip, bzip2 and zstd are decompressed")
    .addOption(new Option("--format <format>", "format of the files (default: by their names)").choices(Object.keys(mediaTypes)))
    .option("--source <name>", "name under which the observations count as one opinion (default: an id of the file)")
    .option("--resume", "continue each file where an earlier import of it ended")
    .addOption(urlOption())
    .action(async (files: readonly string[], options: ImportOptions, command: Command) => {
      const formats = files.map((file) => options.format ?? formatOf(file));
      const done: (ObservationUpload & { readonly file: string })[] = [];
      await withBackend({ ...options, command, context }, async (backend) => {
        for (const [at, file] of files.entries()) {
          const upload = await asFile(file, context, (path) => importFile(backend, path, formats[at] as UploadFormat, options));
          done.push({ file, ...upload });
          if (!sharedSettings(command).json) printLines(context, linesOf(nameOf(file), upload));
        }
      });
      if (sharedSettings(command).json) printJson(context, { items: done });
    });

  group
    .command("export")
    .description("print everything that is stored about an address, as NDJSON")
    .argument("<address>", "address, or a prefix")
    .addOption(urlOption())
    .action(async (what: string, options: ServerOption, command: Command) => {
      await withBackend({ ...options, command, context }, async (backend) => {
        await writePieces(context.stdout, backend.exported(what.includes("/") ? { prefix: what } : { address: what }));
      });
    });

  group
    .command("delete")
    .description("delete what is stored; answers follow with the next aggregation")
    .option("--address <address>", "observations that name this address")
    .option("--prefix <prefix>", "observations that name this prefix, or anything inside it")
    .option("--source <name>", "everything of this source")
    .option("--key <id>", "everything that this key uploaded", keyIdOf)
    .addOption(urlOption())
    .action(async ({ url, ...selection }: Selection & ServerOption, command: Command) => {
      if (Object.keys(selection).length !== 1) throw new CliError(exitCodes.usage, "give one of --address, --prefix, --source and --key");
      const deleted = await withBackend({ ...(url !== undefined && { url }), command, context }, async (backend) => {
        for (let sum = 0; ; ) {
          const removed = await backend.remove(selection);
          sum += removed.deleted;
          if (removed.complete) return sum;
        }
      });
      if (sharedSettings(command).json) printJson(context, { deleted });
      else printLines(context, [`${deleted} stored lines deleted`]);
    });
};

function formatOf(file: string): UploadFormat {
  const found = formatsByName.find(([form]) => form.test(basename(file)));
  if (found !== undefined) return found[1];
  throw new CliError(exitCodes.usage, `the name of ${nameOf(file)} does not tell its format: use --format`);
}

/** Copies a pipe or standard input to a file, because it is read twice, once for the id of the upload. A signal removes the copy too. */
async function asFile<T>(file: string, { stdin }: CliContext, work: (path: string) => Promise<T>): Promise<T> {
  const isStdin = file === "-";
  if (!isStdin && statSync(file, { throwIfNoEntry: false })?.isFIFO() !== true) return work(file);
  const folder = mkdtempSync(join(tmpdir(), "netfacts-"));
  const path = join(folder, "input");
  const endBySignal = (signal: NodeJS.Signals): void => {
    rmSync(folder, { recursive: true });
    process.kill(process.pid, signal);
  };
  for (const signal of signalCodes.keys()) process.once(signal, endBySignal);
  try {
    await pipeline(isStdin ? stdin() : createReadStream(file), createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    for (const signal of signalCodes.keys()) process.off(signal, endBySignal);
    rmSync(folder, { recursive: true });
  }
}

async function importFile(
  backend: ObservationsBackend,
  file: string,
  format: UploadFormat,
  { source, resume = false }: ImportOptions,
): Promise<ObservationUpload> {
  const id = await idOf(file, format);
  const offset = resume ? ((await backend.progress(id)) ?? 0) : 0;
  return backend.send({ id, source: source ?? null, format, offset, body: contentOf(file, offset) });
}

/** The id of an upload, from the content, so that the same file is the same upload. */
async function idOf(file: string, format: UploadFormat): Promise<string> {
  const digest = createHash("sha256").update(`${format}\n`);
  for await (const piece of contentOf(file, 0)) digest.update(piece);
  return digest.digest("hex").slice(0, 32);
}

async function* contentOf(file: string, offset: number): AsyncGenerator<Uint8Array> {
  let skip = offset;
  try {
    for await (const piece of openContent(file).stream) {
      const fresh = (piece as Uint8Array).subarray(Math.min(skip, piece.length));
      skip -= piece.length - fresh.length;
      if (fresh.length > 0) yield fresh;
    }
  } catch (error) {
    if (error instanceof ContentError) throw new CliError(inputExitCode(error), error.message, error);
    throw error;
  }
}

function linesOf(file: string, { rows, bad, lines, bad_lines: badLines }: ObservationUpload): string[] {
  const shown = badLines.slice(0, badLinesShown).map(({ line, reason }) => `  line ${line}: ${reason}`);
  const rest = bad > shown.length ? [`  and ${bad - shown.length} more`] : [];
  return [`${file}: ${lines} lines, ${rows} stored, ${bad} invalid`, ...shown, ...rest];
}
