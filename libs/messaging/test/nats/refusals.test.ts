/** A connection that does not come about says why: what is wrong, and with which setting and file. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { nkeys } from "nats";
import { type Authority, makeAuthority } from "../../../../test/support/certificates.ts";
import { freePorts } from "../../../../test/support/free-ports.ts";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import type { NatsAccess } from "../../src/nats/access.ts";
import { connect } from "../../src/nats/connect.ts";
import { boundedLookup, type HostAddress } from "../../src/nats/names.ts";
import { jwtServer } from "./jwt.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-refusals-"));
const servers: NatsServer[] = [];
let authority: Authority;
let other: Authority;
beforeAll(() => {
  authority = makeAuthority(folder, "authority");
  other = makeAuthority(folder, "other");
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(config: string): Promise<NatsServer> {
  const server = await startNatsServer({ own: true, config });
  servers.push(server);
  return server;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function reason(url: string, access: NatsAccess): Promise<string> {
  const opened = await connect({ servers: url, name: "x", once: true, access }).catch((error: Error) => error.message);
  if (typeof opened === "string") return opened;
  await opened.close();
  return "opened";
}

const tlsOf = (certificate: string, key: string, more = "") => `tls { cert_file: "${certificate}", key_file: "${key}"${more} }`;
const seed = () => new TextDecoder().decode(nkeys.createUser().getSeed());

describe("credentials", () => {
  let server: NatsServer;
  let at: string;
  beforeAll(async () => {
    server = await start('authorization { users: [{ user: "u", password: "right" }] }');
    at = `127.0.0.1:${server.port}`;
  });

  test.each<[string, () => NatsAccess, () => string]>([
    ["none", () => ({}), () => "asks for credentials, and none are set: NATS_USER with NATS_PASSWORD, NATS_TOKEN, "],
    [
      "a wrong password",
      () => ({ NATS_USER: "u", NATS_PASSWORD: "w" }),
      () => 'refuses user "u" or the password (NATS_USER, NATS_PASSWORD)',
    ],
    [
      "a wrong password in a file",
      () => ({ NATS_USER: "u", NATS_PASSWORD_FILE: file("wrong", "w") }),
      () => `refuses user "u" or the password (NATS_USER, NATS_PASSWORD_FILE ${join(folder, "wrong")})`,
    ],
    ["a wrong token", () => ({ NATS_TOKEN: "w" }), () => "refuses the token (NATS_TOKEN)"],
    ["an NKey that nobody has", () => ({ NATS_NKEY_SEED: seed() }), () => "refuses the NKey (NATS_NKEY_SEED)"],
    [
      "a file that is not there",
      () => ({ NATS_USER: "u", NATS_PASSWORD_FILE: join(folder, "none") }),
      () => `was not asked: NATS_PASSWORD_FILE ${join(folder, "none")}: there is no such file`,
    ],
    [
      "a folder in place of a file",
      () => ({ NATS_TOKEN_FILE: folder }),
      () => `was not asked: NATS_TOKEN_FILE ${folder}: the file cannot be read: illegal operation on a directory`,
    ],
    [
      "an empty file",
      () => ({ NATS_TOKEN_FILE: file("empty", " \n") }),
      () => `was not asked: NATS_TOKEN_FILE ${join(folder, "empty")}: the file is empty`,
    ],
    ["a seed that is none", () => ({ NATS_NKEY_SEED: "secret-word" }), () => "was not asked: NATS_NKEY_SEED: not the seed of an NKey"],
    [
      "a .creds file that is none",
      () => ({ NATS_CREDS_FILE: file("garbage", "secret-word") }),
      () => `was not asked: NATS_CREDS_FILE ${join(folder, "garbage")}: not a .creds file`,
    ],
  ])("%s", async (_, access, expected) => {
    const said = await reason(server.url, access());
    expect(said).toContain(`${at} ${expected()}`);
    expect(said).not.toContain("secret-word");
  });

  test("a wrong password in the URL", async () => {
    const said = await reason(server.url.replace("//", "//u:secret-word@"), {});
    expect(said).toBe(`${at} refuses user "u" or the password (NATS_URL)`);
  });

  test("credentials that have expired, and those that are good", async () => {
    const { config, credentials } = jwtServer();
    const { url } = await start(config);
    expect(await reason(url, { NATS_CREDS_FILE: file("good.creds", credentials(3_600)) })).toBe("opened");
    const expired = file("expired.creds", credentials(-3_600));
    expect(await reason(url, { NATS_CREDS_FILE: expired })).toContain(`(NATS_CREDS_FILE ${expired})`);
  });
});

describe("TLS", () => {
  let url: string;
  let at: string;
  let client: NatsAccess;
  beforeAll(async () => {
    const { certificate, key } = authority.issue("server");
    const { port } = await start(tlsOf(certificate, key, `, ca_file: "${authority.certificate}", verify: true`));
    at = `localhost:${port}`;
    url = `tls://${at}`;
    const own = authority.issue("client");
    client = { NATS_CA_FILE: authority.certificate, NATS_CERT_FILE: own.certificate, NATS_KEY_FILE: own.key };
  });

  test("a client certificate opens a server that asks for one, by its name and by its address", async () => {
    expect(await reason(url, client)).toBe("opened");
    expect(await reason(url.replace("localhost", "127.0.0.1"), client)).toBe("opened");
  });

  test("no client certificate", async () => {
    const said = await reason(url, { NATS_CA_FILE: authority.certificate });
    expect(said).toBe(`${at} asks for a client certificate, and none is set: NATS_CERT_FILE and NATS_KEY_FILE`);
  });

  test("a client certificate of another authority, and one that has expired", async () => {
    const foreign = other.issue("foreign");
    expect(await reason(url, { ...client, NATS_CERT_FILE: foreign.certificate, NATS_KEY_FILE: foreign.key })).toContain(
      `${at} refuses the client certificate (NATS_CERT_FILE ${foreign.certificate})`,
    );
    const expired = authority.issue("expired-client", { days: -1 });
    expect(await reason(url, { ...client, NATS_CERT_FILE: expired.certificate, NATS_KEY_FILE: expired.key })).toContain(
      `${at} refuses the client certificate (NATS_CERT_FILE ${expired.certificate}), which expired on `,
    );
  });

  test("a server of an authority that is not known, without and with a file of authorities", async () => {
    expect(await reason(url, {})).toBe(`${at} has a certificate of an authority that Node does not know: set NATS_CA_FILE`);
    expect(await reason(url, { NATS_CA_FILE: other.certificate })).toBe(
      `${at} has a certificate that is not of the authority in NATS_CA_FILE ${other.certificate}`,
    );
  });

  test("an authority that was added to the file, and damaged on the way", async () => {
    const [old, added] = [other.certificate, authority.certificate].map((path) => readFileSync(path, "utf8")) as [string, string];
    const both = file("both.pem", `${old}${added.slice(0, 200)}`);
    expect(await reason(url, { NATS_CA_FILE: both })).toBe(
      `${at} has a certificate that is not of the authority in NATS_CA_FILE ${both}: certificate 2 of the file is damaged, so it and those after it do not count`,
    );
    writeFileSync(both, `${old.replaceAll("\n", "\r\n")}${added}`);
    expect(await reason(url, { ...client, NATS_CA_FILE: both })).toBe("opened");
  });

  test("a server whose certificate has expired, or is for another name", async () => {
    const expired = authority.issue("expired-server", { days: -1 });
    const foreign = authority.issue("foreign-server", { names: "DNS:nats.example" });
    const [old, misnamed] = await Promise.all([expired, foreign].map(({ certificate, key }) => start(tlsOf(certificate, key))));
    const ca = { NATS_CA_FILE: authority.certificate };
    expect(await reason(`tls://localhost:${old?.port}`, ca)).toContain("has a certificate that has expired");
    expect(await reason(`tls://localhost:${misnamed?.port}`, ca)).toContain("has a certificate for other names than the one in NATS_URL");
  });

  test("a server without TLS", async () => {
    const { port } = await start("");
    expect(await reason(`tls://localhost:${port}`, {})).toBe(
      `localhost:${port} offers no TLS, and NATS_URL says tls://: nothing was sent to it`,
    );
  });

  test("files that are none, or do not belong together", async () => {
    const garbage = file("garbage.pem", "no certificate");
    expect(await reason(url, { NATS_CA_FILE: garbage })).toBe(`${at} was not asked: NATS_CA_FILE ${garbage}: no certificate in PEM form`);
    const pair = { NATS_CERT_FILE: client.NATS_CERT_FILE, NATS_KEY_FILE: other.key };
    expect(await reason(url, pair)).toContain(
      `NATS_CERT_FILE ${pair.NATS_CERT_FILE} and NATS_KEY_FILE ${pair.NATS_KEY_FILE}: the key is not that of the certificate`,
    );
    const unread = { NATS_CERT_FILE: client.NATS_CERT_FILE, NATS_KEY_FILE: garbage };
    expect(await reason(url, unread)).toContain(`NATS_KEY_FILE ${garbage}: not a certificate and its key in PEM form`);
  });
});

describe("a connection that the server ends before it is made is tried again within the 5 s of one attempt", () => {
  /** What is told of two attempts; then the server lets it in. */
  const twice = async (url: string, access: NatsAccess, letIn: () => Promise<unknown>): Promise<string[]> => {
    const told: string[] = [];
    let connecting: ReturnType<typeof connect> | undefined;
    await new Promise<void>((resolve) => {
      const onRefused = ({ reason }: { readonly reason: string }) => {
        told.push(reason);
        if (told.length === 2) resolve();
      };
      // Told after 5 s.
      connecting = connect({ servers: url, name: "x", access, onRefused, onWaiting: () => resolve() });
    });
    const result = told.slice();
    await letIn();
    await (await connecting)?.close();
    return result;
  };

  test("for want of a client certificate", async () => {
    const { certificate, key } = authority.issue("early-server");
    const config = (verify: boolean) => tlsOf(certificate, key, `, ca_file: "${authority.certificate}", verify: ${verify}`);
    const server = await start(config(true));
    const at = `localhost:${server.port}`;
    const reason = `${at} asks for a client certificate, and none is set: NATS_CERT_FILE and NATS_KEY_FILE`;
    const letIn = () => server.reload(config(false));
    expect(await twice(`tls://${at}`, { NATS_CA_FILE: authority.certificate }, letIn)).toEqual([reason, reason]);
  });

  test("as it has connections enough, in the server's words where they arrive before the end", async () => {
    const server = await start("max_connections: 1");
    const first = await connect({ servers: server.url, name: "first" });
    const reason = expect.stringMatching(`^127.0.0.1:${server.port} closed the connection(: maximum connections exceeded)?$`);
    expect(await twice(server.url, {}, () => first.close())).toEqual([reason, reason]);
  });
});

test("a port at which nobody listens, one of several servers", async () => {
  const [port = 0, second = 0] = await freePorts(2);
  const said = await reason(`nats://127.0.0.1:${port},nats://127.0.0.1:${second}`, {});
  for (const one of [port, second])
    expect(said).toContain(`127.0.0.1:${one} refuses the connection: nats-server does not listen there (NATS_URL)`);
});

describe("names of hosts", () => {
  const addresses: HostAddress[] = [{ address: "192.0.2.1", family: 4 }];
  const look = (lookup: ReturnType<typeof boundedLookup>) =>
    new Promise((resolve) => lookup("nats.example", { all: true }, (error, found) => resolve(error?.code ?? found)));

  test("a nameserver that does not answer holds up nobody for long, and is asked once at a time", async () => {
    let asked = 0;
    const lookup = boundedLookup(() => {
      asked += 1;
      return new Promise(() => undefined);
    }, 20);
    expect(await Promise.all([look(lookup), look(lookup)])).toEqual(["NAME_TIMEOUT", "NAME_TIMEOUT"]);
    expect(await look(lookup)).toBe("NAME_TIMEOUT");
    expect(asked).toBe(1);
  });

  test("the addresses that a host had last are used while the nameserver does not answer", async () => {
    let isThere = true;
    const lookup = boundedLookup(() => (isThere ? Promise.resolve(addresses) : new Promise(() => undefined)), 20);
    expect(await look(lookup)).toEqual(addresses);
    isThere = false;
    expect(await look(lookup)).toEqual(addresses);
  });

  test("a host that is not known is told as such", async () => {
    const lookup = boundedLookup(() => Promise.reject(Object.assign(new Error("not found"), { code: "ENOTFOUND" })));
    expect(await look(lookup)).toBe("ENOTFOUND");
  });
});
