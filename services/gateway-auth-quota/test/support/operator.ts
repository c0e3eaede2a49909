/** A gateway with its operator listener on a real port, in front of a recording ingest. */

import type { GatewayConfig } from "../../src/app.ts";
import { type Harness, type HttpAnswer, startGateway } from "./gateway.ts";
import { type RecordingIngest, startRecordingIngest } from "./recording-ingest.ts";

export const proxyToken = "0123456789abcdefghijklmnopqrstuvwxyz";
export const runsPath = "/admin/v1/ingest/runs";

/** A path of ingest that takes what the gateway knows nothing of. */
export const uploadPath = "/admin/v1/ingest/upload";

export interface OperatorHarness {
  readonly gateway: Harness;
  readonly ingest: RecordingIngest;
  /** Of the operator listener. */
  readonly url: string;
  readonly publicUrl: string;
  /** The text of a key with the scope `admin`. */
  readonly adminKey: string;
  /** A request to the operator listener, with the admin key unless the headers say otherwise. */
  ask(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string; key?: string | null },
  ): Promise<HttpAnswer>;
  stop(): Promise<void>;
}

export async function startOperatorHarness(config: Partial<GatewayConfig> = {}): Promise<OperatorHarness> {
  const ingest = await startRecordingIngest();
  const gateway = await startGateway({ config: { OPERATOR_PORT: 0, INGEST_URL: ingest.url, PROXY_TOKEN: proxyToken, ...config } });
  const publicUrl = await gateway.gateway.listen();
  const url = gateway.gateway.operator?.listeningOrigin ?? "";
  const adminKey = await gateway.key({ scopes: ["admin"] });
  return {
    gateway,
    ingest,
    url,
    publicUrl,
    adminKey,
    async ask(method, path, { headers = {}, body, key = adminKey } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
        ...(body === undefined ? {} : { body }),
      });
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
    },
    async stop() {
      await gateway.stop();
      await ingest.stop();
    },
  };
}
