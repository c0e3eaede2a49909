/** The present snapshots of the process, in its thread of the past: questions about the past share their memory. */

import type { LoadedSnapshot, SectionName } from "@netfacts/snapshot";
import type { PresentChange } from "./past-messages.ts";

export class PresentSnapshots {
  readonly #held = new Map<number, LoadedSnapshot>();

  held(): readonly LoadedSnapshot[] {
    return [...this.#held.values()];
  }

  /** A section that is in several snapshots becomes one object, as in the process. */
  change({ keys, added }: PresentChange): void {
    const known = new Map<string, LoadedSnapshot["sections"][SectionName]>();
    for (const { manifest, sections } of this.#held.values())
      for (const [name, entry] of Object.entries(manifest.sections)) known.set(`${name} ${entry.object}`, sections[name as SectionName]);
    for (const key of this.#held.keys()) if (!keys.includes(key)) this.#held.delete(key);
    for (const { key, loaded } of added) {
      const sections = Object.entries(loaded.sections).map(([name, section]) => {
        const object = `${name} ${loaded.manifest.sections[name as SectionName]?.object}`;
        const one = known.get(object) ?? section;
        known.set(object, one);
        return [name, one];
      });
      this.#held.set(key, { manifest: loaded.manifest, sections: Object.fromEntries(sections) as LoadedSnapshot["sections"] });
    }
  }
}
