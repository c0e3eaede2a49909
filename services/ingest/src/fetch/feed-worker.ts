/** The thread of `FeedThread`: reads one file after the other, and replies to each message with one. */

import { parentPort } from "node:worker_threads";
import { openContent } from "@netfacts/content";
import { inFairOrder } from "../assembly/fair-order.ts";
import { readFeedEntries } from "../readers/feed-entries.ts";
import { readGeofeedReferences } from "../readers/rpsl-references.ts";
import type { FeedSize, FeedWork, FileAnswer } from "./feed-thread.ts";

/** Letters that count as one URL: a longer URL counts as several. */
const lettersPerUrl = 128;

parentPort?.on("message", async (work: FeedWork) => {
  const answer: FileAnswer<string[] | FeedSize> = await (work.kind === "references" ? referencesIn(work) : sizeOf(work.path)).then(
    (value) => ({ ok: true, value }),
    (error: Error) => ({ ok: false, message: error.message.replaceAll(`${work.path}: `, "") }),
  );
  parentPort?.postMessage(answer);
});

/** The URLs that a dump refers to, sorted. If there are too many, hosts get equal shares, and short URLs come first. */
async function referencesIn({ path, bounds, urlsMax }: FeedWork & { readonly kind: "references" }): Promise<string[]> {
  const { references } = await readGeofeedReferences({ file: path, chunks: openContent(path).stream, ...bounds });
  const urls = [...new Set(references.map(({ url }) => url))].sort();
  let room = urlsMax;
  return inFairOrder(urls.map((url) => ({ url, weight: Math.ceil(url.length / lettersPerUrl) })))
    .filter(({ weight }) => {
      room -= weight;
      return room >= 0;
    })
    .map(({ url }) => url)
    .sort();
}

async function sizeOf(path: string): Promise<FeedSize> {
  const { entries, effort } = await readFeedEntries(path);
  return { entries: entries.length, effort };
}
