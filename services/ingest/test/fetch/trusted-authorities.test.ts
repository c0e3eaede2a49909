/** Authorities of an operator's own are read once, and again when a file has changed. */

import { expect, test } from "@jest/globals";
import { trusting } from "../../src/fetch/trusted-authorities.ts";
import { makeCertificate } from "../support/certificate.ts";

test("the same authorities give the same context, others another one, and only the last ones are kept", () => {
  const certificates = Array.from({ length: 10 }, () => makeCertificate("127.0.0.1").cert);
  const [first = "", second = "", ...others] = certificates;
  const context = trusting([first]);
  expect(trusting([first])).toBe(context);
  expect(trusting([first, second])).not.toBe(context);
  expect(trusting([second])).not.toBe(context);
  for (const other of others) {
    trusting([other]);
    expect(trusting([first])).toBe(context);
  }
  const forgotten = trusting([second]);
  for (const other of others) trusting([other]);
  expect(trusting([second])).not.toBe(forgotten);
});
