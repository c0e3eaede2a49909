/**
 * Clients that wait for permission to send a body (RFC 9110 §10.1.1, `Expect: 100-continue`). What the head alone refuses is refused at
 * once, and nothing is sent for it.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** A member of the request: whether its client still waits. */
const waits = Symbol("the client waits for permission to send its body");
type WaitingRequest = IncomingMessage & { [waits]?: boolean };

/** From now on routes permit bodies; before, the server permitted each before any route saw the request. */
export function leavePermissionToRoutes(server: Server): void {
  server.on("checkContinue", (request: WaitingRequest, response) => {
    request[waits] = true;
    server.emit("request", request, response);
  });
}

/** Call before the body is read, and before the answer begins. Does nothing where the client does not wait. */
export function permitBody(request: WaitingRequest, response: ServerResponse): void {
  if (request[waits] !== true) return;
  request[waits] = false;
  response.writeContinue();
}

/** Whether nothing of the body is under way, as its client waits. Some send it all the same, after a while or at once. */
export function isBodyWithheld(request: WaitingRequest): boolean {
  return request[waits] === true && request.readableLength === 0;
}
