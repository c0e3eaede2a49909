/** Handler of the operators' route of usage: JSON in pages, or CSV as a stream. */

import { contentTypes, type UsageItems } from "@netfacts/contracts";
import { type UsageGroup, type UsageRepository, usageColumns, usageGroups, usageItem } from "@netfacts/storage";
import { notAcceptable, preferredType } from "../edge/accept.ts";
import type { AdminHandlers } from "../operator/admin-routes.ts";
import { readUsageQuestion, type UsageQuestion, usageCursor } from "./usage-question.ts";

type ReadUsage = Pick<UsageRepository, "list" | "total">;

const limitDefault = 100;
const linesOfPiece = 500;

/** Handlers by the ids of the routes. */
export function usageHandlers(usage: ReadUsage, clock: { now(): number }): AdminHandlers {
  return {
    async listUsage({ query, accept }) {
      const format = formatOf(query.format, accept);
      const question = readUsageQuestion(query, clock.now());
      const headers = { vary: "Authorization, Accept" };
      if (format === "json") return { status: 200, headers, body: await page(usage, question, Number(query.limit ?? limitDefault)) };
      const limit = query.limit === undefined ? Number.POSITIVE_INFINITY : Number(query.limit);
      return { status: 200, headers, text: { contentType: contentTypes.csv, pieces: csvPieces(usage, question, limit) } };
    },
  };
}

function formatOf(named: string | undefined, accept: string | undefined): "json" | "csv" {
  if (named === "json" || named === "csv") return named;
  const type = preferredType(accept, ["application/json", "text/csv"]);
  if (type === null) throw notAcceptable(["application/json", "text/csv"]);
  return type === "text/csv" ? "csv" : "json";
}

async function page(usage: ReadUsage, { query, by, after }: UsageQuestion, limit: number): Promise<UsageItems> {
  const items: UsageGroup[] = [];
  let isWhole = true;
  for await (const group of usageGroups(usage, query, by, after)) {
    isWhole = items.length < limit;
    if (!isWhole) break;
    items.push(group);
  }
  const last = items.at(-1);
  return {
    from: query.from,
    to: query.to,
    total: await usage.total(query),
    items: items.map(usageItem),
    next_cursor: isWhole || last === undefined ? null : usageCursor(by, last),
  };
}

/** Cells are ids, days and our own words: none needs quotes or looks like a formula. */
async function* csvPieces(usage: ReadUsage, { query, by, after }: UsageQuestion, limit: number): AsyncGenerator<string, undefined> {
  let lines = [usageColumns(by).join()];
  let count = 0;
  for await (const group of usageGroups(usage, query, by, after)) {
    if (count++ >= limit) break;
    lines.push(Object.values(usageItem(group)).join());
    if (lines.length >= linesOfPiece) {
      yield `${lines.join("\n")}\n`;
      lines = [];
    }
  }
  if (lines.length > 0) yield `${lines.join("\n")}\n`;
}
