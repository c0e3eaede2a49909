/** Subjects for answers: they begin with the name of the connection, so that no service may listen to the answers of another one. */

/** The first tokens of all inboxes of a connection with this name. */
export function inboxPrefix(name: string): string {
  return `_INBOX.${name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
}
