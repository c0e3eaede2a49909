/** DNS over TLS: unbound, and servers that close, stall or are somebody else. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import dnsPacket from "dns-packet";
import { type Authority, type Certificate, makeAuthority } from "../../../../test/support/certificates.ts";
import { freePort } from "../../../../test/support/dns-process.ts";
import { testZones } from "../../../../test/support/dns-zones.ts";
import { until } from "../../../../test/support/http.ts";
import { startNsd } from "../../../../test/support/nsd.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { startUnbound } from "../../../../test/support/unbound.ts";
import { nameOf, ptr } from "../support/dns-server.ts";
import { type Service, startService } from "../support/service.ts";

/** The servers' packages may have to be had first. */
const startMsMax = 180_000;

let folder: string;
let authority: Authority;
let good: Certificate;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "netfacts-dot-"));
  authority = makeAuthority(folder, "authority");
  good = authority.issue("good");
});

afterAll(() => rm(folder, { recursive: true }));

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

function kept<T extends { stop(): Promise<void> }>(one: T): T {
  running.push(one);
  return one;
}

async function serviceOf(resolvers: string, env: NodeJS.ProcessEnv = {}): Promise<Service> {
  return kept(await startService({ RESOLVERS: resolvers, RDNS_TLS_CA_FILE: authority.certificate, ...env }));
}

const ask = async (service: Service, ip: string) => {
  const body = JSON.parse(Buffer.from((await service.reply(ip, 5_000)).body).toString()) as { status?: string; code?: string };
  return body.code ?? body.status;
};

const questions = (service: Service, transport: string) => service.metric("netfacts_rdns_questions_total", `transport="${transport}"`);

/** Calls `onMessage` with each message of a connection and what sends an answer. */
async function startTls(certificate: Certificate, onMessage: (message: Buffer, socket: TLSSocket) => void, port = 0) {
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  const options = { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key), ALPNProtocols: ["dot"] };
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 2 && rest.length >= rest.readUInt16BE(0) + 2) {
        const end = rest.readUInt16BE(0) + 2;
        onMessage(rest.subarray(2, end), socket);
        rest = rest.subarray(end);
      }
    });
  });
  server.on("tlsClientError", () => {});
  // Those too that the client refuses.
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return kept({
    address: `tls://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The root is refused; everything else has a name. */
function honestly(message: Buffer): Buffer {
  const { id = 0, questions: asked = [] } = dnsPacket.decode(message);
  const name = asked[0]?.name ?? "";
  const isRoot = asked[0]?.type === "SOA";
  const answer = dnsPacket.encode({
    type: "response",
    id,
    flags: dnsPacket.RECURSION_DESIRED | (isRoot ? 5 : 0),
    questions: asked,
    answers: isRoot ? [] : [ptr(name, nameOf(name))],
  });
  return Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]);
}

test(
  "unbound answers over TLS, many questions on one connection, long answers too, and again after a restart",
  async () => {
    const nsd = kept(await startNsd({ zones: testZones }));
    const authorities = Object.fromEntries(Object.keys(testZones).map((zone) => [zone, nsd.port]));
    const tls = { port: await freePort(), ...good };
    const unbound = await startUnbound({ authorities, tls });
    const service = await serviceOf(`tls://localhost:${tls.port}`, { RDNS_FORWARD_NAMES_MAX: "20" });
    expect((await service.ask("193.0.6.139")).record).toMatchObject({ status: "ok", forward_confirmed: true });
    expect((await service.ask("193.0.6.200")).record.names).toHaveLength(90);
    const asked = await Promise.all(Array.from({ length: 100 }, (_, last) => service.ask(`193.0.6.${last}`)));
    expect(new Set(asked.map(({ record }) => record.status))).toEqual(new Set(["nxdomain"]));
    expect(await questions(service, "tls")).toBeGreaterThan(100);
    expect((await questions(service, "udp")) + (await questions(service, "tcp"))).toBe(0);

    await unbound.stop();
    await until(async () => (await ask(service, "193.0.6.140")) === "resolver_unavailable");
    kept(await startUnbound({ authorities, tls, port: unbound.port }));
    await until(async () => (await ask(service, "193.0.6.140")) === "ok");
  },
  startMsMax,
);

test.each<[string, (other: Authority) => Certificate, string]>([
  ["an authority that is not ours", (other) => other.issue("stranger"), "unable to verify"],
  ["another name", () => authority.issue("elsewhere", { names: "DNS:elsewhere.example" }), "altnames"],
  ["a time that is over", () => authority.issue("expired", { days: -1 }), "expired"],
])("a certificate of %s is refused, nothing is asked, and the log says why once", async (_, make, why) => {
  let messages = 0;
  const server = await startTls(make(makeAuthority(folder, "other")), () => {
    messages += 1;
  });
  const service = await serviceOf(server.address);
  expect(await ask(service, "193.0.6.1")).toBe("resolver_unavailable");
  await until(async () => server.connections() > 2);
  expect(messages).toBe(0);
  const lines = service.log.filter((line) => line.startsWith("no TLS connection"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(why);
});

test("the name of a certificate may be another than that of the host", async () => {
  const named = await startTls(authority.issue("dns", { names: "DNS:dns.example" }), (message, socket) => socket.write(honestly(message)));
  expect(await ask(await serviceOf(`${named.address}#dns.example`), "193.0.6.1")).toBe("ok");
  expect(await ask(await serviceOf(`${named.address}#other.example`), "193.0.6.1")).toBe("resolver_unavailable");
});

test("answers come in any order and in pieces", async () => {
  const held: Buffer[] = [];
  const server = await startTls(good, (message, socket) => {
    const answer = honestly(message);
    if (dnsPacket.decode(message).questions?.[0]?.type === "SOA") return void socket.write(answer);
    held.unshift(answer);
    if (held.length < 3) return;
    const all = Buffer.concat(held.splice(0));
    socket.write(all.subarray(0, 1));
    setTimeout(() => socket.write(all.subarray(1, 70)), 5);
    setTimeout(() => socket.write(all.subarray(70)), 10);
  });
  const service = await serviceOf(server.address);
  const asked = await Promise.all([1, 2, 3].map((last) => service.ask(`193.0.6.${last}`)));
  expect(asked.map(({ record }) => record.names[0]?.name)).toEqual([1, 2, 3].map((last) => `host-${last}-6-0-193.example`));
  expect(server.connections()).toBe(1);
});

test("a server that closes after each answer loses none", async () => {
  const server = await startTls(good, (message, socket) => socket.end(honestly(message)));
  const service = await serviceOf(server.address);
  const asked = await Promise.all(Array.from({ length: 10 }, (_, last) => service.ask(`193.0.6.${last}`)));
  expect(new Set(asked.map(({ record }) => record.status))).toEqual(new Set(["ok"]));
});

test("a server that closes without an answer is down, and up again once it answers", async () => {
  const server = await startTls(good, (_, socket) => socket.destroy());
  const service = await serviceOf(server.address);
  expect(await ask(service, "193.0.6.1")).toBe("resolver_unavailable");
  // One for each probe, not as many as can be made.
  expect(server.connections()).toBeLessThan(20);
  await server.stop();
  await startTls(good, (message, socket) => socket.write(honestly(message)), server.port);
  await until(async () => (await ask(service, "193.0.6.1")) === "ok");
});

test("a connection that was closed while idle is opened anew, and nobody notices", async () => {
  const server = await startTls(good, (message, socket) => socket.write(honestly(message)));
  const service = await serviceOf(server.address);
  for (const last of [1, 2, 3]) {
    expect(await ask(service, `193.0.6.${last}`)).toBe("ok");
    server.closeConnections();
  }
  expect(server.connections()).toBeGreaterThan(2);
});

test("a server that takes the connection and says nothing costs no more than the budget", async () => {
  const server = await startTls(good, () => {});
  const service = await serviceOf(server.address, { RDNS_BUDGET_MS: "500" });
  const ran = startRunningTime();
  expect(["timeout", "resolver_unavailable"]).toContain(await ask(service, "193.0.6.1"));
  expect(ran()).toBeLessThan(3_000);
});

test("garbage is dropped and counted", async () => {
  const server = await startTls(good, (message, socket) => {
    socket.write(Buffer.from([0, 1, 7, 0, 0, 0, 3, 1, 2, 3]));
    socket.write(honestly(message));
  });
  const service = await serviceOf(server.address);
  expect(await ask(service, "193.0.6.1")).toBe("ok");
  expect(await service.metric("netfacts_rdns_dropped_messages_total", 'reason="too_short"')).toBeGreaterThan(1);
});
