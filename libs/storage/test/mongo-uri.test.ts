/** Faults of MONGODB_URI that are seen when settings are loaded. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { mongoUriFault } from "../src/index.ts";
import { readMongoUri } from "../src/mongo/mongo-uri.ts";

test.each([
  ["another scheme", "http://netfacts:hunter2@db/netfacts", /^is not a MongoDB URI; write mongodb:/],
  ["no scheme", "netfacts:hunter2@db/netfacts", /^is not a MongoDB URI/],
  ["an @ in the password", "mongodb://netfacts:hunter2@x@db/netfacts", /percent-encoded$/],
  ["a / in the password", "mongodb://netfacts:hunter2/x@db/netfacts", /percent-encoded$/],
  ["a % in the password", "mongodb://netfacts:hunter2%@db/netfacts", /^has a % in the user or the password .*; write %25$/],
  ["a % before two hex digits", "mongodb://netfacts:hunter2%E4@db/netfacts", /^has a % in the user or the password .*; write %25$/],
  ["a dot in the name of the database", "mongodb://netfacts:hunter2@db/net.facts", /^names a database with a character/],
  ["an encoded dot in it", "mongodb://netfacts:hunter2@db/net%2Efacts", /^names a database with a character/],
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

test("usual URIs have no fault", () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-uri-"));
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, "");
  for (const uri of [
    "mongodb://127.0.0.1:27017",
    "mongodb://user:p%40ss%2F@a.example:27017,b.example:27018/netfacts?replicaSet=rs0&authSource=admin",
    "mongodb+srv://user:pass@cluster.example/net_facts-1",
    `mongodb://[2001:db8::1]:27017/netfacts?tls=true&tlsCAFile=${encodeURIComponent(ca)}`,
  ])
    expect(mongoUriFault(uri)).toBeNull();
  rmSync(folder, { recursive: true });
});
