/** The users that the documents list for nats-server, and one for tests themselves that may do everything. */

import { type NatsUser, natsAuthorization } from "../../libs/messaging/src/nats/rights.ts";

/** `user:password`, as URLs have it. */
export const testUser = "test:test";

const passwordOf = (user: NatsUser) => `password-of-${user}`;

/** For nats-server's configuration file. */
export function natsUsersConfig(): string {
  const [user, password] = testUser.split(":");
  return natsAuthorization({ passwordOf: (of) => `"${passwordOf(of)}"` }).replace(
    "users: [",
    `users: [ { user: ${user}, password: ${password} }`,
  );
}

/** Settings of a service, or of the command line. */
export function accessOf(user: NatsUser): Readonly<Record<string, string>> {
  return { NATS_USER: user, NATS_PASSWORD: passwordOf(user) };
}
