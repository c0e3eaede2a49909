/** A generation that remembers which of its sections were read. */

import { type Generation, kindOf, type SectionName, sectionNames } from "../../src/index.ts";

/** The section that each table of a generation belongs to. */
const sectionOfTable = new Map<string | symbol, SectionName>(
  sectionNames.flatMap((name) => Object.keys(kindOf(name).none).map((table) => [table, name] as const)),
);

/** `read`: the sections whose tables were asked for, whether the snapshot has them or not. */
export function watchedGeneration(generation: Generation): { readonly watched: Generation; readonly read: ReadonlySet<SectionName> } {
  const read = new Set<SectionName>();
  const watched = new Proxy(generation, {
    get(target, member) {
      const section = sectionOfTable.get(member);
      if (section !== undefined) read.add(section);
      return Reflect.get(target, member, target);
    },
  });
  return { watched, read };
}
