/** Locations of caches. */

import { expect, test } from "@jest/globals";
import { readCacheList } from "../../src/rtr/index.ts";

test("reads one cache or several, with the ports that IANA gives where none is told", () => {
  expect(readCacheList("rtr://Validator.example.net:3323")).toEqual([
    { name: "rtr://validator.example.net:3323", tls: false, host: "validator.example.net", port: 3323 },
  ]);
  expect(readCacheList("rtr://192.0.2.1, rtr+tls://[2001:db8::1]/")).toEqual([
    { name: "rtr://192.0.2.1:323", tls: false, host: "192.0.2.1", port: 323 },
    { name: "rtr+tls://[2001:db8::1]:324", tls: true, host: "2001:db8::1", port: 324 },
  ]);
});

test.each([
  "",
  "rtr://",
  "rtr://host:0",
  "rtr://host:65536",
  "rtr://user@host:323",
  "rtr://host:323/path",
  "rtr://host?x=1",
  "rtr://ho st:1",
  "http://host:323",
  "rtr://host:323,",
  "rtr://host:323,rtr://host",
  Array.from({ length: 9 }, (_, at) => `rtr://host-${at}`).join(),
])("refuses %p", (location) => {
  expect(readCacheList(location)).toBeNull();
});
