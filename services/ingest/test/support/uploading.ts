/** Uploads at a service of a test: bodies, and the connections that send them. */

import { connect, type Socket } from "node:net";
import { internalHeaders } from "@netfacts/contracts";
import type { HttpAnswer, ServiceHarness } from "./service.ts";
import { proxyToken } from "./service.ts";

export const observationsPath = "/admin/v1/ingest/observations";
export const ndjson = "application/x-ndjson";

export function observation(ip: string, members: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ip, lat: 52.37, lon: 4.9, country: "NL", observed_at: "2026-11-01T10:00:00Z", ...members });
}

export interface Sent {
  readonly upload?: string;
  readonly offset?: number;
  readonly source?: string;
  readonly part?: boolean;
  readonly type?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function uploadUrl({ upload, offset, source, part }: Sent): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ upload, offset, source, part })) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? observationsPath : `${observationsPath}?${query}`;
}

export function send(service: ServiceHarness, body: string | ReadableStream, sent: Sent = {}): Promise<HttpAnswer> {
  const { type = ndjson, key = "7Q9M3W8K", headers = {} } = sent;
  return service.ask("POST", uploadUrl(sent), { body, headers: { "content-type": type, [internalHeaders.keyId]: key, ...headers } });
}

/** The rows of an export. */
export async function exported(service: ServiceHarness, query: string): Promise<Record<string, unknown>[]> {
  const { body } = await service.ask("GET", `${observationsPath}?${query}`);
  return body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A request whose body a test sends as it likes, chunk by chunk. */
export async function openUpload(service: ServiceHarness, sent: Sent): Promise<{ write(text: string): void; readonly socket: Socket }> {
  const { hostname, port } = new URL(service.app.url());
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  const head = [
    `POST ${uploadUrl(sent)} HTTP/1.1`,
    "host: ingest",
    `content-type: ${sent.type ?? ndjson}`,
    `${internalHeaders.proxyToken}: ${proxyToken}`,
    "transfer-encoding: chunked",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return {
    socket,
    write: (text) => void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`),
  };
}

/** Asks until `holds`; the last answer. Throws it after 20 s. */
export async function until<T>(ask: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  const ends = Date.now() + 20_000;
  for (let found = await ask(); ; found = await ask()) {
    if (holds(found)) return found;
    if (Date.now() > ends) throw new Error(`still ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
