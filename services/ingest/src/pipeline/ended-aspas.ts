/** Whether section `aspas` ends, because no source of VRPs has ASPAs any more. */

import type { Run } from "./run.ts";
import type { SourcesBySection } from "./sections.ts";

/**
 * True if every source of VRPs was read and none has ASPAs, though the last snapshot has some: nobody renews them. The operator meant it if
 * each source that had them has another format now, or is no longer listed. Otherwise a file without `aspas` may be incomplete: that is a
 * loss of all ASPAs, which `section_shrink_max` bounds and `--accept-shrink aspas` accepts; `run.shrink` notes it.
 *
 * @param sources  those that were read or failed, by section
 */
export function haveAspasEnded({ listed, previous, shrink }: Run, sources: SourcesBySection, failed: ReadonlySet<string>): boolean {
  const before = previous?.sections.aspas;
  if (before === undefined || sources.vrps === undefined || sources.aspas !== undefined) return false;
  const rpki = listed.filter(({ section }) => section === "vrps");
  if (rpki.some(({ name }) => failed.has(name))) return false;
  const formats = new Map<string, string>(rpki.map(({ name, format }) => [name, format]));
  return (
    before.sources.every(({ name, format }) => formats.get(name) !== format) ||
    shrink.takes("aspas", { customers: 0, providers: 0 }, [], false)
  );
}
