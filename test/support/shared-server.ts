/** Asks for a server that all test files of one run share. The global set-up hands them out (`server-owner.ts`). */

/** Names where they are handed out; unset outside a run. */
export const serverOwnerVariable = "NETFACTS_TEST_SERVERS";

export type SharedServerName = "mongodb" | "nats";

export interface SharedServer {
  readonly url: string;
  /** The program, as its `kind` names it. */
  readonly kind: string;
}

/** Resolves when the server runs; the first request starts it. null outside a run. @throws Error with the reason when it does not start. */
export async function askForServer(name: SharedServerName): Promise<SharedServer | null> {
  const owner = process.env[serverOwnerVariable];
  if (!owner) return null;
  const response = await fetch(`${owner}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedServer;
}
