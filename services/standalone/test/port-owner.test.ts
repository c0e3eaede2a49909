/** Ports that cannot be had are told by the setting that names them, before anything is imported. */

import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkPorts } from "../src/port-owner.ts";

const host = "127.0.0.1";
const placeOf = (portSetting: string, at: string, its: number) => ({
  portSetting,
  hostSetting: portSetting.replace("PORT", "HOST"),
  host: at,
  port: its,
});
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
  const listeners = [...free.map((name) => placeOf(name, host, 0)), placeOf(setting, host, port)];
  await expect(checkPorts(listeners)).rejects.toThrow(
    new RegExp(`^port ${port} of 127\\.0\\.0\\.1 is in use.*; choose another with ${setting}=$`),
  );
});

test("two listeners on one port are told as that, not as a port that another process has", async () => {
  const listeners = [placeOf("PORT", host, 1), placeOf("TELEMETRY_PORT", host, 1)];
  await expect(checkPorts(listeners)).rejects.toThrow("PORT and TELEMETRY_PORT are both 1; set them to different ports");
});

test.each([
  ["192.0.2.1", "192.0.2.1 is not an address of this machine; choose one with OPERATOR_HOST="],
  [
    "nowhere.invalid",
    /^nowhere\.invalid (is neither an address nor a name that is known here; choose one with|cannot be looked up: .*) .*OPERATOR_HOST=$/,
  ],
  ["[::1]", "[::1] has the brackets of a URL; write OPERATOR_HOST=::1"],
])("%s is told with the setting that names it, also for any free port", async (elsewhere, message) => {
  for (const any of [0, 65_000]) await expect(checkPorts([placeOf("OPERATOR_PORT", elsewhere, any)])).rejects.toThrow(message);
});

test("any free port, and no port, are no fault, however often", async () => {
  await checkPorts(["PORT", "TELEMETRY_PORT", "OPERATOR_PORT"].flatMap((setting) => [0, -1].map((any) => placeOf(setting, host, any))));
});
