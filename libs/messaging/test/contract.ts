/** What every transport of messages must do: run against each implementation. */

import type { CreateMessaging } from "./contract/items.ts";
import { describeRequests } from "./contract/requests.ts";
import { describeResponders } from "./contract/responders.ts";
import { describeSurroundings } from "./contract/surroundings.ts";

export function describeMessaging(name: string, create: CreateMessaging): void {
  describeRequests(name, create);
  describeResponders(name, create);
  describeSurroundings(name, create);
}
