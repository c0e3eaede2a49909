/** Observations through gateways to ingest and MongoDB: an upload that is cut on the way, resumed at the other gateway, and what it does to callers meanwhile. */

import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

const patient = { timeoutMs: 60_000 };
const path = "/admin/v1/ingest/observations";
let all: Distributed;
let adminKey: string;
let key: string;

beforeAll(async () => {
  const sources = smallSources(join(temporaryFolder(), "sources"), "NL");
  all = await startDistributed({
    replicas: { "gateway-auth-quota": 2, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0, ingest: 1 },
    settings: { OPERATOR_IDLE_MS: "10000" },
    settingsOf: (service): Record<string, string> =>
      service === "ingest" ? { SOURCES: sources, OBSERVATIONS_INTERVAL_SECONDS: "1", OBSERVATIONS_UPLOADS_MAX: "1" } : {},
    snapshot: "by-ingest",
  });
  const create = (...args: string[]) => netfactsJsonWith<{ secret: string }>(all.env, temporaryFolder(), "keys", "create", ...args);
  adminKey = (await create("--label", "operator", "--scopes", "admin")).secret;
  key = (await create("--label", "caller", "--scopes", "ip", "--rate", "100000/60s")).secret;
});
afterAll(async () => {
  await all?.stop();
  await endAll();
  removeFolders();
});

/**
 * Asks again while a store is late, as callers are told to: one database has the limits and the uploads. An upload is sent again only if nothing of it can
 * have been stored.
 */
async function admin(gateway: number, rest: string, more: { method?: string; body?: string } = {}): ReturnType<typeof request> {
  for (;;) {
    const answer = await request(`${all.gateways[gateway]?.operatorUrl}${path}${rest}`, {
      key: adminKey,
      ...more,
      ...(more.body !== undefined && { headers: { "content-type": "application/x-ndjson" } }),
    });
    if (answer.status !== 503 || (answer.json.code !== "limits_unavailable" && more.body !== undefined)) return answer;
    await sleep(1_000 * answer.json.retry_after_seconds);
  }
}

/** Sends what is left of an upload, and after a late store what is left then. */
async function resume(gateway: number, query: string, text: string, offset: number): ReturnType<typeof request> {
  const answer = await admin(gateway, `?${query}&offset=${offset}`, { method: "POST", body: text.slice(offset) });
  if (answer.status !== 503 && answer.status !== 408) return answer;
  await sleep(1_000);
  const { json } = await admin(gateway, `/uploads/${new URLSearchParams(query).get("upload")}`);
  return resume(gateway, query, text, json.offset);
}

const locationOf = async (ip: string) => (await request(`${all.gateways[1]?.url}/api/v1/ip/${ip}`, { key })).json.location;

/** Sends a body whose length it lies about, and is silent then. Sends it again if a store is late. */
function openUpload(gateway: number, query: string, body: string): { destroy(): void; answer(): string } {
  const { hostname, port } = new URL(all.gateways[gateway]?.operatorUrl ?? "");
  const head = [`POST ${path}?${query} HTTP/1.1`, "host: x", `authorization: Bearer ${adminKey}`, "content-type: application/x-ndjson"];
  let answer = "";
  let socket: Socket;
  const open = (): void => {
    answer = "";
    socket = connect(Number(port), hostname)
      .on("error", () => undefined)
      .on("data", (piece) => {
        answer += piece;
        if (answer.startsWith("HTTP/1.1 503 ")) socket.destroy();
      })
      .on("close", () => {
        if (answer.startsWith("HTTP/1.1 503 ")) setTimeout(open, 1_000);
      });
    socket.write(`${[...head, `content-length: ${body.length * 2}`].join("\r\n")}\r\n\r\n${body}`);
  };
  open();
  return { destroy: () => void socket.destroy(), answer: () => answer };
}

test("an upload that is cut on the way keeps its lines, is resumed at another gateway, and is answered, exported and deleted", async () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => {
    const ip = `20.1.${at >> 8}.${at & 255}`;
    return `${JSON.stringify({ ip, lat: 52.37, lon: 4.9, country: "NL", observed_at: "2026-11-01T10:00:00Z" })}\n`;
  });
  const text = lines.join("");
  const half = text.slice(0, 150_000);
  const open = openUpload(0, "upload=cut&source=probes", half);
  await until(async () => ((await admin(1, "/uploads/cut")).json.lines ?? 0) >= 1_000, patient);
  open.destroy();
  const whole = half.lastIndexOf("\n") + 1;
  await until(async () => (await admin(1, "/uploads/cut")).json.offset === whole, patient);
  const rest = await resume(1, "upload=cut&source=probes", text, whole);
  expect([rest.status, rest.json.rows, rest.json.offset, rest.json.complete]).toEqual([200, 3_000, text.length, true]);
  expect((await admin(0, "?upload=cut&source=probes", { method: "POST", body: text })).json).toEqual(rest.json);
  await until(async () => (await locationOf("20.1.11.183"))?.country === "NL", patient);
  expect((await admin(0, "?prefix=20.1.0.0/16")).text.trim().split("\n")).toHaveLength(3_000);
  expect((await admin(0, "?prefix=20.1.0.0/16", { method: "DELETE" })).json).toMatchObject({ complete: true });
  expect((await admin(1, "?address=20.1.0.1")).text).toBe("");
  // By the key that uploaded it: nothing is left, and the record of the upload goes.
  expect((await admin(0, `?key_id=${adminKey.slice(8, 16)}`, { method: "DELETE" })).json).toEqual({ deleted: 0, complete: true });
  expect((await admin(1, "/uploads/cut")).status).toBe(404);
  await until(async () => (await locationOf("20.1.11.183")) === null, patient);
});

test("an uploader that is silent loses its place, keeps its lines, and lets neither callers nor others wait", async () => {
  const line = `${JSON.stringify({ ip: "20.2.0.1", country: "NL", observed_at: "2026-11-01T10:00:00Z" })}\n`;
  const open = openUpload(0, "upload=silent", line);
  await until(async () => (await admin(1, "/uploads/silent")).status === 200, patient);
  const refused = await admin(1, "?upload=other", { method: "POST", body: line });
  expect([refused.status, refused.json.code]).toEqual([429, "too_many_uploads"]);
  expect((await request(`${all.gateways[0]?.url}/api/v1/ip/193.0.6.139`, { key })).status).toBe(200);
  await until(() => open.answer() !== "", patient);
  expect(open.answer()).toMatch(/^HTTP\/1\.1 408 /);
  await until(async () => (await admin(1, "?upload=other", { method: "POST", body: line })).status === 200, patient);
  await until(async () => (await admin(1, "/uploads/silent")).json.rows === 1, patient);
  open.destroy();
});
