/** Traces out of the cluster, as the values of the chart set them: from the ingress over the gateway and NATS to the service that answered. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type OtlpReceiver, type Span, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { type Cluster, openCluster, ownAddress } from "./support/cluster.ts";
import { type Nginx, startNginx } from "./support/nginx.ts";
import { installForEvaluation, makeNamespace, removeNamespaces, smallRequests } from "./support/release.ts";
import { tlsRequest } from "./support/tls-request.ts";

const namespace = "nf-traces";
/** Of the caller's own span. */
const caller = "00f067aa0ba902b7";
const token = "collector-token";
const spansMsMax = 60_000;

let cluster: Cluster;
let collector: OtlpReceiver;
let nginx: Nginx;
let key: string;

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  collector = await startOtlpReceiver(await ownAddress(cluster));
  await makeNamespace(cluster, namespace);
  await cluster.kubectl("-n", namespace, "create", "secret", "generic", "collector", `--from-literal=headers=x-collector-token=${token}`);
  const installed = await installForEvaluation(cluster, {
    namespace,
    values: {
      // Of the traces that begin at a gateway none: only those that a caller wants.
      telemetry: { otlpEndpoint: collector.url, ratio: 0, headersSecret: "collector" },
      networkPolicy: { telemetryPorts: [Number(new URL(collector.url).port)] },
      // The collector of the test reads JSON only.
      defaults: { replicas: 1, extraEnv: [{ name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "http/json" }] },
      gateway: { ...smallRequests.gateway, service: { type: "NodePort" } },
    },
  });
  key = installed.key;
  nginx = await startNginx({ upstream: new URL(installed.urls.node).host });
});

afterAll(async () => {
  await nginx?.stop();
  await collector?.stop();
  await removeNamespaces(cluster);
});

async function ask(path: string, traceparent?: string): Promise<void> {
  const { status, text } = await tlsRequest(`${nginx.url}${path}`, {
    ca: nginx.ca,
    key,
    headers: traceparent === undefined ? {} : { traceparent },
  });
  expect([path, status, text]).toEqual([path, 200, text]);
}

const stepOf = ({ service, kind }: Span) => `${service} ${kind}`;

test.each([
  ["ip-routing", "/api/v1/ip/193.0.6.139", "4bf92f3577b34da6a3ce929d0e0e4736"],
  ["asn-prefix", "/api/v1/asn/AS3333", "4bf92f3577b34da6a3ce929d0e0e4737"],
  ["rdns-resolver", "/api/v1/reverse-dns/193.0.6.139", "4bf92f3577b34da6a3ce929d0e0e4738"],
])("a trace of the caller leads through nginx and the gateway to %s", async (service, path, traceId) => {
  await ask(path, `00-${traceId}-${caller}-01`);
  const isLast = (span: Span) => span.service === service && span.kind === "server";
  const spans = await collector.waitForTrace(
    traceId,
    (found) => found.some(isLast) && found.some(({ parentSpanId }) => parentSpanId === caller),
    spansMsMax,
  );
  const above = (span: Span | undefined): Span[] =>
    span === undefined ? [] : [span, ...above(spans.find(({ spanId }) => spanId === span.parentSpanId))];
  const way = above(spans.find(isLast));
  console.log(way.map((span) => `${stepOf(span)} ${span.name}`).join(" ← "));
  expect(way.slice(0, 2).map(stepOf)).toEqual([`${service} server`, "gateway-auth-quota client"]);
  expect(way.at(-1)).toMatchObject({ service: "gateway-auth-quota", kind: "server", parentSpanId: caller });
});

test("a caller decides whether a trace is exported, and none begins at a gateway with a ratio of 0", async () => {
  const [unwanted, wanted] = ["4bf92f3577b34da6a3ce929d0e0e4739", "4bf92f3577b34da6a3ce929d0e0e473a"];
  await ask("/api/v1/ip/1.1.1.1", `00-${unwanted}-${caller}-00`);
  await ask("/api/v1/ip/1.1.1.1");
  // Exported after the others, if those are at all.
  await ask("/api/v1/ip/1.1.1.1", `00-${wanted}-${caller}-01`);
  await collector.waitForTrace(wanted, (found) => found.some(({ parentSpanId }) => parentSpanId === caller), spansMsMax);
  const gateways = collector.spans.filter(({ service, kind }) => service === "gateway-auth-quota" && kind === "server");
  expect(gateways.map(({ traceId }) => traceId)).not.toContain(unwanted);
  expect([...new Set(gateways.map(({ parentSpanId }) => parentSpanId))]).toEqual([caller]);
});

test("each export has the headers of the Secret", () => {
  expect(collector.headers.length).toBeGreaterThan(0);
  for (const headers of collector.headers) expect(headers["x-collector-token"]).toBe(token);
});
