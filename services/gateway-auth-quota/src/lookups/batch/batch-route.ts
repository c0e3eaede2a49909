/** Where batches are asked: a route whose body is read by its handler alone, as fast as it is answered. */

import type { FastifyInstance } from "fastify";
import { clearBodyTime } from "../../edge/body-time.ts";
import { outliveRefusedBodies } from "../../edge/refused-bodies.ts";
import type { Batches } from "./batches.ts";

export const batchUrl = "/api/v1/batch";

/** After `installRoutes`. */
export function installBatchRoute(app: FastifyInstance, batches: Batches): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Left unread, whatever it is: the handler judges.
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    outliveRefusedBodies(scope);
    scope.addHook("onRequest", (request, _reply, done) => {
      clearBodyTime(request);
      done();
    });
    scope.route({ method: "POST", url: batchUrl, handler: batches.handle });
  });
  app.pathMethods.add(batchUrl, ["POST"]);
}
