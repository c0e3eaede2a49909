/** Requests a server that all test files of a run share, from the process of the global set-up (`server-owner.ts`). */

/** Variable with the URL of the owner; unset outside a run. */
export const serverOwnerVariable = "NETFACTS_TEST_SERVERS";

export type SharedServerName = "mongodb" | "nats";

export interface SharedServer {
  readonly url: string;
  /** Name of the program, like `Mongodb.kind`. */
  readonly kind: string;
}

/** Resolves when the server runs; the first request starts it. Null outside a run. @throws Error with the reason if it does not start. */
export async function askForServer(name: SharedServerName): Promise<SharedServer | null> {
  const owner = process.env[serverOwnerVariable];
  if (!owner) return null;
  const response = await fetch(`${owner}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedServer;
}
