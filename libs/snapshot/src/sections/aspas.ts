/** Section `aspas`: the providers that each customer AS authorises. */

import type { AspaColumns } from "@netfacts/rpki";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat } from "../columns.ts";
import { packStrings, stringsOf } from "../strings.ts";

const columns = {
  /** Ascending. */
  customer: "u32",
  /** Bounds of each customer's run of providers, which ascend. */
  provider_start: "u32",
  provider: "u32",
  /** Index of the trust anchor's name; 255 = not given. */
  ta: "u8",
  /** Unix seconds; 0 = not given. */
  expires_at: "u32",
  ta_start: "u32",
  ta_bytes: "u8",
} as const;

export const aspasFormat: SectionFormat<typeof columns> = { kind: "aspas", version: 1, columns };
export type AspasColumns = Columns<typeof columns>;

/** The columns in the form of an ASPA set. */
export function aspaSetColumns(section: AspasColumns): { columns: AspaColumns; taNames: string[] } {
  return {
    columns: {
      customer: section.customer,
      start: section.provider_start,
      provider: section.provider,
      ta: section.ta,
      expiresAt: section.expires_at,
    },
    taNames: stringsOf({ start: section.ta_start, bytes: section.ta_bytes }),
  };
}

/** The columns of a section from those of an ASPA set. */
export function aspaSectionColumns(aspas: AspaColumns, taNames: readonly string[]): AspasColumns {
  const names = packStrings(taNames);
  return {
    customer: aspas.customer,
    provider_start: aspas.start,
    provider: aspas.provider,
    ta: aspas.ta,
    expires_at: aspas.expiresAt,
    ta_start: names.start,
    ta_bytes: names.bytes,
  };
}

/** Refuses columns with runs or references that lead out of bounds, or with an order that a search cannot use. */
export function checkAspas(section: AspasColumns): void {
  const { kind } = aspasFormat;
  const { customer, provider_start, provider, ta, expires_at, ta_start, ta_bytes } = section;
  checkAscending(kind, "customer", customer);
  checkRuns(kind, "provider_start", provider_start, customer.length, provider.length);
  checkLengths(kind, customer.length, { ta, expires_at });
  checkRuns(kind, "ta_start", ta_start, Math.max(0, ta_start.length - 1), ta_bytes.length);
  checkBelow(kind, "ta", ta, ta_start.length - 1, 255);
  for (let index = 0; index < customer.length; index++)
    checkAscending(kind, "provider", provider.subarray(provider_start[index] as number, provider_start[index + 1] as number));
}
