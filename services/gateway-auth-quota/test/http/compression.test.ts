/** Compression: what the caller takes, where it is worth it, and the same answer all the same. */

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

const url = "/api/v1/asn/3333";
const long = JSON.stringify({ text: "a record of some length ".repeat(100) });
const unpack: Record<string, (body: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

let harness: Harness;
let key: string;
beforeAll(async () => {
  harness = await startGateway();
  harness.answers.set("asn", () => ({ ...exampleReply("asn"), body: Buffer.from(long) }));
  key = await harness.key();
});
afterAll(() => harness.stop());

async function ask(encoding: string | undefined, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET", path = url) {
  const answer = await harness.gateway.http.inject({
    method,
    url: path,
    headers: { authorization: `Bearer ${key}`, ...(encoding !== undefined && { "accept-encoding": encoding }), ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.rawPayload };
}

test.each([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["zstd", "zstd"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, br", "br"],
  ["*", "zstd"],
  ["zstd;q=0, *", "br"],
  ["gzip;q=1, br;q=0.2", "gzip"],
  ["GZIP", "gzip"],
])("Accept-Encoding: %s is answered in %s", async (accepted, coding) => {
  const { status, headers, body } = await ask(accepted);
  expect([status, headers["content-encoding"], headers["content-length"]]).toEqual([200, coding, String(body.length)]);
  expect(unpack[coding]?.(body).toString()).toBe(long);
  expect(body.length).toBeLessThan(long.length);
  expect(headers.vary).toMatch(/Accept-Encoding/);
});

test.each([undefined, "", "identity", "deflate", "gzip;q=0", "*;q=0", "identity;q=1, gzip;q=0.5", "compress, garbage;;q=x"])(
  "Accept-Encoding: %s is answered as it is",
  async (accepted) => {
    const { headers, body } = await ask(accepted);
    expect(headers["content-encoding"]).toBeUndefined();
    expect(body.toString()).toBe(long);
  },
);

test("a short answer, a problem and /me are sent as they are", async () => {
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), body: Buffer.from("x".repeat(1_023)) }));
  for (const path of ["/api/v1/ip/193.0.6.139", "/api/v1/ip/nonsense", "/api/v1/me"])
    expect([path, (await ask("gzip", {}, "GET", path)).headers["content-encoding"]]).toEqual([path, undefined]);
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), body: Buffer.from("x".repeat(1_024)) }));
  expect((await ask("gzip", {}, "GET", "/api/v1/ip/193.0.6.139")).headers["content-encoding"]).toBe("gzip");
  harness.answers.delete("ip");
});

test("the tag is the same packed or not, and gives 304 either way", async () => {
  const [plain, packed] = [await ask(undefined), await ask("br")];
  expect(packed.headers.etag).toBe(plain.headers.etag);
  const again = await ask("gzip", { "if-none-match": String(plain.headers.etag) });
  expect([again.status, again.headers["content-encoding"], again.body.length]).toEqual([304, undefined, 0]);
});

test("HEAD has the headers of GET", async () => {
  const [get, head] = [await ask("br"), await ask("br", {}, "HEAD")];
  expect(head.body.length).toBe(0);
  for (const name of ["content-encoding", "content-length", "content-type", "etag", "vary"])
    expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
});

test("can be left to a proxy", async () => {
  const other = await startGateway({ config: { COMPRESS_FROM_BYTES: -1 } });
  other.answers.set("asn", () => ({ ...exampleReply("asn"), body: Buffer.from(long) }));
  const answer = await other.get(url, { "accept-encoding": "gzip" });
  await other.stop();
  expect([answer.headers["content-encoding"], answer.body]).toEqual([undefined, long]);
});
