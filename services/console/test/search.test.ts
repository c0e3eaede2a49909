/** Search without a browser: when suggestions are asked for, which are shown, what is marked, and where results lead. */

import { expect, jest, test } from "@jest/globals";
import { type Limits, NetfactsProblem, NetfactsUnreachable } from "@netfacts/client";
import { searchCharactersMax } from "@netfacts/contracts";
import { pageOf, searchedMax, searchedText, searchPath, titleParts, wantsSuggestions } from "../src/domain/search.ts";
import { pauseMsAfter, Suggester, type Suggestions } from "../src/suggester.ts";

test("suggestions are wanted for names and AS numbers, not for a complete address or prefix, one letter or a text that is too long", () => {
  for (const text of ["ri", " ripe ", "193.0.6", "AS3333", "3333", "193.0.6.1390", "東京", "x".repeat(100)])
    expect([text, wantsSuggestions(text)]).toEqual([text, true]);
  for (const text of ["", "  ", "r", " r ", "193.0.6.139", "2001:db8::1", "193.0.0.0/21", "193.0.6.139/21", "x".repeat(101)])
    expect([text, wantsSuggestions(text)]).toEqual([text, false]);
  expect(searchedMax).toBe(searchCharactersMax);
});

test("a text survives the URL of its page of results", () => {
  for (const q of ["ripe ncc", "a+b&q=c#d", "Société % “x”", "\u202eabc"]) {
    expect(searchedText(new URL(searchPath(q), "http://127.0.0.1").search)).toBe(q);
  }
  expect([searchedText(""), searchedText("?q=%20%20"), searchedText("?x=1"), searchedText("?q=%FF%")]).toEqual(["", "", "", "\ufffd%"]);
});

test("a result leads to the page of its subject, and to no other place", () => {
  const pages = {
    "/api/v1/ip/193.0.6.139": "/address/193.0.6.139",
    "/api/v1/ip/2001:db8::1": "/address/2001:db8::1",
    "/api/v1/prefix/193.0.0.0/21": "/prefix/193.0.0.0/21",
    "/api/v1/asn/AS3333": "/as/AS3333",
    "/api/v1/reverse-dns/193.0.6.139": "/reverse-dns/193.0.6.139",
  };
  for (const [link, page] of Object.entries(pages)) expect([link, pageOf(link)]).toEqual([link, page]);
  for (const link of [
    null,
    "",
    "javascript:alert(1)",
    "https://example.net/api/v1/ip/193.0.6.139",
    "/api/v1/ip/../../docs",
    "/api/v1/ip/AS3333",
    "/api/v1/asn/193.0.6.139",
    "/api/v1/reverse-dns/193.0.0.0/21",
    "/api/v1/country/NL",
  ])
    expect([link, pageOf(link)]).toEqual([link, null]);
});

test("the marked parts of a title are those of its highlights, in UTF-16 units", () => {
  const shown = (title: string, ...ranges: [number, number][]) =>
    titleParts(
      title,
      ranges.map(([start, end]) => ({ start, end })),
    )
      .map(({ text, isMarked }) => (isMarked ? `[${text}]` : text))
      .join("");
  expect(shown("AS3333 RIPE-NCC-AS", [7, 11], [12, 15])).toBe("AS3333 [RIPE]-[NCC]-AS");
  expect(shown("𝔑et Öl", [4, 6])).toBe("𝔑et[ Ö]l");
  expect(shown("abc")).toBe("abc");
  expect(shown("abc", [0, 3])).toBe("[abc]");
  expect(shown("abc", [2, 1], [1, 9], [-1, 2], [Number.NaN, 2], [1, 2], [0, 1])).toBe("a[b]c");
  expect(shown("a\u202eb\u2066c", [0, 2])).toBe("[a�]b�c");
});

test("the parts of a long title have at most 300 characters together, and end with an ellipsis", () => {
  for (const end of [10, 300, 301, 9_999]) {
    const parts = titleParts("W".repeat(10_000), [{ start: 0, end }]);
    expect(parts.map(({ text }) => text).join("")).toBe(`${"W".repeat(300)}…`);
  }
});

const limits = (remaining: number | null): Limits => ({
  rate: { limit: 600, remaining, resetSeconds: 42 },
  month: { limit: 1_000, remaining: 10, resetSeconds: 1_000 },
  cost: 1,
});
const problem = (status: number, code: string, seconds?: number) =>
  new NetfactsProblem(
    { status, code, title: "", detail: "", request_id: "", ...(seconds !== undefined && { retry_after_seconds: seconds }) } as never,
    null,
  );

test("suggestions pause until a limit resets, leave its last units to the pages, and end where they cannot work", () => {
  expect(pauseMsAfter(null, null)).toBe(0);
  expect(pauseMsAfter(null, limits(null))).toBe(0);
  expect(pauseMsAfter(null, limits(3))).toBe(0);
  expect(pauseMsAfter(null, limits(2))).toBe(42_000);
  expect(pauseMsAfter(problem(429, "rate_limit_exceeded", 17), limits(0))).toBe(17_000);
  expect(pauseMsAfter(problem(500, "internal_error"), null)).toBe(5_000);
  expect(pauseMsAfter(new NetfactsUnreachable("away"), null)).toBe(5_000);
  for (const status of [401, 403, 404]) expect(pauseMsAfter(problem(status, "x"), null)).toBe(Number.POSITIVE_INFINITY);
});

/** A suggester whose questions are answered by hand. */
function observed() {
  const asked: { text: string; signal: AbortSignal; answer: (total: number) => void; fail: (error: Error) => void }[] = [];
  const shown: (number | null)[] = [];
  const suggester = new Suggester({
    ask: (text, signal) =>
      new Promise<Suggestions>((resolve, reject) => {
        asked.push({ text, signal, answer: (total) => resolve({ items: [], total }), fail: reject });
      }),
    limits: () => null,
    show: (suggestions) => shown.push(suggestions?.total ?? null),
  });
  return { suggester, asked, shown };
}

test("one question is asked for letters that follow each other quickly, and the previous one is given up", async () => {
  jest.useFakeTimers();
  try {
    const { suggester, asked, shown } = observed();
    for (const text of ["ri", "rip", "ripe"]) {
      suggester.type(text);
      await jest.advanceTimersByTimeAsync(149);
    }
    expect(asked).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    suggester.type("ripe");
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked.map(({ text }) => text)).toEqual(["ripe"]);
    suggester.type("ripe n");
    expect(asked[0]?.signal.aborted).toBe(true);
    await jest.advanceTimersByTimeAsync(150);
    asked[1]?.answer(2);
    await jest.advanceTimersByTimeAsync(0);
    // An answer that comes late all the same, for a text that is no longer there.
    asked[0]?.answer(1);
    await jest.advanceTimersByTimeAsync(0);
    expect(shown).toEqual([2]);
    suggester.type(null);
    expect(shown).toEqual([2, null]);
  } finally {
    jest.useRealTimers();
  }
});

test("a refused question is silent, and the last text is asked for when the pause ends", async () => {
  jest.useFakeTimers();
  try {
    const { suggester, asked, shown } = observed();
    suggester.type("ripe");
    await jest.advanceTimersByTimeAsync(150);
    asked[0]?.fail(problem(429, "rate_limit_exceeded", 10));
    await jest.advanceTimersByTimeAsync(0);
    suggester.type("ripe n");
    suggester.type("ripe nc");
    await jest.advanceTimersByTimeAsync(9_900);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(200);
    expect(asked.map(({ text }) => text)).toEqual(["ripe", "ripe nc"]);
    asked[1]?.fail(problem(403, "insufficient_scope"));
    await jest.advanceTimersByTimeAsync(0);
    suggester.type("other");
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(asked).toHaveLength(2);
    expect(shown.filter((total) => total !== null)).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});
