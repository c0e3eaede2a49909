/** Where a listener listens, and what it says of a place that it cannot have. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { addressOf, checkAddresses, listenAt, listenFault } from "../src/listen-place.ts";

const placeOf = (host: string, port = 0) => ({ host, port, hostSetting: "HOST", portSetting: "PORT" });
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))));

/** As Fastify tells it. */
const listen = (at: { host: string; port: number }): Promise<string> =>
  new Promise((resolve, reject) => {
    const server = createServer((_request, response) => void response.setHeader("connection", "close").end("answer"));
    server.once("error", reject);
    server.listen(at, () => {
      servers.push(server);
      const { address, port } = server.address() as AddressInfo;
      resolve(`http://${address.includes(":") ? `[${address}]` : address}:${port}`);
    });
  });

test("localhost is its one address of IPv4, where it has one", async () => {
  expect(await addressOf(placeOf("localhost"))).toBe("127.0.0.1");
});

test.each(["localhost", "127.0.0.1", "::1", "::"])("the URL of %s can be opened", async (host) => {
  const url = await listenAt(placeOf(host), listen);
  expect(url).toMatch(host.startsWith(":") ? /^http:\/\/\[::1\]:\d+$/ : /^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await (await fetch(url)).text()).toBe("answer");
});

test("an address of IPv6 that is written as in a URL, or without its interface, is told how to be written", async () => {
  await expect(listenAt(placeOf("[::1]"), listen)).rejects.toThrow("[::1] has the brackets of a URL; write HOST=::1");
  expect(listenFault(placeOf("fe80::1"), "EINVAL")).toBe(
    "fe80::1 is an address of one link and needs the name of its interface, as in HOST=fe80::1%eth0",
  );
  expect(listenFault(placeOf("::1"), "EINVAL")).toBe("cannot listen on port 0 of ::1: EINVAL");
});

test("a place that cannot be had is told in a sentence that names the setting", async () => {
  const taken = Number(new URL(await listenAt(placeOf("127.0.0.1"), listen)).port);
  await expect(listenAt(placeOf("127.0.0.1", taken), listen)).rejects.toThrow(
    `port ${taken} of 127.0.0.1 is in use; choose another with PORT=`,
  );
  await expect(listenAt(placeOf("192.0.2.1"), listen)).rejects.toThrow(
    "192.0.2.1 is not an address of this machine; choose one with HOST=",
  );
  await expect(listenAt(placeOf("nowhere.invalid"), listen)).rejects.toThrow(
    /^nowhere\.invalid (is neither an address nor a name that is known here; choose one with|cannot be looked up: the nameserver does not answer; write an address in) HOST=$/,
  );
});

describe("two listeners with the same port", () => {
  const port = 18_080;
  const pair = (one: string, other: string, ports = [port, port]) =>
    checkAddresses([placeOf(one, ports[0]), { ...placeOf(other, ports[1]), hostSetting: "OPERATOR_HOST", portSetting: "OPERATOR_PORT" }]);

  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["127.0.0.1", "::"],
    ["0.0.0.0", "::"],
  ])("at %s and %s are told by their settings", async (one, other) => {
    await expect(pair(one, other)).rejects.toThrow(`PORT and OPERATOR_PORT are both ${port}; set them to different ports`);
  });

  test("are right at two addresses, and where there is any free port, or no listener", async () => {
    await pair("127.0.0.1", "127.0.0.2");
    await pair("0.0.0.0", "::1");
    await pair("127.0.0.1", "127.0.0.1", [0, 0]);
    await pair("127.0.0.1", "127.0.0.1", [-1, -1]);
  });
});
