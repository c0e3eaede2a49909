/** The example of the README: which AS numbers originate most prefixes of a table. */

import { openContent } from "@netfacts/content";
import { type RibSink, readPathOrigin, scanRib } from "@netfacts/mrt";

export async function routesByOrigin(file: string): Promise<Map<number, number>> {
  const routes = new Map<number, number>();
  const sink: RibSink = {
    peerIndex() {},
    prefix() {},
    route(_peerIndex, _originatedAt, path, start, end) {
      const origin = readPathOrigin(path, start, end); // An AS number, originIsPeer or originIsSet.
      routes.set(origin, (routes.get(origin) ?? 0) + 1);
    },
  };
  const report = await scanRib(openContent(file).stream, sink, { name: file });
  for (const { reason, count, examples } of report.skipped) console.warn(`${count} records skipped: ${reason}`, examples);
  return routes;
}
