/** Backends for observations: the operator API of a server, or the store itself. */

import { join } from "node:path";
import { hostPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { ingestPath, type ObservationsDeleted, type ObservationUpload, type Problem, ProblemError, timestamp } from "@netfacts/contracts";
import { openLocalObservations } from "@netfacts/ingest/app";
import { observationsFile, type UploadFormat, type UploadRecord } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { notRead } from "../../subject-arguments.ts";
import { cliOperator, databaseUri, withStore } from "../control-store.ts";

export interface FileToSend {
  readonly id: string;
  readonly source: string | null;
  readonly format: UploadFormat;
  readonly offset: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Filters, with the names of the API. */
export type Selection = Readonly<Partial<Record<"address" | "prefix" | "source" | "key", string>>>;

export interface ObservationsBackend {
  /** Bytes of an upload that are stored; null: the upload is unknown. */
  progress(id: string): Promise<number | null>;
  send(file: FileToSend): Promise<ObservationUpload>;
  exported(selection: Selection): AsyncIterable<Uint8Array | string>;
  remove(selection: Selection): Promise<ObservationsDeleted>;
}

export interface BackendOptions {
  readonly url?: string;
  readonly command: Command;
  readonly context: CliContext;
}

export const mediaTypes: Readonly<Record<UploadFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  geofeed: "application/geofeed+csv",
};

/** Uses the server if there is a URL, with the key in NETFACTS_KEY; else the store, like all commands. */
export async function withBackend<T>(options: BackendOptions, work: (backend: ObservationsBackend) => Promise<T>): Promise<T> {
  if (options.url !== undefined) return work(serverBackend(options.url));
  const { command, context } = options;
  return withStore({ command, context, create: false }, async (store) => {
    const uri = databaseUri();
    const path = join(sharedSettings(command).dataDir, observationsFile);
    const source = uri === "" ? ({ kind: "sqlite", path } as const) : ({ kind: "mongo", uri } as const);
    const local = await openLocalObservations(source, store.audit, context);
    try {
      return await work(storeBackend(local));
    } finally {
      await local.close();
    }
  });
}

function storeBackend({ uploads, exported }: Awaited<ReturnType<typeof openLocalObservations>>): ObservationsBackend {
  return {
    progress: async (id) => (await uploads.repository.find(id))?.offset ?? null,
    send: async (file) => uploadText(await refused(() => uploads.receive({ ...file, isPart: false, by: cliOperator() }))),
    exported: ({ address, prefix }) => exported(prefixOf(address ?? prefix ?? "", address !== undefined)),
    async remove({ address, prefix, source, key }) {
      if (address !== undefined) return uploads.delete({ address: prefixOf(address, true) }, cliOperator());
      if (prefix !== undefined) return uploads.delete({ prefix: prefixOf(prefix, false) }, cliOperator());
      return uploads.delete(source === undefined ? { key: key ?? "" } : { source }, cliOperator());
    },
  };
}

function prefixOf(text: string, isAddress: boolean): Prefix {
  const address = isAddress ? parseAddress(text) : null;
  if (address !== null) return hostPrefix(address);
  const reading = isAddress ? null : parsePrefix(text);
  if (reading?.ok === true) return reading.prefix;
  throw new CliError(exitCodes.usage, `"${text}" is invalid. ${notRead(text, isAddress)}`);
}

async function refused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProblemError ? new CliError(exitCodes.failed, error.message, error) : error;
  }
}

function uploadText(upload: UploadRecord): ObservationUpload {
  const { id, format, source, keyId, createdAt, updatedAt, complete, offset, lines, rows, bad, badLines } = upload;
  const times = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
  return { upload: id, format, source, key_id: keyId, ...times, complete, offset, lines, rows, bad, bad_lines: [...badLines] };
}

function serverBackend(url: string): ObservationsBackend {
  const key = process.env.NETFACTS_KEY ?? "";
  if (key === "") throw new CliError(exitCodes.usage, "--url needs a key with the scope admin in NETFACTS_KEY");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new CliError(
      exitCodes.usage,
      `--url ${url} is not a URL; write http:// or https:// before the host, as in http://127.0.0.1:8081`,
    );
  const root = `${url.replace(/\/+$/, "")}${ingestPath}/observations`;
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(root + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } }).catch(
      (error: Error) => {
        throw new CliError(
          exitCodes.unavailable,
          `${url} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`,
          error,
        );
      },
    );
    if (response.ok || response.status === 404) return response;
    const text = await response.text();
    throw new CliError(response.status >= 500 ? exitCodes.unavailable : exitCodes.failed, `${response.status}: ${detailOf(text)}`);
  };
  const found = (response: Response): Response => {
    if (response.ok) return response;
    throw new CliError(exitCodes.notFound, `${url} has no routes of observations: it needs the address of the operator listener`);
  };
  return {
    async progress(id) {
      const response = await ask(`/uploads/${id}`);
      return response.ok ? ((await response.json()) as ObservationUpload).offset : null;
    },
    async send({ id, source, format, offset, body }) {
      const query = new URLSearchParams({ upload: id, offset: String(offset), ...(source !== null && { source }) });
      const init = {
        method: "POST",
        headers: { "content-type": mediaTypes[format] },
        body: ReadableStream.from(body),
        duplex: "half" as const,
      };
      return (await found(await ask(`?${query}`, init)).json()) as ObservationUpload;
    },
    async *exported(selection) {
      const { body } = found(await ask(`?${new URLSearchParams(selection as Record<string, string>)}`));
      if (body !== null) yield* body;
    },
    async remove(selection) {
      const { key, ...others } = selection;
      const query = new URLSearchParams({ ...others, ...(key !== undefined && { key_id: key }) } as Record<string, string>);
      return (await found(await ask(`?${query}`, { method: "DELETE" })).json()) as ObservationsDeleted;
    },
  };
}

function detailOf(text: string): string {
  try {
    return (JSON.parse(text) as Problem).detail;
  } catch {
    return text.slice(0, 200);
  }
}
