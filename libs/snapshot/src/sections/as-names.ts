/** Section `as_names`: one name per AS number. */

import { type Columns, checkAscending, checkRuns, type SectionFormat } from "../columns.ts";
import { packStrings } from "../strings.ts";

const columns = { asn: "u32", name_start: "u32", name_bytes: "u8" } as const;

/** AS numbers ascend. */
export const asNamesFormat: SectionFormat<typeof columns> = { kind: "as_names", version: 1, columns };
export type AsNamesColumns = Columns<typeof columns>;

/** Packs names by AS number. */
export function asNamesColumns(names: ReadonlyMap<number, string>): AsNamesColumns {
  const asn = Uint32Array.from(names.keys()).sort();
  const packed = packStrings(Array.from(asn, (number) => names.get(number) as string));
  return { asn, name_start: packed.start, name_bytes: packed.bytes };
}

export function checkAsNames(section: AsNamesColumns): void {
  checkRuns(asNamesFormat.kind, "name_start", section.name_start, section.asn.length, section.name_bytes.length);
  checkAscending(asNamesFormat.kind, "asn", section.asn);
}
