/** Times as RFC 3339 writes them. */

import { readCalendarDate } from "./calendar-date.ts";

/** Date.parse checks the rest. It would accept hour 24, which RFC 3339 does not have. */
const form = /^(\d{4})-(\d\d)-(\d\d)T((?!24)\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Whether a text has the form of a time. */
export function isTimestamp(text: string): boolean {
  return form.test(text);
}

/** Unix seconds, without their fraction; null for anything else, and for days that do not exist. */
export function readTimestamp(text: string): number | null {
  const match = form.exec(text);
  if (match === null || readCalendarDate(`${match[1]}${match[2]}${match[3]}`) === null) return null;
  const ms = Date.parse(`${match[1]}-${match[2]}-${match[3]}T${match[4]}${match[6]?.toUpperCase()}`);
  return Number.isNaN(ms) ? null : ms / 1000;
}
