/** The services as processes under light load, with all that they can depend on, and a Prometheus that scrapes them and evaluates the rules. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ruleFile } from "../../observability/alerts/index.ts";
import { type Distributed, type ServiceName, startDistributed } from "../support/distributed.ts";
import { request } from "../support/http.ts";
import { netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { discoveredLabels, documentedJob } from "./scrape-job.ts";
import { makeWorld, type World } from "./world.ts";

export interface WatchedSystem {
  readonly all: Distributed;
  readonly prometheus: Prometheus;
  readonly world: World;
  /** Between NATS and ip-routing-0, which uses TLS with a client certificate. */
  readonly proxy: TcpProxy;
  /** Text of nats-server's configuration beside its users. */
  readonly natsConfig: string;
  /** Setting of every client of NATS: its authority. */
  readonly trust: Readonly<Record<string, string>>;
  /** A test may change it. */
  readonly load: Load;
  /** Ends load, Prometheus, services and what they depend on. */
  stop(): Promise<void>;
}

/** Requests beside all that happens. */
export interface Load {
  /** Between two turns, of some ten requests each. */
  pauseMs: number;
  /** Names in a turn that were not asked for before. */
  newNames: number;
}

export interface WatchedOptions {
  readonly rules: ReturnType<typeof ruleFile>;
  readonly scrapeMs: number;
  /** At first. */
  readonly load: Readonly<Load>;
  /** Of the gateway, beside those of every run. */
  readonly gatewaySettings: Readonly<Record<string, string>>;
}

export async function startWatchedSystem({ rules, scrapeMs, load: firstLoad, gatewaySettings }: WatchedOptions): Promise<WatchedSystem> {
  const undo: (() => unknown)[] = [removeFolders];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    const home = temporaryFolder();
    const world = await makeWorld(home);
    undo.push(() => world.stop());
    const server = world.authority.issue("server");
    // Clients use TLS with every server that offers it.
    const trust = { NATS_CA_FILE: world.authority.certificate };
    const natsConfig = `allow_non_tls: true\ntls { cert_file: "${server.certificate}", key_file: "${server.key}" }`;
    let proxy: TcpProxy | null = null;
    const settingsOf = (service: ServiceName, index: number): Record<string, string> => {
      if (service === "ingest") return { SOURCES: world.sources, INGEST_LEASE_TTL_MS: "2000", INGEST_RTR_DELAY_MS: "100" };
      if (service === "gateway-auth-quota") return { ...gatewaySettings };
      const { certificate, key } = world.certificate;
      const client = { NATS_CERT_FILE: certificate, NATS_KEY_FILE: key };
      return service === "ip-routing" && index === 0 ? { ...client, NATS_URL: `tls://127.0.0.1:${proxy?.port}` } : {};
    };
    const all = await startDistributed({
      ownMongodb: true,
      replicas: { "ip-routing": 2, ingest: 1 },
      settings: {
        ...trust,
        RESOLVERS: world.nameservers.map(({ address }) => address).join(","),
        RDNS_TIMEOUT_MS: "300",
        USAGE_FLUSH_MS: "500",
      },
      settingsOf,
      natsConfig,
      snapshot: "by-ingest",
      async route(servers) {
        proxy = await startTcpProxy(servers.natsUrl);
        return { ...servers, natsUrl: overTls(servers.natsUrl) };
      },
    });
    undo.push(
      () => proxy?.stop(),
      () => all.stop(),
    );
    if (proxy === null) throw new Error("the services started without the proxy");
    const create = async (...options: string[]) =>
      (
        await netfactsJsonWith<{ secret: string }>(
          { ...all.env, ...trust, NATS_URL: overTls(all.nats.url) },
          home,
          "keys",
          "create",
          "--rate",
          "600/1s",
          ...options,
        )
      ).secret;
    const [key, adminKey] = await Promise.all([create("--label", "load"), create("--label", "operator", "--scopes", "admin")]);
    const { kubernetes_sd_configs: _, ...job } = documentedJob();
    const prometheus = await startPrometheus({
      scrapeInterval: `${scrapeMs}ms`,
      rules,
      job,
      targets: all.processes.map(({ operationsUrl, name }) => ({
        address: operationsUrl.slice("http://".length),
        labels: { ...discoveredLabels(name), instance: name },
      })),
    });
    undo.push(() => prometheus.stop());
    const load = { ...firstLoad, isOn: true };
    const done = ask(all, { key, adminKey }, load);
    undo.push(() => {
      load.isOn = false;
      return done;
    });
    return { all, prometheus, world, proxy, natsConfig, trust, load, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A panel's query as Grafana sends it, for all namespaces and instances. */
export function queryOf(expr: string, scrapeMs: number): string {
  return expr.replaceAll("$__rate_interval", `${4 * scrapeMs}ms`).replaceAll(/\$(namespace|instance)/g, ".*");
}

/** The same server, which must then show its certificate. */
export function overTls(url: string): string {
  return url.replace("nats://", "tls://");
}

const batch = JSON.stringify({ questions: [{ kind: "ip", value: "193.0.6.139" }] });

/** A little of everything that callers and operators do, some of it wrong. */
async function ask(
  all: Distributed,
  { key, adminKey }: { readonly key: string; readonly adminKey: string },
  load: Readonly<Load> & { readonly isOn: boolean },
): Promise<void> {
  const [gateway] = all.gateways;
  const json = { "content-type": "application/json" };
  let named = 0;
  const newName = (): string => `193.${1 + ((named >> 8) % 200)}.0.${named++ & 255}`;
  for (let turn = 0; load.isOn; turn++) {
    const address = `193.0.6.${turn % 8}`;
    const uncached = Array.from({ length: load.newNames }, newName);
    const asked = [
      ...["ip", "routing", "reverse-dns"].map((route) => request(`${gateway?.url}/api/v1/${route}/${address}`, { key })),
      ...uncached.map((name) => request(`${gateway?.url}/api/v1/reverse-dns/${name}`, { key })),
      request(`${gateway?.url}/api/v1/asn/3333`, { key }),
      request(`${gateway?.url}/api/v1/ip/nonsense`, { key }),
      request(`${gateway?.url}/api/v1/ip/${address}`, { key: `${key}x` }),
      request(`${gateway?.url}/api/v1/status`),
      request(`${gateway?.url}/api/v1/batch`, { key, method: "POST", body: batch, headers: json }),
      request(`${gateway?.operatorUrl}/admin/v1/ingest/runs`, { key: adminKey }),
    ];
    await Promise.allSettled(asked);
    await sleep(load.pauseMs);
  }
}
