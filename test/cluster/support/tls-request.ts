/** Requests over TLS from a chosen address of this machine: different clients of one ingress. */

import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";

export interface TlsRequestOptions {
  /** Certificate of the authority that the server's is signed by. */
  readonly ca: Buffer;
  readonly key?: string;
  /** Address of the client. */
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TlsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; throws where it is none. */
  readonly json: ReturnType<typeof JSON.parse>;
}

/** Opens a connection for itself, and reads the answer as it comes while the body is sent. */
export async function tlsRequest(url: string, options: TlsRequestOptions): Promise<TlsAnswer> {
  const { body, ...others } = options;
  const open = openTlsRequest(url, others);
  // An answer may come before the end of a body that is refused.
  open.end(body);
  return await open.answer;
}

export interface OpenTlsRequest {
  write(part: string): void;
  end(part?: string): void;
  /** What came of the answer so far. */
  readonly text: string;
  /** Rejects if the connection ends before the answer does. */
  readonly answer: Promise<TlsAnswer>;
}

/** A request whose body the test still writes. */
export function openTlsRequest(
  url: string,
  { ca, key, from, method = "GET", headers = {} }: Omit<TlsRequestOptions, "body">,
): OpenTlsRequest {
  let text = "";
  const sending = request(url, {
    ca,
    method,
    agent: false,
    ...(from !== undefined && { localAddress: from }),
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  });
  const answer = new Promise<TlsAnswer>((resolve, reject) => {
    let answered = false;
    sending.once("error", (error) => {
      // The answer to a body that was refused, and not read to its end.
      if (!answered) reject(error);
    });
    sending.once("response", (response) => {
      answered = true;
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text);
          },
        }),
      );
    });
  });
  // Whoever writes reads it later.
  answer.catch(() => undefined);
  return {
    write: (part) => void sending.write(part),
    end: (part) => void sending.end(part),
    get text() {
      return text;
    },
    answer,
  };
}
