/** The settings of a connection: those that fit together, those that do not, and those that change while it is used. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { nkeys } from "nats";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { type NatsAccess, type NatsSettingsError, natsAccessOf, planAccess } from "../../src/nats/access.ts";
import { connect } from "../../src/nats/connect.ts";
import { Handshake } from "../../src/nats/handshake.ts";
import { connectThrough } from "../../src/nats/transport.ts";
import { pause } from "./support.ts";

function faults(access: NatsAccess, servers = "nats://127.0.0.1"): readonly string[] {
  try {
    planAccess(servers, access);
    return [];
  } catch (error) {
    return (error as NatsSettingsError).faults;
  }
}

const formFault = "NATS_URL: a NATS URL has the form nats://user:password@host:4222, or tls:// instead of nats://";
const percentFault = "NATS_URL: the user or the password has a % that is not part of a code; write %25 for the character %";

describe("settings that make no sense together are refused in one sentence that names them", () => {
  test.each<[NatsAccess, string, string]>([
    [{ NATS_USER: "u" }, "nats://h", "NATS_USER needs NATS_PASSWORD or NATS_PASSWORD_FILE"],
    [{ NATS_PASSWORD: "p" }, "nats://h", "NATS_PASSWORD needs NATS_USER"],
    [{ NATS_PASSWORD_FILE: "/p" }, "nats://h", "NATS_PASSWORD_FILE needs NATS_USER"],
    [{ NATS_TOKEN: "t", NATS_TOKEN_FILE: "/t" }, "nats://h", "NATS_TOKEN and NATS_TOKEN_FILE are both set; set only one"],
    [
      { NATS_TOKEN: "t", NATS_CREDS_FILE: "/c" },
      "nats://h",
      "NATS_TOKEN and NATS_CREDS_FILE are different ways to log in to NATS; set only one",
    ],
    [
      { NATS_USER: "u", NATS_PASSWORD_FILE: "/p" },
      "nats://u:secret@h",
      "the credentials in NATS_URL and NATS_USER with NATS_PASSWORD_FILE are different ways to log in to NATS; set only one",
    ],
    [{ NATS_CA_FILE: "/ca" }, "nats://h", "NATS_CA_FILE needs tls:// instead of nats:// in NATS_URL"],
    [{ NATS_CERT_FILE: "/c" }, "tls://h", "NATS_CERT_FILE needs NATS_KEY_FILE, the key of the certificate"],
    [{ NATS_KEY_FILE: "/k" }, "tls://h", "NATS_KEY_FILE needs NATS_CERT_FILE, the certificate of the key"],
    [{}, "nats://u:p@h,nats://v:p@i", "NATS_URL: its servers have different users; one user must fit all servers of a cluster"],
    [{}, "nats://u:p%ss@h", percentFault],
    [{}, "nats://100%@h", percentFault],
    [{}, "nats://u:%FF@h", percentFault],
    [{}, "nats://h,nats://u:p%ss@i", percentFault],
    [{}, "nats://:secret@h", "NATS_URL: the password has no user"],
    ...["http://u:secret@h", "nats://h:0", "nats://300.1.1.1", "nats://h,10.0.0", "nats://h:99999"].map(
      (servers): [NatsAccess, string, string] => [{}, servers, formFault],
    ),
  ])("%j with %s", (access, servers, fault) => {
    expect(faults(access, servers)).toEqual([fault]);
  });

  test("all faults are told at once", () => {
    expect(faults({ NATS_USER: "u", NATS_KEY_FILE: "/k" })).toHaveLength(3);
  });

  test("what fits together is none", () => {
    expect(faults({ NATS_USER: "u", NATS_PASSWORD: "p" })).toEqual([]);
    expect(faults({ NATS_CREDS_FILE: "/c", NATS_CERT_FILE: "/c", NATS_KEY_FILE: "/k" }, "tls://a,tls://b")).toEqual([]);
  });

  test("a setting that is empty is not set", () => {
    expect(natsAccessOf({ NATS_USER: "", NATS_TOKEN: "t", NATS_ALLOW_UNAUTHENTICATED: "true", OTHER: "x" })).toEqual({
      NATS_TOKEN: "t",
      NATS_ALLOW_UNAUTHENTICATED: true,
    });
  });
});

describe("a server that requires no credentials", () => {
  const handshake = (access: NatsAccess) => new Handshake(planAccess("nats://h", access), () => undefined);
  const info = (fields: object) => ({ ...fields }) as Parameters<Handshake["admit"]>[0];

  test("is used on loopback only", () => {
    for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) handshake({}).admit(info({}), address);
    for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "::", ""])
      expect(() => handshake({}).admit(info({}), address)).toThrow("NATS_ALLOW_UNAUTHENTICATED=true");
  });

  test("is used elsewhere where that is allowed, or where it asks for client certificates", () => {
    handshake({ NATS_ALLOW_UNAUTHENTICATED: true }).admit(info({}), "10.0.0.1");
    handshake({}).admit(info({ auth_required: true }), "10.0.0.1");
    handshake({}).admit(info({ tls_verify: true }), "10.0.0.1");
  });
});

describe("with a server", () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-access-"));
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const config = (password: string) => `authorization { users: [
    { user: "u", password: "${password}" }, { nkey: "${nkey.getPublicKey()}" }
  ] }`;
  const nkey = nkeys.createUser();
  const seed = new TextDecoder().decode(nkey.getSeed());
  const ends: { close(): Promise<void> }[] = [];
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer({ own: true, config: config("first") });
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end.close();
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each<[string, () => NatsAccess]>([
    ["a password", () => ({ NATS_USER: "u", NATS_PASSWORD: "first" })],
    ["a password in a file", () => ({ NATS_USER: "u", NATS_PASSWORD_FILE: file("password", "first\n") })],
    ["an NKey", () => ({ NATS_NKEY_SEED: seed })],
    ["an NKey in a file", () => ({ NATS_NKEY_SEED_FILE: file("seed", `${seed}\n`) })],
  ])("%s opens it", async (_, access) => {
    const connection = await connect({ servers: server.url, name: "x", once: true, access: access() });
    ends.push(connection);
    await connection.flush();
  });

  test("a token opens a server that asks for one, also as the only name in the URL", async () => {
    const own = await startNatsServer({ own: true, config: 'authorization { token: "t-1" }' });
    ends.push({ close: () => own.stop() });
    const url = own.url.replace("//", "//t-1@");
    for (const [servers, access] of [[own.url, { NATS_TOKEN_FILE: file("token", "t-1\n") }] as const, [url, {}] as const]) {
      const connection = await connect({ servers, name: "x", once: true, access });
      ends.unshift(connection);
      await connection.flush();
    }
  });

  test("a password that is replaced, at the server and in its file, is used at the next connection", async () => {
    const path = file("rotated", "first");
    const connection = await connect({ servers: server.url, name: "x", access: { NATS_USER: "u", NATS_PASSWORD_FILE: path } });
    ends.push(connection);
    const kinds: string[] = [];
    void (async () => {
      for await (const { type } of connection.status()) kinds.push(type);
    })();
    // The server ends what was opened with the former password.
    await server.reload(config("second"));
    for (const end = performance.now() + 10_000; !kinds.includes("disconnect") && performance.now() < end; ) await pause(10);
    writeFileSync(path, "second");
    for (const end = performance.now() + 10_000; !kinds.includes("reconnect") && performance.now() < end; ) await pause(10);
    expect(kinds).toContain("reconnect");
    await connection.flush();
    await server.reload(config("first"));
  });

  test("a server that the handshake does not admit gets nothing", async () => {
    class Outside extends Handshake {
      override admit(info: Parameters<Handshake["admit"]>[0]): void {
        super.admit({ ...info, auth_required: false }, "192.0.2.1");
      }
    }
    const reasons: string[] = [];
    const access = { NATS_USER: "u", NATS_PASSWORD: "first" };
    const handshake = new Outside(planAccess(server.url, access), ({ reason }) => reasons.push(reason));
    const opening = connectThrough(handshake, {
      servers: [`127.0.0.1:${server.port}`],
      reconnect: false,
      maxReconnectAttempts: 0,
      timeout: 3_000,
    });
    await expect(opening).rejects.toThrow("NATS_ALLOW_UNAUTHENTICATED");
    expect(reasons).toEqual([expect.stringContaining(`127.0.0.1:${server.port} requires no credentials`)]);
  });
});
