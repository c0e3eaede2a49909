/** The clock of the server as a page knows it, whatever the clock of its browser says. */

import { afterEach, expect, jest, test } from "@jest/globals";
import { hearDate, serverNowMs } from "../src/server-clock.ts";

afterEach(() => {
  jest.restoreAllMocks();
});

test("ages follow the clock of the server, also when a cache answers later or the clock of the browser is set", () => {
  const noon = Date.parse("2026-11-30T12:00:00Z");
  const wrong = jest.spyOn(Date, "now").mockReturnValue(noon - 3_600_000);
  const since = jest.spyOn(performance, "now").mockReturnValue(5_000);
  expect(serverNowMs()).toBe(noon - 3_600_000);
  hearDate(null);
  hearDate("soon");
  expect(serverNowMs()).toBe(noon - 3_600_000);
  hearDate("Mon, 30 Nov 2026 12:00:00 GMT");
  expect(serverNowMs()).toBe(noon);
  since.mockReturnValue(65_000);
  wrong.mockReturnValue(noon + 7_200_000);
  hearDate("Mon, 30 Nov 2026 11:00:00 GMT");
  expect(serverNowMs()).toBe(noon + 60_000);
});
