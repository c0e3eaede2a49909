/** The operator API in the browser: one typed method for each call of a page. Failures are those of `@netfacts/client`. */

import { NetfactsProblem, NetfactsUnreachable, readRecord } from "@netfacts/client";
import type {
  AuditRecords,
  CreatedKey,
  IngestRun,
  IngestRuns,
  IngestSources,
  KeptSnapshots,
  KeyPatch,
  KeyRotation,
  ManagedKey,
  ManagedKeys,
  NewKey,
  ObservationUpload,
  ObservationUploads,
  Plan,
  PlanLimits,
  Plans,
  Problem,
  RollbackRequest,
  RotatedKey,
  RunRequest,
  SnapshotChanges,
  UsageItems,
} from "@netfacts/contracts";
import { hearDate } from "../server-clock.ts";
import { operatorCalls } from "./operator-calls.ts";

type CallName = keyof typeof operatorCalls;
export type Query = Readonly<Record<string, string | number | undefined>>;

interface Asked {
  readonly id?: string;
  readonly query?: Query;
  readonly body?: object;
  /** The same for all tries of a change, so that it is made only once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadPlace {
  readonly upload: string;
  readonly source: string;
  /** Content type, which names the format. */
  readonly type: string;
  /** Bytes of the file that are already stored. */
  readonly offset: number;
}

/** Longer than the gateway's own deadlines. */
const timeoutMs = 30_000;

export class OperatorClient {
  readonly #origin: string;
  readonly #key: string | null;

  constructor(origin: string, key: string | null) {
    this.#origin = origin;
    this.#key = key;
  }

  listKeys = (query: Query, signal?: AbortSignal) => this.#json<ManagedKeys>("listKeys", { query, signal });
  createKey = (body: NewKey, idempotencyKey: string) => this.#json<CreatedKey>("createKey", { body, idempotencyKey });
  getKey = (id: string, signal?: AbortSignal) => this.#json<ManagedKey>("getKey", { id, signal });
  updateKey = (id: string, body: KeyPatch) => this.#json<ManagedKey>("updateKey", { id, body });
  rotateKey = (id: string, body: KeyRotation, idempotencyKey: string) => this.#json<RotatedKey>("rotateKey", { id, body, idempotencyKey });
  setKeyState = (id: string, action: "disable" | "enable" | "revoke") => this.#json<ManagedKey>(`${action}Key`, { id });
  listPlans = (signal?: AbortSignal) => this.#json<Plans>("listPlans", { signal });
  putPlan = (id: string, body: PlanLimits) => this.#json<Plan>("putPlan", { id, body });
  deletePlan = (id: string) => this.#ask("deletePlan", { id }, async () => undefined);
  listAudit = (query: Query, signal?: AbortSignal) => this.#json<AuditRecords>("listAudit", { query, signal });
  listUsage = (query: Query, signal?: AbortSignal) => this.#json<UsageItems>("listUsage", { query, signal });
  usageCsv = (query: Query) => this.#ask("listUsage", { query: { ...query, format: "csv" } }, (response) => response.blob());
  listRuns = (query: Query, signal?: AbortSignal) => this.#json<IngestRuns>("listRuns", { query, signal });
  startRun = (body: RunRequest) => this.#json<IngestRun>("startRun", { body });
  getRun = (id: string, signal?: AbortSignal) => this.#json<IngestRun>("getRun", { id, signal });
  listSnapshots = (signal?: AbortSignal) => this.#json<KeptSnapshots>("listSnapshots", { signal });
  compareSnapshots = (query: Query, signal?: AbortSignal) => this.#json<SnapshotChanges>("compareSnapshots", { query, signal });
  rollBack = (body: RollbackRequest) => this.#json<IngestRun>("rollBack", { body });
  listSources = (signal?: AbortSignal) => this.#json<IngestSources>("listSources", { signal });
  listUploads = (query: Query, signal?: AbortSignal) => this.#json<ObservationUploads>("listUploads", { query, signal });
  getUpload = (id: string, signal?: AbortSignal) => this.#json<ObservationUpload>("getUpload", { id, signal });

  /**
   * Sends the file from `place.offset` on, as the browser reads it. There is no time limit: the server ends an upload only if no bytes arrive.
   *
   * @param onSent  called with the number of bytes of the file that were sent.
   */
  upload(file: Blob, place: UploadPlace, onSent: (bytes: number) => void, signal: AbortSignal): Promise<ObservationUpload> {
    const { upload, source, type, offset } = place;
    const [method] = operatorCalls.uploadObservations;
    const url = this.#urlOf("uploadObservations", { query: { upload, source, offset } });
    // `fetch` does not report the progress of a request.
    const request = new XMLHttpRequest();
    return new Promise((resolve, reject) => {
      const unreachable = () => reject(new NetfactsUnreachable("the connection was interrupted"));
      request.upload.onprogress = ({ loaded }) => onSent(offset + loaded);
      request.onerror = unreachable;
      request.onabort = () => reject(signal.reason);
      request.onload = () => {
        const { status, responseText } = request;
        if (status >= 300) return reject(failureOf(status, (name) => request.getResponseHeader(name), responseText));
        try {
          resolve(readRecord(responseText, status) as ObservationUpload);
        } catch (failure) {
          reject(failure);
        }
      };
      signal.addEventListener("abort", () => request.abort(), { once: true });
      request.open(method, url);
      request.setRequestHeader("content-type", type);
      request.setRequestHeader("accept", "application/json");
      if (this.#key !== null) request.setRequestHeader("authorization", `Bearer ${this.#key}`);
      request.send(file.slice(offset));
    });
  }

  #json<T>(name: CallName, asked: Asked): Promise<T> {
    return this.#ask(name, asked, async (response) => readRecordOf<T>(name, await response.text(), response.status));
  }

  async #ask<T>(name: CallName, asked: Asked, read: (response: Response) => Promise<T>): Promise<T> {
    const { body, idempotencyKey, signal } = asked;
    const bound = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(this.#urlOf(name, asked), {
        method: operatorCalls[name][0],
        headers: {
          accept: asked.query?.format === "csv" ? "text/csv, application/problem+json" : "application/json",
          ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        cache: "no-store",
        signal: signal === undefined ? bound : AbortSignal.any([signal, bound]),
      });
      hearDate(response.headers.get("date"));
      if (!response.ok) throw failureOf(response.status, (header) => response.headers.get(header), await response.text());
      return await read(response);
    } catch (failure) {
      if (failure instanceof NetfactsProblem || failure instanceof NetfactsUnreachable) throw failure;
      signal?.throwIfAborted();
      if (bound.aborted) throw new NetfactsUnreachable(`no response within ${timeoutMs / 1_000} s`);
      throw new NetfactsUnreachable("the server cannot be reached, or its response was interrupted", { cause: failure });
    }
  }

  #urlOf(name: CallName, { id = "", query = {} }: Asked): string {
    const path = operatorCalls[name][1].replace("{id}", encodeURIComponent(id));
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
    return this.#origin + path + (search === "" ? "" : `?${search}`);
  }
}

function readRecordOf<T>(name: CallName, text: string, status: number): T {
  const record: { readonly items?: unknown } = readRecord(text, status);
  if (!name.startsWith("list") || Array.isArray(record.items)) return record as T;
  throw new NetfactsUnreachable("the response is JSON and no record of Netfacts", { status });
}

/** A proxy may respond in its own form. */
function failureOf(status: number, header: (name: string) => string | null, text: string): NetfactsProblem | NetfactsUnreachable {
  if (header("content-type")?.startsWith("application/problem+json")) {
    try {
      const problem = JSON.parse(text) as Problem;
      const seconds = Number.parseInt(header("retry-after") ?? "", 10);
      return new NetfactsProblem(Number.isNaN(seconds) ? problem : { ...problem, retry_after_seconds: seconds }, null);
    } catch {
      // Handled below.
    }
  }
  return new NetfactsUnreachable(`the response with status ${status} is not from Netfacts`, { status });
}
