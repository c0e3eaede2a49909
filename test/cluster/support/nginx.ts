/**
 * nginx (Debian package `nginx`) on this machine, in front of a NodePort, with the settings that ingress-nginx writes for an Ingress: it
 * stands for an ingress controller, of which none can be had.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority } from "../../support/certificates.ts";
import { type FoundTool, findDebianTool } from "../../support/debian.ts";
import { freePort } from "../../support/free-ports.ts";
import { until } from "../../support/http.ts";

/** `NGINX` in the environment, PATH, the cache, the registry. */
function findNginx(): Promise<FoundTool> {
  return findDebianTool({ name: "nginx", variable: "NGINX", packageName: "nginx", binary: "usr/sbin/nginx" });
}

/** What ingress-nginx does without annotations. */
const defaultAnnotations = {
  "proxy-body-size": "1m",
  "proxy-request-buffering": "on",
  "proxy-buffering": "off",
  "proxy-read-timeout": "60",
};

export type IngressAnnotations = Readonly<Partial<Record<keyof typeof defaultAnnotations, string>>>;

export interface NginxOptions {
  /** `host:port` that requests are forwarded to. */
  readonly upstream: string;
  /** Those of `nginx.ingress.kubernetes.io/`. */
  readonly annotations?: IngressAnnotations;
  /** Adds the client to the `X-Forwarded-For` that came with the request (`compute-full-forwarded-for`), in place of replacing it. Default: no. */
  readonly appendsForwardedFor?: boolean;
}

/** A line of its access log. */
export interface AccessLine {
  readonly client: string;
  readonly status: number;
  /** Of each try, separated by commas. */
  readonly upstreamStatus: string;
}

export interface Nginx {
  /** `https://127.0.0.1:port`; all addresses of 127.0.0.0/8 may be used by clients. */
  readonly url: string;
  /** Certificate of the authority that signed its own. */
  readonly ca: Buffer;
  accessLog(): Promise<AccessLine[]>;
  stop(): Promise<void>;
}

/** Resolves when it listens. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const tool = await findNginx();
  if (!tool.found) throw new Error(`nginx is needed: ${tool.remedy}`);
  const folder = await mkdtemp(join(tmpdir(), "netfacts-nginx-"));
  const port = await freePort();
  const authority = makeAuthority(folder, "authority");
  authority.issue("ingress");
  await writeFile(join(folder, "nginx.conf"), configuration(folder, port, options));
  const child = spawn(tool.command, ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {
    env: { PATH: process.env.PATH, ...tool.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGQUIT");
    // Workers wait for clients that keep connections.
    const tooLong = setTimeout(() => child.kill("SIGTERM"), 2_000);
    await ended;
    clearTimeout(tooLong);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(() => (child.exitCode === null ? answers(port) : Promise.reject(new Error(log))));
  } catch (error) {
    await stop();
    throw new Error(`nginx did not start: ${log}`, { cause: error });
  }
  return {
    url: `https://127.0.0.1:${port}`,
    ca: readFileSync(authority.certificate),
    async accessLog() {
      const text = await readFile(join(folder, "access.log"), "utf8");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => {
          const [client = "", status = "", upstreamStatus = ""] = line.split("|");
          return { client, status: Number(status), upstreamStatus };
        });
    },
    stop,
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function configuration(folder: string, port: number, { upstream, annotations = {}, appendsForwardedFor = false }: NginxOptions): string {
  const use = { ...defaultAnnotations, ...annotations };
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `  ${kind}_temp_path ${folder}/${kind};`);
  return `daemon off;
# Workers of root stay root: the folder belongs to it.
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
${temporary.join("\n")}
  log_format upstreams '$remote_addr|$status|$upstream_status';
  access_log ${folder}/access.log upstreams;
  server_tokens off;
  keepalive_timeout 75s;
  keepalive_requests 1000;
  client_header_timeout 60s;
  client_body_timeout 60s;
  large_client_header_buffers 4 8k;
  # Empty: the connection to the gateway is kept.
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream gateway {
    server ${upstream};
    keepalive 320;
    keepalive_timeout 60s;
    keepalive_requests 10000;
  }
  server {
    listen 0.0.0.0:${port} ssl http2;
    server_name _;
    ssl_certificate ${folder}/ingress.pem;
    ssl_certificate_key ${folder}/ingress.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:SSL:10m;
    ssl_session_timeout 10m;
    ssl_session_tickets off;
    location / {
      client_max_body_size ${use["proxy-body-size"]};
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Request-ID $request_id;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For ${appendsForwardedFor ? "$proxy_add_x_forwarded_for" : "$remote_addr"};
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port ${port};
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Scheme $scheme;
      proxy_set_header X-Scheme $scheme;
      proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;
      proxy_set_header Proxy "";
      proxy_connect_timeout 5s;
      proxy_send_timeout 60s;
      proxy_read_timeout ${use["proxy-read-timeout"]}s;
      proxy_buffering ${use["proxy-buffering"]};
      proxy_buffer_size 4k;
      proxy_buffers 4 4k;
      proxy_request_buffering ${use["proxy-request-buffering"]};
      proxy_http_version 1.1;
      proxy_next_upstream error timeout;
      proxy_next_upstream_timeout 0;
      proxy_next_upstream_tries 3;
      proxy_redirect off;
      proxy_pass http://gateway;
    }
  }
}
`;
}
