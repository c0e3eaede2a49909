/** DNS cookies: what is sent, and which answers are believed. */

import { expect, test } from "@jest/globals";
import { CookieJar } from "../../src/dns/cookie-jar.ts";

const given = Buffer.alloc(16, 7);
const answerTo = (jar: CookieJar, server: Buffer) => Buffer.concat([jar.cookie.subarray(0, 8), server]);

test("sends its own part, and what the nameserver gave last", () => {
  const jar = new CookieJar();
  const own = jar.cookie;
  expect(own).toHaveLength(8);
  expect(jar.judge(answerTo(jar, given), false)).toBe("fine");
  expect(jar.cookie).toEqual(Buffer.concat([own, given]));
  const next = Buffer.alloc(8, 9);
  expect(jar.judge(answerTo(jar, next), false)).toBe("fine");
  expect(jar.cookie).toEqual(Buffer.concat([own, next]));
});

test("two jars share nothing, and a jar that forgets starts with a new cookie", () => {
  const jar = new CookieJar();
  const before = jar.cookie;
  expect(new CookieJar().cookie).not.toEqual(before);
  jar.judge(answerTo(jar, given), false);
  jar.forget();
  expect(jar.cookie).toHaveLength(8);
  expect(jar.cookie).not.toEqual(before);
});

test("the part of another, and lengths that no cookie has, are foreign", () => {
  const jar = new CookieJar();
  expect(jar.judge(Buffer.alloc(24), false)).toBe("foreign");
  for (const length of [1, 7, 33]) expect(jar.judge(answerTo(jar, Buffer.alloc(length)), false)).toBe("foreign");
  expect(jar.judge(jar.cookie.subarray(0, 4), false)).toBe("foreign");
  expect(jar.cookie).toHaveLength(8);
});

test("a nameserver that gives none needs none; one that did needs one until TCP says otherwise", () => {
  const jar = new CookieJar();
  expect(jar.judge(null, false)).toBe("fine");
  expect(jar.judge(answerTo(jar, Buffer.alloc(0)), false)).toBe("fine");
  jar.judge(answerTo(jar, given), false);
  expect(jar.judge(null, false)).toBe("missing");
  expect(jar.judge(answerTo(jar, Buffer.alloc(0)), false)).toBe("missing");
  expect(jar.judge(null, true)).toBe("fine");
  expect(jar.judge(null, false)).toBe("fine");
});
