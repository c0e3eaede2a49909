/** The service on an in-process bus, with a clock that tests move and settings that suit them. */

import { type ReverseDnsRecord, ReverseDnsRecord as Schema } from "@netfacts/contracts";
import { createInProcessMessaging, type ReplyItem } from "@netfacts/messaging";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import Value from "typebox/value";
import { buildApp, loadRdnsConfig } from "../../src/app.ts";

export interface Asked {
  readonly reply: ReplyItem;
  readonly record: ReverseDnsRecord;
}

export interface Service {
  /** A reply that is a record of the contract. */
  ask(ip: string, budgetMs?: number): Promise<Asked>;
  reply(ip: string, budgetMs?: number): Promise<ReplyItem>;
  /** Moves the clock of the cache. */
  advance(seconds: number): void;
  /** The value of a metric, by its name and labels as they are printed; 0 where it has none yet. */
  metric(name: string, labels?: string): Promise<number>;
  readonly log: string[];
  stop(): Promise<void>;
}

/** What a service keeps its answers in beside its own memory. */
export type OpenShared = NonNullable<Parameters<typeof buildApp>[0]["openShared"]>;

/** Looks no name up unless `env` says so: most tests are about the names. */
export async function startService(env: NodeJS.ProcessEnv, openShared?: OpenShared): Promise<Service> {
  const messaging = createInProcessMessaging({
    onError(what, cause) {
      throw new Error(what, { cause });
    },
  });
  const registry = createRegistry();
  const log: string[] = [];
  const write = (details: unknown, text?: string) => log.push(`${text} ${JSON.stringify(details)}`);
  let now = Date.parse("2026-11-21T09:00:02.250Z");
  const app = await buildApp({
    messaging,
    clock: { now: () => now },
    log: { info: write, warn: write, error: write } as Parameters<typeof buildApp>[0]["log"],
    metrics: createMetrics("rdns-resolver", registry),
    config: loadRdnsConfig({ RDNS_PROBE_INTERVAL_MS: "50", RDNS_FORWARD_NAMES_MAX: "0", ...env }),
    ...(openShared === undefined ? {} : { openShared }),
  });
  await app.start();

  // The usual RDNS_BUDGET_MS is shorter, so the time of the caller only ends what hangs.
  const reply = (ip: string, budgetMs = 20_000) =>
    messaging.request("rdns-resolver", "single", { op: "reverse_dns", query: ip, requestId: "test-1", traceparent: null, budgetMs });
  return {
    reply,
    async ask(ip, budgetMs) {
      const answer = await reply(ip, budgetMs);
      const body: unknown = JSON.parse(Buffer.from(answer.body).toString());
      if (!Value.Check(Schema, body)) throw new Error(`not a record: ${JSON.stringify(body)}`);
      return { reply: answer, record: body };
    },
    advance(seconds) {
      now += seconds * 1_000;
    },
    async metric(name, labels = "") {
      const text = await registry.text();
      const line = text.split("\n").find((one) => one.startsWith(`${name}{`) && one.includes(labels));
      return line === undefined ? 0 : Number(line.split(" ").at(-1));
    },
    log,
    async stop() {
      await app.stop();
      await messaging.close();
    },
  };
}
