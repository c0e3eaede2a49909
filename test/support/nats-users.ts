/** The documented users of nats-server, and a user with all rights for tests themselves. */

import { type NatsUser, natsAuthorization } from "../../libs/messaging/src/nats/rights.ts";

/** `user:password`, as in URLs. */
export const testUser = "test:test";

const passwordOf = (user: NatsUser) => `password-of-${user}`;

/** Text for nats-server's configuration file. */
export function natsUsersConfig(): string {
  const [user, password] = testUser.split(":");
  return natsAuthorization({ passwordOf: (of) => `"${passwordOf(of)}"` }).replace(
    "users: [",
    `users: [ { user: ${user}, password: ${password} }`,
  );
}

/** Settings with the user's password, for a service or the command line. */
export function accessOf(user: NatsUser): Readonly<Record<string, string>> {
  return { NATS_USER: user, NATS_PASSWORD: passwordOf(user) };
}
