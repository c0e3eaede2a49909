/** Ports that cannot be had are told by the setting that names them, before anything is imported. */

import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkPorts } from "../src/port-owner.ts";

const host = "127.0.0.1";
let taken: Server;
let port: number;
beforeAll(async () => {
  taken = createServer();
  await new Promise<void>((done) => taken.listen(0, host, done));
  port = (taken.address() as { port: number }).port;
});
afterAll(() => void taken.close());

test.each(["PORT", "TELEMETRY_PORT", "OPERATOR_PORT"])("a taken port is that of %s", async (setting) => {
  const free = ["PORT", "TELEMETRY_PORT", "OPERATOR_PORT"].filter((name) => name !== setting);
  const listeners = [...free.map((name) => ({ setting: name, host, port: 0 })), { setting, host, port }];
  await expect(checkPorts(listeners)).rejects.toThrow(
    new RegExp(`^port ${port} of 127\\.0\\.0\\.1 is in use.*; choose another with ${setting}=$`),
  );
});

test("two listeners on one port are told as that, not as a port that another process has", async () => {
  const listeners = [
    { setting: "PORT", host, port: 1 },
    { setting: "TELEMETRY_PORT", host, port: 1 },
  ];
  await expect(checkPorts(listeners)).rejects.toThrow("PORT and TELEMETRY_PORT are both 1; set them to different ports");
});

test("an address of another machine is told with the setting that names it", async () => {
  const elsewhere = { setting: "OPERATOR_PORT", host: "192.0.2.1", port: 65_000 };
  await expect(checkPorts([elsewhere])).rejects.toThrow("choose one with OPERATOR_HOST=");
});

test("any free port, and no port, are no fault, however often", async () => {
  await checkPorts(["PORT", "TELEMETRY_PORT", "OPERATOR_PORT"].flatMap((setting) => [0, -1].map((any) => ({ setting, host, port: any }))));
});
