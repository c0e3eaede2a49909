/** CONNECT behind a request whose answer ingest streams: Node is done with the connection then, and no longer tells when more can be sent. */

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { runsPath, startOperatorHarness } from "../support/operator.ts";

test("the answer is whole, at the pace of its client, before CONNECT is refused", async () => {
  const harness = await startOperatorHarness();
  const body = "x".repeat(32 << 20);
  harness.ingest.answer = (_request, response) => void response.writeHead(200, { "content-length": body.length }).end(body);
  const socket = connect(Number(new URL(harness.url).port), "127.0.0.1");
  socket.write(`GET ${runsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\n\r\n`);
  await once(socket, "readable");
  socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n");
  await sleep(300);
  let text = "";
  for await (const piece of socket.setEncoding("latin1")) text += piece;
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
  expect(text.split("\r\n\r\n")[1]?.startsWith(body)).toBe(true);
  await harness.stop();
});
