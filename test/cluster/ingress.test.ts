/** Callers behind an ingress: nginx with TLS before the NodePort. Their addresses, limits and streams, and a rolling upgrade under kept connections. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { request, until } from "../support/http.ts";
import { type Cluster, openCluster, ownAddress } from "./support/cluster.ts";
import { ConstantLoad, expectHarmless } from "./support/constant-load.ts";
import { type Nginx, startNginx } from "./support/nginx.ts";
import { knownAnswers } from "./support/questions.ts";
import {
  installForEvaluation,
  makeKey,
  makeNamespace,
  patiently,
  removeNamespaces,
  serviceUrls,
  smallRequests,
  untilRolledOut,
} from "./support/release.ts";
import { openTlsRequest, type TlsAnswer, type TlsRequestOptions, tlsRequest } from "./support/tls-request.ts";

const namespace = "nf-ingress";
const gateway = "deployment/netfacts-gateway-auth-quota";
const path = "/api/v1/ip/193.0.6.139";
/** Clients of this machine, which nginx tells apart. */
const [alice, bob] = ["127.0.0.2", "127.0.0.3"] as const;
/** Of documentation (RFC 5737): an address that clients make up. */
const madeUp = "198.51.100.7";

let cluster: Cluster;
let nginx: Nginx;
/** With the annotations that docs/operations/kubernetes.md gives. */
let annotated: Nginx;
let urls: { cluster: string; node: string };
let key: string;

const newKey = async (...options: string[]) => (await makeKey(cluster, namespace, gateway, ...options)).secret;
const ask = (to: Nginx, at: string, options: Omit<TlsRequestOptions, "ca">): Promise<TlsAnswer> =>
  patiently(() => tlsRequest(`${to.url}${at}`, { ca: to.ca, ...options }));
/** The address that the gateway takes for the client's. */
async function addressSeen(to: Nginx, options: Omit<TlsRequestOptions, "ca">): Promise<string> {
  const { status, json } = await ask(to, "/api/v1/me", { key, ...options });
  expect(status).toBe(200);
  return json.client.ip;
}

/** A second Service for the same pods, with the default policy for callers from outside. */
const throughAnyNode = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "through-any-node" },
  spec: {
    type: "NodePort",
    externalTrafficPolicy: "Cluster",
    selector: { "app.kubernetes.io/component": "gateway-auth-quota", "app.kubernetes.io/instance": "netfacts" },
    ports: [{ name: "http", port: 80, targetPort: "http" }],
  },
};

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  await makeNamespace(cluster, namespace);
  ({ key, urls } = await installForEvaluation(cluster, {
    namespace,
    // Limits have 500 ms for the database. On a busy node it must come before the pods that start.
    backing: { mongodb: { resources: { requests: { cpu: "500m" } } } },
    values: {
      gateway: {
        ...smallRequests.gateway,
        replicas: 2,
        trustedProxies: [await ownAddress(cluster)],
        service: { type: "NodePort", externalTrafficPolicy: "Local" },
      },
      extraObjects: [throughAnyNode],
    },
  }));
  const upstream = new URL(urls.node).host;
  nginx = await startNginx({ upstream });
  annotated = await startNginx({
    upstream,
    annotations: { "proxy-body-size": "0", "proxy-request-buffering": "off", "proxy-read-timeout": "75" },
    appendsForwardedFor: true,
  });
});

afterAll(async () => {
  await nginx?.stop();
  await annotated?.stop();
  await removeNamespaces(cluster);
});

describe("the address of a client", () => {
  test("is the one that nginx saw", async () => {
    for (const from of [alice, bob]) expect(await addressSeen(nginx, { from })).toBe(from);
  });

  test("is not what the client says, whether nginx replaces that or adds to it", async () => {
    const headers = { "x-forwarded-for": madeUp, "x-real-ip": madeUp, forwarded: `for=${madeUp}` };
    for (const to of [nginx, annotated]) expect(await addressSeen(to, { from: alice, headers })).toBe(alice);
  });

  test("is its own if it goes around nginx: a pod of the cluster is no trusted proxy", async () => {
    const script = `fetch(process.argv[1], { headers: { authorization: "Bearer " + process.argv[2], "x-forwarded-for": "${madeUp}" } })
      .then(async (answer) => console.log((await answer.json()).client.ip));`;
    const [pod] = await cluster.get(namespace, "pods", "-l", "app.kubernetes.io/component=ip-routing");
    const program = ["/usr/local/bin/node", "-e", script, `${urls.cluster}/api/v1/me`, key];
    const seen = await cluster.kubectl("-n", namespace, "exec", pod?.metadata.name, "--", ...program);
    expect(seen.trim()).toBe(pod?.status.podIP);
  });

  test("is that of the node if any node takes callers: then it must not be trusted", async () => {
    const { node } = await serviceUrls(cluster, namespace, "through-any-node");
    const answer = await patiently(() => request(`${node}/api/v1/me`, { key, headers: { "x-forwarded-for": madeUp } }));
    const seen = answer.json.client.ip;
    console.log(`with externalTrafficPolicy Local a caller on ${await ownAddress(cluster)} is seen as such, with Cluster as ${seen}`);
    expect([madeUp, await ownAddress(cluster)]).not.toContain(seen);
  });

  test("is what allowed networks of a key hold against", async () => {
    const bound = await newKey("--cidr", `${alice}/32`);
    expect((await ask(nginx, path, { key: bound, from: alice })).status).toBe(200);
    for (const headers of [{}, { "x-forwarded-for": alice }]) {
      for (const to of [nginx, annotated]) {
        const refused = await ask(to, path, { key: bound, from: bob, headers });
        expect([refused.status, refused.json.code]).toEqual([403, "ip_not_allowed"]);
      }
    }
  });

  test("is what failed keys are counted for: another client of the same nginx is not refused", async () => {
    const wrongKey = () => generateKeyText("live").text;
    const tried = async () => (await ask(nginx, path, { key: wrongKey(), from: alice })).status;
    await until(async () => (await tried()) === 429, { pauseMsMax: 10 });
    expect((await ask(nginx, path, { key: wrongKey(), from: bob })).status).toBe(401);
  });
});

test("a 429 arrives as the gateway sends it", async () => {
  const limited = await newKey("--rate", "3/3600s");
  // Two gateways may share the units unevenly: what is refused is asked again.
  let refused: TlsAnswer | undefined;
  await until(async () => {
    refused = await ask(nginx, path, { key: limited });
    return refused.status === 429;
  });
  expect(refused?.json).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  const direct = await patiently(() => request(`${urls.node}${path}`, { key: limited }));
  expect(direct.status).toBe(429);
  const names = [...direct.headers.keys()].filter((name) =>
    /^(content-type|retry-after|.*ratelimit.*|x-quota.*|x-request-cost)$/.test(name),
  );
  expect(names).toEqual(expect.arrayContaining(["content-type", "ratelimit", "ratelimit-policy", "retry-after"]));
  expect(Object.keys(refused?.headers ?? {})).toEqual(expect.arrayContaining(names));
  expect(refused?.headers["content-type"]).toBe(direct.headers.get("content-type"));
  expect(refused?.headers["ratelimit-policy"]).toBe(direct.headers.get("ratelimit-policy"));
});

describe("a batch", () => {
  const question = { kind: "ip", value: "193.0.6.139" };
  const line = `${JSON.stringify(question)}\n`;
  const lines = { method: "POST", headers: { "content-type": "application/x-ndjson" } };
  const document = { method: "POST", headers: { "content-type": "application/json" } };
  const linesOf = (text: string) => text.split("\n").filter(Boolean);
  const summaryOf = ({ status, text }: TlsAnswer) => [status, JSON.parse(linesOf(text).at(-1) ?? "")];

  test("of lines is answered while it is sent, with the annotations", async () => {
    const open = openTlsRequest(`${annotated.url}/api/v1/batch`, { ca: annotated.ca, key, ...lines });
    for (let sent = 1; sent <= 3; sent++) {
      open.write(line);
      await until(() => linesOf(open.text).length === sent);
    }
    open.end();
    expect(summaryOf(await open.answer)).toMatchObject([200, { count: 3, failed_count: 0 }]);
  });

  // nginx drops the rest of a body if the answer has begun and it cannot send at once: docs/operations/kubernetes.md#values-by-task.
  test("of lines is answered completely up to 64 KiB, with the annotations and without them", async () => {
    const count = Math.floor((64 << 10) / line.length);
    for (const to of [nginx, annotated]) {
      const answer = await ask(to, "/api/v1/batch?meta=false", { key, ...lines, body: line.repeat(count) });
      expect(summaryOf(answer)).toMatchObject([200, { count, failed_count: 0 }]);
    }
  });

  test("of the greatest size is answered as one document with the annotations, and one byte more gets the gateway's 413", async () => {
    const questions = Array.from({ length: 1_000 }, () => question);
    const body = JSON.stringify({ questions }).padEnd(1 << 20);
    const whole = await ask(annotated, "/api/v1/batch?meta=false", { key, ...document, body });
    expect([whole.status, whole.json.count, whole.json.failed_count]).toEqual([200, 1_000, 0]);
    const refused = await ask(annotated, "/api/v1/batch", { key, ...document, body: `${body} ` });
    expect([refused.status, refused.json.code]).toEqual([413, "payload_too_large"]);
  });

  test("above 1 MiB gets nginx's own 413 without the annotations", async () => {
    const refused = await ask(nginx, "/api/v1/batch", { key, ...document, body: " ".repeat((1 << 20) + 1) });
    expect([refused.status, refused.headers["content-type"]]).toEqual([413, "text/html"]);
  });
});

test("a rolling upgrade of the gateway is not noticed behind nginx, which keeps connections to it", async () => {
  const load = new ConstantLoad({
    url: nginx.url,
    ca: nginx.ca,
    key,
    questions: await knownAnswers(urls.node, key),
    perSecond: 30,
  });
  try {
    const before = (await nginx.accessLog()).length;
    const result = await load.during("rolling upgrade of gateway-auth-quota, through nginx", async () => {
      await cluster.kubectl("-n", namespace, "rollout", "restart", gateway);
      await untilRolledOut(cluster, { namespace, service: "gateway-auth-quota" });
    });
    const lines = (await nginx.accessLog()).slice(before);
    const repeated = lines.filter(({ upstreamStatus }) => upstreamStatus.includes(","));
    console.log(
      `${result.event}: ${result.requests} requests, ${result.failed} failed (database late: ${result.databaseLate}), ${result.wrong} wrong, p99 ${result.p99Ms} ms; nginx repeated ${repeated.length}`,
      ...result.faults,
    );
    expectHarmless(result);
    expect(lines.length).toBeGreaterThanOrEqual(result.requests);
  } finally {
    await load.stop();
  }
});
