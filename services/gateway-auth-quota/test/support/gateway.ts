/** A whole gateway for tests: real messaging, real store, services that answer with the examples of the contract. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  changesServiceOf,
  examples,
  type OperationName,
  operations,
  pastServiceOf,
  type ServiceName,
  serviceNames,
  services,
} from "@netfacts/contracts";
import { createKey, type NewKey } from "@netfacts/keys";
import { createInProcessMessaging, createResponder, type ItemHandler, type Messaging, type ReplyItem } from "@netfacts/messaging";
import { createMetrics, createRegistry, type MetricsRegistry } from "@netfacts/runtime";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { Value } from "typebox/value";
import { buildApp, type Gateway, type GatewayConfig, gatewayConfig, gatewayConfigSchema } from "../../src/app.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface GatewayOptions {
  readonly config?: Partial<GatewayConfig>;
  readonly messaging?: Messaging;
  /** What the gateway sees of the store. */
  readonly storeSeen?: (store: Store) => Store;
  /** Services that answer; all by default. */
  readonly services?: readonly ServiceName[];
  /** Whether they answer about the past. Default: true. */
  readonly past?: boolean;
}

export interface Harness {
  readonly gateway: Gateway;
  readonly messaging: Messaging;
  readonly store: Store;
  readonly registry: MetricsRegistry;
  readonly log: LogLine[];
  /** Moves the gateway's wall clock. */
  readonly clock: { offsetMs: number };
  /** Operations that answer otherwise than by their example. */
  readonly answers: Map<OperationName, ItemHandler<null>>;
  /** Makes a key and returns its text. */
  key(spec?: Partial<NewKey>): Promise<string>;
  request(method: string, url: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** GET with a key of every read scope, unless the headers say otherwise. */
  get(url: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  stop(): Promise<void>;
}

export const readScopes = ["ip", "routing", "asn", "prefix", "reverse_dns"] as const;

/** The reply of an operation with its example, as a service sends it. */
export function exampleReply(op: OperationName): ReplyItem {
  return {
    status: 200,
    contentType: "json",
    body: Buffer.from(JSON.stringify(examples[op])),
    counted: op !== "status",
    cacheable: true,
    maxAgeSeconds: 120,
    etag: "routes=20261121.0855;vrps=20261121T085012Z",
    snapshotId: "s1",
  };
}

export async function startGateway(options: GatewayOptions = {}): Promise<Harness> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-gateway-"));
  const store = await openSqliteStore(join(folder, "control.sqlite"));
  const messaging = options.messaging ?? createInProcessMessaging();
  const answers = new Map<OperationName, ItemHandler<null>>();
  for (const service of options.services ?? serviceNames) await serveExamples(messaging, service, answers, options.past ?? true);

  const log: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    log.push({ level, message, fields: { ...fields } });
  };
  const clock = { offsetMs: 0 };
  const registry = createRegistry();
  const gateway = await buildApp({
    config: {
      ...gatewayConfig(Value.Default(gatewayConfigSchema, {}) as Parameters<typeof gatewayConfig>[0]),
      PORT: 0,
      DRAIN_SECONDS: 0,
      KEYLESS_PER_SECOND_MAX: 1_000_000,
      REFUSALS_PER_SECOND_MAX: 1_000_000,
      STATUS_CACHE_MS: 0,
      // No answer is late because the machine is busy.
      LOOKUP_BUDGET_MS: 60_000,
      REVERSE_DNS_BUDGET_MS: 60_000,
      ...options.config,
    },
    messaging,
    store: options.storeSeen?.(store) ?? store,
    log: { info: write("info"), warn: write("warn"), error: write("error") },
    metrics: createMetrics("gateway-auth-quota", registry),
    clock: { now: () => Date.now() + clock.offsetMs },
  });

  const key = async (spec: Partial<NewKey> = {}) => (await createKey(store, { label: "test", scopes: [...readScopes], ...spec })).secret;
  let ownKey: Promise<string> | undefined;
  const request = async (method: string, url: string, headers: Record<string, string> = {}): Promise<HttpAnswer> => {
    const answer = await gateway.http.inject({ method: method as "GET", url, headers });
    return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: answer.body };
  };
  return {
    gateway,
    messaging,
    store,
    registry,
    log,
    clock,
    answers,
    key,
    request,
    async get(url, headers = {}) {
      ownKey ??= key();
      return request("GET", url, { authorization: `Bearer ${await ownKey}`, ...headers });
    },
    async stop() {
      await gateway.stop();
      await messaging.close();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function serveExamples(
  messaging: Messaging,
  service: ServiceName,
  answers: ReadonlyMap<OperationName, ItemHandler<null>>,
  withPast: boolean,
): Promise<void> {
  const names = (Object.keys(operations) as OperationName[]).filter((op) => operations[op].service === service);
  const handler =
    (op: OperationName): ItemHandler<null> =>
    (item) =>
      (answers.get(op) ?? (() => exampleReply(op)))(item, null);
  const responder = createResponder({
    enter: () => ({ context: null }),
    ops: new Map(names.map((op) => [op, handler(op)])),
    onFailure: () => {},
  });
  await messaging.serve(service, responder);
  if (!services[service].snapshots || !withPast) return;
  await messaging.serve(pastServiceOf(service), responder);
  await messaging.serve(changesServiceOf(service), responder);
}
