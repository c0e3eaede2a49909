/** TLS to NATS: `tls://` is never plain text, and a certificate is checked. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { forkTestProgram } from "../../../../test/support/programs.ts";
import { connect } from "../../src/nats/connect.ts";

let folder: string;
let server: NatsServer;
let url: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-tls-"));
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files], { stdio: "ignore" });
  const tls = `tls { cert_file: "${join(folder, "cert.pem")}", key_file: "${join(folder, "key.pem")}" }`;
  server = await startNatsServer({ own: true, config: `${tls}\nauthorization { user: "u", password: "secret-word" }` });
  url = `tls://u:secret-word@localhost:${server.port}`;
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a service serves over TLS where it trusts the server's certificate", async () => {
  const pod = forkTestProgram("libs/messaging/test/nats/copy-process.ts", [url, "first", "1"], {
    NODE_EXTRA_CA_CERTS: join(folder, "cert.pem"),
  });
  try {
    expect(await once(pod, "message", { signal: AbortSignal.timeout(30_000) })).toEqual(["serves", undefined]);
  } finally {
    pod.kill("SIGKILL");
    await once(pod, "exit");
  }
});

test("a certificate that is not trusted is refused", async () => {
  await expect(connect({ servers: url, name: "x", once: true })).rejects.toThrow();
});

test("a server without TLS gets nothing", async () => {
  let said = "";
  const plain = createServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.11.4","proto":1,"headers":true,"max_payload":1048576}\r\n');
    socket.on("data", (data) => {
      said += data.toString();
    });
    socket.on("error", () => {});
    socket.unref();
  });
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const { port } = plain.address() as { port: number };
  await expect(connect({ servers: `tls://u:secret-word@127.0.0.1:${port}`, name: "x", once: true })).rejects.toThrow();
  plain.close();
  expect(said).toBe("");
});

test("another scheme is refused", async () => {
  await expect(connect({ servers: "http://127.0.0.1:1", name: "x", once: true })).rejects.toThrow(TypeError);
});
