/** Where a fetch goes: to global addresses only, over few redirects, to servers that prove who they are, and credentials only home. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { guardedLookup, refusal } from "../../src/fetch/address-guard.ts";
import { fetchContext } from "../../src/fetch/config.ts";
import { makeCertificate } from "../support/certificate.ts";
import { type Fetching, failure, fetching } from "../support/fetching.ts";
import { answer, type HostileServer, startHostileServer } from "../support/hostile-server.ts";

let server: HostileServer;
let place: Fetching;
beforeEach(async () => {
  server = await startHostileServer((_request, socket) => answer(socket, 200, {}, "content"));
  place = fetching();
});
afterEach(async () => {
  await server.stop();
  place.remove();
});

const at =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
const strict = { allowPrivate: false };

describe("addresses that are not global are not connected to", () => {
  test.each([
    ["127.0.0.1", "Loopback"],
    ["10.1.2.3", "Private-Use"],
    ["172.31.255.255", "Private-Use"],
    ["192.168.0.1", "Private-Use"],
    ["169.254.169.254", "Link Local"],
    ["100.64.0.1", "Shared Address Space"],
    ["0.0.0.0", "This host on this network"],
    ["198.18.0.1", "Benchmarking"],
    ["203.0.113.7", "Documentation (TEST-NET-3)"],
    ["224.0.0.1", "Multicast"],
    ["255.255.255.255", "Limited Broadcast"],
    ["::1", "Loopback Address"],
    ["::", "Unspecified Address"],
    ["fe80::1%eth0", "Link-Local Unicast"],
    ["fd00::1", "Unique-Local"],
    ["ff02::1", "Multicast"],
    ["::ffff:127.0.0.1", "IPv4-mapped Address"],
    ["64:ff9b::10.0.0.1", "Private-Use"],
    ["2002:7f00:1::1", "Loopback"],
    ["4000::1", "not globally reachable"],
    ["2001:db8::1", "Documentation"],
  ])("%s: %s", (address, why) => {
    expect(refusal(address)).toBe(why);
  });

  test.each(["193.0.6.139", "2001:67c:2e8::1", "64:ff9b::193.0.6.139", "192.31.196.1"])("%s is", (address) => {
    expect(refusal(address)).toBeNull();
  });

  test.each(["127.0.0.1", "[::1]", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"])("written as %s", async (host) => {
    const error = await failure(place.fetch(`http://${host}:${server.port}/a`, strict));
    expect(error).toMatchObject({ fault: "forbidden", message: expect.stringContaining("which is not a globally reachable address") });
    expect(server.requests).toHaveLength(0);
  });

  test("reached by a name", async () => {
    const error = await failure(place.fetch(`http://files.example:${server.port}/a`, strict, { resolve: at("10.0.0.1", "127.0.0.1") }));
    expect(error.message).toBe(
      "files.example is 10.0.0.1, which is not a globally reachable address (Private-Use); set allow_private: true to allow it",
    );
    expect(server.requests).toHaveLength(0);
  });

  test("is asked for its addresses once: what it says a moment later is not heard", async () => {
    let asked = 0;
    const resolve = async () => {
      asked++;
      return at("127.0.0.1")();
    };
    await place.fetch(`http://files.example:${server.port}/a`, {}, { resolve });
    expect(asked).toBe(1);
  });

  test.each(["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::169.254.169.254]"])(
    "%s is link-local: a redirect does not lead there, even with allow_private",
    async (host) => {
      const mirror = await startHostileServer((_request, socket) => answer(socket, 302, { location: `http://${host}/latest` }));
      try {
        const error = await failure(place.fetch(`${mirror.url}/a`, { allowPrivate: true }));
        expect(error).toMatchObject({
          fault: "forbidden",
          message: expect.stringContaining("a link-local address, which is never allowed"),
        });
      } finally {
        await mirror.stop();
      }
    },
  );

  test.each(["[fd00:ec2::254]", "100.100.100.200", "192.0.0.192", "[::ffff:100.100.100.200]", "[64:ff9b::192.0.0.192]"])(
    "%s is a metadata service: a redirect does not lead there, even with allow_private",
    async (host) => {
      const mirror = await startHostileServer((_request, socket) => answer(socket, 302, { location: `http://${host}/latest` }));
      try {
        expect(await failure(place.fetch(`${mirror.url}/a`, { allowPrivate: true }))).toMatchObject({
          fault: "forbidden",
          message: expect.stringContaining("is at the address of a metadata service of a cloud, which is never allowed"),
        });
      } finally {
        await mirror.stop();
      }
    },
  );

  test("reached by a redirect from a name that is public", async () => {
    // 127.0.0.2 stands for a public server.
    const refuse = (address: string) => (address === "127.0.0.2" ? null : refusal(address));
    const mirror = await startHostileServer(
      (request, socket) =>
        answer(socket, 302, {
          location: request.path === "/a" ? `http://127.0.0.1:${server.port}/secret` : `http://inside.example:${server.port}/secret`,
        }),
      { host: "127.0.0.2" },
    );
    const resolve = async (name: string) => (name === "inside.example" ? at("127.0.0.1")() : at("127.0.0.2")());
    try {
      for (const path of ["a", "b"]) {
        const error = await failure(place.fetch(`http://mirror.example:${mirror.port}/${path}`, strict, { resolve, refuse }));
        expect(error).toMatchObject({
          fault: "forbidden",
          message: expect.stringContaining("which is not a globally reachable address (Loopback)"),
        });
      }
      expect(mirror.requests).toHaveLength(2);
      expect(server.requests).toHaveLength(0);
    } finally {
      await mirror.stop();
    }
  });

  test("are told by the connection itself too, before anything is sent", async () => {
    let looked = 0;
    // As if the look-up had been deceived.
    const refuse = (address: string) => (looked++ === 0 ? null : refusal(address));
    const error = await failure(place.fetch(`http://files.example:${server.port}/a`, strict, { resolve: at("127.0.0.1"), refuse }));
    expect(error.message).toContain("files.example is 127.0.0.1, which is not a globally reachable address (Loopback)");
    expect(server.requests).toHaveLength(0);
  });

  test("of several addresses of a name only the global ones are left", async () => {
    const seen: string[] = [];
    const look = guardedLookup(at("10.0.0.1", "193.0.6.139", "::1"), refusal);
    await new Promise<void>((resolve) =>
      look("a", { all: true }, (_error, addresses) => {
        for (const { address } of addresses as { address: string }[]) seen.push(address);
        resolve();
      }),
    );
    expect(seen).toEqual(["193.0.6.139"]);
  });
});

test("redirects are followed five times, and what is told is where it came from", async () => {
  server.behave((request, socket) => {
    const hop = Number(request.path.slice(1));
    if (hop < 5) answer(socket, [301, 302, 303, 307, 308][hop] ?? 302, { location: `/${hop + 1}` });
    else answer(socket, 200, {}, "content");
  });
  expect((await place.fetch(`${server.url}/0`)).file).toMatchObject({ url: `${server.url}/0`, finalUrl: `${server.url}/5` });
});

test.each([
  ["user:50%", "user:50%"],
  ["%zz:p%40ss", "%zz:p@ss"],
])("a redirect with %s in front of its host sends what is no encoded letter as it is", async (inUrl, sent) => {
  server.behave((request, socket) => {
    if (request.path === "/a") answer(socket, 302, { location: `http://${inUrl}@127.0.0.1:${server.port}/b` });
    else answer(socket, 200, {}, "content");
  });
  await place.fetch(`${server.url}/a`);
  expect(server.requests[1]?.headers.authorization).toBe(`Basic ${Buffer.from(sent).toString("base64")}`);
});

test("letters of a redirect that are not encoded are sent in the bytes that came", async () => {
  server.behave((request, socket) => {
    if (request.path === "/a") answer(socket, 302, { location: "/données/b?q=ü" });
    else answer(socket, 200, {}, "content");
  });
  await place.fetch(`${server.url}/a`);
  expect(server.requests[1]?.path).toBe("/donn%C3%A9es/b?q=%C3%BC");
});

test("redirects in a circle end", async () => {
  server.behave((request, socket) => answer(socket, 302, { location: request.path === "/a" ? "/b" : "/a" }));
  expect(await failure(place.fetch(`${server.url}/a`))).toMatchObject({
    fault: "forbidden",
    message: `${server.url}/a: more than 5 redirects`,
  });
  expect(server.requests).toHaveLength(6);
});

test.each(["file:///etc/passwd", "ftp://example.net/a", "gopher://127.0.0.1/", "data:text/plain,x"])(
  "a redirect to %s is not followed",
  async (location) => {
    server.behave((_request, socket) => answer(socket, 302, { location }));
    expect((await failure(place.fetch(`${server.url}/a`))).message).toContain("only http and https are supported");
  },
);

describe("credentials", () => {
  test("go to the location's own origin, and to no other", async () => {
    const other = await startHostileServer((_request, socket) => answer(socket, 200, {}, "content"));
    try {
      server.behave((request, socket) => answer(socket, 302, { location: request.path === "/a" ? "/b" : `${other.url}/c` }));
      const { file } = await place.fetch(`http://user:p%40ss@127.0.0.1:${server.port}/a`);
      const basic = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
      expect(other.requests[0]?.headers.authorization).toBeUndefined();
      expect(JSON.stringify(file)).not.toMatch(/p%40ss|p@ss|user/);
    } finally {
      await other.stop();
    }
  });

  test("of a file go to no other origin either", async () => {
    const secret = join(place.downloads, "authorization");
    writeFileSync(secret, "Api-Key s3cr3t\n");
    const other = await startHostileServer((_request, socket) => answer(socket, 200, {}, "content"));
    try {
      server.behave((_request, socket) => answer(socket, 302, { location: `${other.url}/c` }));
      await place.fetch(`${server.url}/a`, { authorizationFile: secret });
      expect(server.requests[0]?.headers.authorization).toBe("Api-Key s3cr3t");
      expect(other.requests[0]?.headers.authorization).toBeUndefined();
    } finally {
      await other.stop();
    }
  });

  test("of an encrypted origin do not go to the same port without encryption, even with allow_downgrade", async () => {
    const made = makeCertificate("127.0.0.1");
    const both = await startHostileServer(undefined, { tls: made, plainToo: true });
    const caFile = join(place.downloads, "authority.pem");
    const authorizationFile = join(place.downloads, "authorization");
    writeFileSync(caFile, made.cert);
    writeFileSync(authorizationFile, "Api-Key s3cr3t\n");
    try {
      both.behave((request, socket) =>
        request.path === "/a"
          ? answer(socket, 302, { location: `http://127.0.0.1:${both.port}/plain` })
          : answer(socket, 200, {}, "content"),
      );
      await place.fetch(`${both.url}/a`, { caFile, authorizationFile, allowDowngrade: true });
      expect(both.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ["/a", "Api-Key s3cr3t"],
        ["/plain", undefined],
      ]);
    } finally {
      await both.stop();
    }
  });

  test("may stand in a file, and are in no message", async () => {
    const secret = join(place.downloads, "authorization");
    writeFileSync(secret, "Api-Key s3cr3t\n");
    server.behave((_request, socket) => answer(socket, 403));
    const error = await failure(place.fetch(`http://u:hidden@127.0.0.1:${server.port}/a?token=hidden`, { authorizationFile: secret }));
    expect(server.requests[0]?.headers.authorization).toBe("Api-Key s3cr3t");
    expect(error.message).toBe(`http://127.0.0.1:${server.port}/a?token=…: the server returned status 403`);
    const missing = await failure(place.fetch(`${server.url}/a`, { authorizationFile: `${secret}.none` }));
    expect(missing.message).toContain("authorization.none cannot be read");
    for (const text of ["", "Api-Key a\nApi-Key b\n", "Api-Key \u20ac\n"]) {
      writeFileSync(secret, text);
      const { message } = await failure(place.fetch(`${server.url}/a`, { authorizationFile: secret }));
      expect(message).toBe(`${server.url}/a: ${secret} must hold one line, the value of the header Authorization, in ASCII letters`);
    }
    expect(server.requests).toHaveLength(1);
  });
});

describe("over TLS", () => {
  let secure: HostileServer;
  let authority: string;
  beforeEach(async () => {
    const made = makeCertificate("127.0.0.1");
    secure = await startHostileServer((_request, socket) => answer(socket, 200, {}, "content"), { tls: made });
    authority = join(place.downloads, "authority.pem");
    writeFileSync(authority, made.cert);
  });
  afterEach(() => secure.stop());

  test("a server whose certificate is not trusted gets no request, and is asked once", async () => {
    const error = await failure(place.fetch(`${secure.url}/a`));
    expect(error).toMatchObject({ fault: "forbidden", message: expect.stringContaining("the certificate is not trusted") });
    expect(error.message).toContain("set ca_file to the certificate of its authority");
    expect(secure.requests).toHaveLength(0);
    expect(place.pauses).toEqual([]);
  });

  test("an authority of the source's own, or of all sources, is trusted", async () => {
    expect((await place.fetch(`${secure.url}/a`, { caFile: authority })).content.toString()).toBe("content");
    expect((await place.fetch(`${secure.url}/b`, {}, { caFile: authority })).content.toString()).toBe("content");
  });

  test("a file without a certificate is refused by its name, before anything is asked", async () => {
    const none = join(place.downloads, "none.pem");
    writeFileSync(none, "root:x:0:0\n");
    const error = await failure(place.fetch(`${secure.url}/a`, { caFile: none }));
    expect(error.message).toContain(`${none} must hold PEM certificates: `);
    expect(secure.requests).toHaveLength(0);
    expect(() => fetchContext({ FETCH_CONTACT: "", FETCH_CA_FILE: none })).toThrow(`FETCH_CA_FILE: ${none} must hold PEM certificates: `);
    expect(() => fetchContext({ FETCH_CONTACT: "", FETCH_CA_FILE: `${none}x` })).toThrow(`FETCH_CA_FILE: ${none}x does not exist`);
    expect(() => fetchContext({ FETCH_CONTACT: "", FETCH_CA_FILE: place.downloads })).toThrow(
      `FETCH_CA_FILE: ${place.downloads} cannot be read: illegal operation on a directory`,
    );
    expect(fetchContext({ FETCH_CONTACT: "", FETCH_CA_FILE: authority }).caFile).toBe(authority);
  });

  test("a certificate for another name is not", async () => {
    const url = `https://files.example:${secure.port}/a`;
    const error = await failure(place.fetch(url, { caFile: authority }, { resolve: at("127.0.0.1") }));
    expect(error.message).toContain("the certificate is not trusted: it is for another name (ERR_TLS_CERT_ALTNAME_INVALID)");
    expect(error.message).not.toContain("ca_file");
    expect(secure.requests).toHaveLength(0);
  });

  test("a certificate that has expired is named as such, and no authority is asked for", async () => {
    const made = makeCertificate("127.0.0.1", Date.now() - 86_400_000);
    const old = await startHostileServer((_request, socket) => answer(socket, 200, {}, "content"), { tls: made });
    writeFileSync(authority, made.cert);
    const { message } = await failure(place.fetch(`${old.url}/a`, { caFile: authority })).finally(() => old.stop());
    expect(message).toBe(
      `${old.url}/a: the certificate is not trusted: it has expired, or the clock of this machine is wrong (CERT_HAS_EXPIRED)`,
    );
  });

  test("a redirect to plain http is not followed, unless that is allowed", async () => {
    secure.behave((_request, socket) => answer(socket, 302, { location: `${server.url}/plain` }));
    const error = await failure(place.fetch(`${secure.url}/a`, { caFile: authority }));
    expect(error.message).toBe(
      `${secure.url}/a redirects to ${server.url}/plain, which is not encrypted; set allow_downgrade: true to allow it`,
    );
    const allowed = await place.fetch(`${secure.url}/a`, { caFile: authority, allowDowngrade: true });
    expect(allowed.file.finalUrl).toBe(`${server.url}/plain`);
  });
});
