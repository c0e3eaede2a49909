/** Examples of usage, as operators see it. */

import type { UsageItems } from "../records/usage.ts";

export const usageExample: UsageItems = {
  from: "2026-11-20",
  to: "2026-11-21",
  total: { counted: 5_713, uncounted: 38 },
  items: [
    { key_id: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-20", route_class: "batch", counted: 4_000, uncounted: 4 },
    { key_id: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-20", route_class: "ip", counted: 1_702, uncounted: 31 },
    { key_id: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-21", route_class: "ip", counted: 11, uncounted: 3 },
  ],
  next_cursor: null,
};

export const usageCsvExample = `key_id,bucket,month,counted,uncounted
7Q9M3W8K,7Q9M3W8K,2026-11,5713,38
`;
