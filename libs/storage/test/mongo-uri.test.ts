/** Faults of MONGODB_URI that are seen when settings are loaded. */

import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { makeAuthority } from "../../../test/support/certificates.ts";
import { mongoUriFault } from "../src/index.ts";
import { MongoConnection } from "../src/mongo/mongo-connection.ts";
import { readMongoUri } from "../src/mongo/mongo-uri.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-uri-"));
const authority = makeAuthority(folder, "ca");
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ["another scheme", "http://netfacts:hunter2@db/netfacts", /^is not a MongoDB URI; write mongodb:/],
  ["no scheme", "netfacts:hunter2@db/netfacts", /^is not a MongoDB URI/],
  ["an @ in the password", "mongodb://netfacts:hunter2@x@db/netfacts", /percent-encoded$/],
  ["a / in the password", "mongodb://netfacts:hunter2/x@db/netfacts", /percent-encoded$/],
  ["a % in the password", "mongodb://netfacts:hunter2%@db/netfacts", /^has a % in the user or the password .*; write %25$/],
  ["a % before two hex digits", "mongodb://netfacts:hunter2%E4@db/netfacts", /^has a % in the user or the password .*; write %25$/],
  ["a dot in the name of the database", "mongodb://netfacts:hunter2@db/net.facts", /^names a database with a character/],
  ["an encoded dot in it", "mongodb://netfacts:hunter2@db/net%2Efacts", /^names a database with a character/],
  [
    "a port beyond the last one",
    "mongodb://netfacts:hunter2@a,127.0.0.1:99999/netfacts",
    /^has the host "127\.0\.0\.1:99999"; write HOST:PORT,/,
  ],
  ["a port with a unit", "mongodb://netfacts:hunter2@db:27017x/netfacts", /^has the host "db:27017x"; write HOST:PORT,/],
  [
    "IPv6 without brackets",
    "mongodb://netfacts:hunter2@::1:27017/netfacts",
    /^has the host "::1:27017"; .* brackets around an IPv6 address$/,
  ],
  [
    "IPv6 with a zone, which the driver refuses",
    "mongodb://netfacts:hunter2@[fe80::1%25eth0]/netfacts",
    /^has the host "\[fe80::1%25eth0\]"; /,
  ],
  ["a port without a host", "mongodb://netfacts:hunter2@:27017/netfacts", /^has the host ":27017"; write HOST:PORT,/],
  ["an open bracket", "mongodb://netfacts:hunter2@[::1/netfacts", /^has the host "\[::1"; /],
  ["a port with mongodb+srv", "mongodb+srv://netfacts:hunter2@db:27017/netfacts", /^has the port 27017; mongodb\+srv:/],
  ["a line break at the end", "mongodb://netfacts:hunter2@db/netfacts\n", /^names a database with a character/],
  ["a long name", `mongodb://netfacts:hunter2@db/${"a".repeat(64)}`, /63 characters$/],
  [
    "a file that is missing",
    "mongodb://netfacts:hunter2@db/?tls=true&tlsCAFile=/none/ca.pem",
    /^has tlsCAFile=\/none\/ca\.pem, a file that does not exist$/,
  ],
  [
    "the same in lower case",
    "mongodb://netfacts:hunter2@db/netfacts?tlscertificatekeyfile=%2Fnone%2Fa",
    /^has tlsCertificateKeyFile=\/none\/a,/,
  ],
])("%s is a fault that shows no password", (_what, uri, fault) => {
  expect(mongoUriFault(uri)).toMatch(fault);
  expect(mongoUriFault(uri)).not.toContain("hunter2");
});

test("the name of the database is decoded, as the driver does", () => {
  expect(readMongoUri("mongodb://db/%6eetfacts")).toEqual({ shown: "mongodb://db/netfacts", database: "netfacts" });
});

test.each([
  ["tlsCAFile", "", "a certificate in PEM form"],
  ["tlsCRLFile", "no list", "a list of revoked certificates in PEM form"],
  ["tlsCertificateKeyFile", readFileSync(authority.certificate, "utf8"), "a certificate and its key in PEM form"],
  ["tlsCertificateKeyFile", encryptedPair(), "a certificate and its key in PEM form that tlsCertificateKeyFilePassword opens"],
])("a file of %s that holds something else is a fault that names it", (option, content, holds) => {
  const path = inFile("other", content);
  const fault = mongoUriFault(`mongodb://db/?tls=true&${option}=${path}&tlsCertificateKeyFilePassword=hunter2`);
  expect(fault).toContain(`has ${option}=${path}, a file without ${holds}`);
  expect(fault).not.toContain("hunter2");
});

function inFile(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function encryptedPair(): string {
  const key = createPrivateKey(readFileSync(authority.key)).export({
    format: "pem",
    type: "pkcs8",
    cipher: "aes-256-cbc",
    passphrase: "other",
  });
  return `${readFileSync(authority.certificate, "utf8")}${key}`;
}

test("usual URIs have no fault", () => {
  const pair = inFile("pair", readFileSync(authority.certificate, "utf8") + readFileSync(authority.key, "utf8"));
  for (const uri of [
    "mongodb://127.0.0.1:27017",
    "mongodb://user:p%40ss%2F@a.example:27017,b.example:27018/netfacts?replicaSet=rs0&authSource=admin",
    "mongodb://%2Ftmp%2Fmongodb-27017.sock/netfacts",
    "mongodb://[fe80::1]:27017,db_1.example,/netfacts",
    "mongodb+srv://user:pass@cluster.example/net_facts-1",
    `mongodb://[2001:db8::1]:27017/netfacts?tls=true&tlsCAFile=${encodeURIComponent(authority.certificate)}`,
    `mongodb://db/netfacts?tls=true&tlsCertificateKeyFile=${pair}`,
  ])
    expect(mongoUriFault(uri)).toBeNull();
});

test.each([
  [
    "replcaSet=rs0&fOo=1",
    /^store mongodb:\/\/db\/netfacts: has a URI with the options replcaSet, fOo that the driver does not accept; correct MONGODB_URI/,
  ],
  ["tls=hunter2&appName=a", / has a URI with the option tls that the driver does not accept; /],
  ["retryReads=hunter2", / has a URI with the option retryReads that /],
  ["replicaSet=", / has a URI with the option replicaSet that /],
  ["tlsCertificateKeyFilePassword=a&hunter2=1", / has a URI with hosts or options that the driver does not accept; correct MONGODB_URI/],
  ["authMechanismProperties=hunter2", / has a URI with hosts or options that the driver does not accept; correct MONGODB_URI/],
])("an option that the driver does not accept is named, without its value: %s", (options, message) => {
  const open = () => new MongoConnection(`mongodb://netfacts:hunter2@db/netfacts?${options}`, "netfacts");
  expect(open).toThrow(message);
  expect(open).not.toThrow(/hunter2/);
});

test("the fault of a URI without options is not said to be in its options", () => {
  const open = () => new MongoConnection("mongodb+srv://netfacts:hunter2@a.example.net,b.example.net/netfacts", "netfacts");
  expect(open).toThrow(" has a URI with hosts or options that the driver does not accept; correct MONGODB_URI");
});

test("no option of the URI makes writes less durable, or reads older", async () => {
  const connection = new MongoConnection("mongodb://db/netfacts?w=1&journal=false&readPreference=secondary", "netfacts");
  for (const db of [connection.db, connection.limitsDb]) {
    expect(db.writeConcern).toMatchObject({ w: "majority", journal: true });
    expect(db.readPreference?.mode).toBe("primary");
  }
  await connection.close();
});
