/** The rest of a body that an answer came before. */

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "@jest/globals";
import { discardBody } from "../../src/proxy/request-body.ts";

/** Of the 5 s that a body is waited for at most. */
const soonMs = 3_000;

test("a body is not waited for when its connection closes after the answer", async () => {
  const discarded = Promise.withResolvers<number>();
  const server = createServer(async (request, response) => {
    request.once("data", () => response.end("enough"));
    await once(response, "finish");
    const began = performance.now();
    await discardBody(request);
    discarded.resolve(performance.now() - began);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
  await once(client, "data");
  client.destroy();
  expect(await discarded.promise).toBeLessThan(soonMs);
  server.close();
});
