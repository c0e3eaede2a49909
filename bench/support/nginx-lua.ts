/**
 * A gateway as many would build it: nginx with Lua, the basis of Kong and APISIX, without their own cost. It has one worker. It checks the key in
 * a shared dictionary, counts the rate and the month there, sets the same headers as our gateway, and writes a JSON access log. Its limits apply
 * only to this process.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FoundTool, findDebianTool } from "../../test/support/debian.ts";
import { freePort } from "../../test/support/free-ports.ts";
import type { ServiceProcess } from "./service-process.ts";

export interface NginxLuaOptions {
  readonly folder: string;
  /** URL of the service that answers. */
  readonly pod: string;
  readonly key: string;
  /** Headers of an answer of our gateway: their names, and the values that do not change. */
  readonly headers: Headers;
}

const startMsMax = 10_000;
/** Headers that nginx or the pod sets. */
const own = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]);

/** Looks at `NGINX_LUA` in the environment, then in PATH, the cache and the registry. */
export function findNginxLua(): Promise<FoundTool> {
  return findDebianTool({
    name: "nginx-with-lua",
    variable: "NGINX_LUA",
    packageName: "nginx",
    folder: "nginx-lua",
    otherPackages: [
      "libnginx-mod-http-ndk",
      "libnginx-mod-http-lua",
      "libluajit2-5.1-2",
      "lua-resty-core",
      "lua-resty-lrucache",
      "libpcre3",
    ],
    binary: "usr/sbin/nginx",
  });
}

export async function startNginxLua(
  tool: Extract<FoundTool, { found: true }>,
  options: NginxLuaOptions,
): Promise<{ url: string; process: ServiceProcess }> {
  const { folder } = options;
  const port = await freePort();
  const config = join(folder, "nginx-lua.conf");
  await writeFile(config, configOf(join(dirname(tool.command), "../.."), port, options));
  const child: ChildProcess = spawn(tool.command, ["-c", config, "-p", folder, "-e", join(folder, "nginx-lua.log")], {
    env: { ...process.env, ...tool.env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = performance.now() + startMsMax; ; await sleep(20)) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      break;
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`nginx does not start: ${readFileSync(join(folder, "nginx-lua.log"), "utf8").slice(-2_000)}`);
  }
  const nothing: ServiceProcess["logged"] = () => Promise.reject(new Error("nginx logs requests only"));
  return {
    url,
    process: {
      name: "nginx-lua",
      pid: child.pid ?? -1,
      logged: nothing,
      async stop() {
        child.kill("SIGTERM");
        await ended;
      },
    },
  };
}

function configOf(root: string, port: number, { folder, pod, key, headers }: NginxLuaOptions): string {
  const limited = /^(x-)?ratelimit|^x-quota/;
  const fixed = [...headers].filter(([name]) => !own.has(name) && name !== "x-request-id" && !limited.test(name));
  const counted = [...headers].filter(([name]) => limited.test(name));
  const text = (value: string) => JSON.stringify(value);
  return `
load_module ${root}/usr/lib/nginx/modules/ndk_http_module.so;
load_module ${root}/usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx-lua.pid;
events { worker_connections 2048; }
http {
  lua_package_path "${root}/usr/share/lua/5.1/?.lua;;";
  lua_shared_dict keys 1m;
  lua_shared_dict counts 1m;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  log_format line escape=json '{"time":"$time_iso8601","level":"info","client":"$remote_addr","method":"$request_method","path":"$uri","status":$status,"bytes":$body_bytes_sent,"duration":$request_time,"key_id":"$key_id","request_id":"$request_id","user_agent":"$http_user_agent"}';
  access_log ${folder}/nginx-access.log line buffer=64k flush=1s;
  upstream pod { server ${new URL(pod).host}; keepalive 256; keepalive_requests 100000000; }
  init_by_lua_block { ngx.shared.keys:set(${text(key)}, "made-key 1000000000 1000000000000") }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    keepalive_requests 100000000;
    server_tokens off;
    location / { return 404; }
    location /api/v1/ip/ {
      set $key_id "";
      access_by_lua_block {
        local given = ngx.var.http_authorization
        local secret = given and string.match(given, "^Bearer (.+)$")
        local entry = secret and ngx.shared.keys:get(secret)
        if not entry then return ngx.exit(401) end
        local id, rate, month = string.match(entry, "^(%S+) (%d+) (%d+)$")
        rate, month = tonumber(rate), tonumber(month)
        local now = ngx.now()
        local window = math.floor(now / 60)
        local used = ngx.shared.counts:incr("r" .. id .. window, 1, 0, 120)
        if used > rate then return ngx.exit(429) end
        local used_month = ngx.shared.counts:incr("m" .. id .. os.date("!%Y-%m", now), 1, 0)
        if used_month > month then return ngx.exit(429) end
        ngx.var.key_id = id
        ngx.ctx.rate_left, ngx.ctx.month_left, ngx.ctx.reset = rate - used, month - used_month, math.ceil((window + 1) * 60 - now)
      }
      header_filter_by_lua_block {
        local header, ctx = ngx.header, ngx.ctx
        header["x-request-id"] = ngx.var.request_id
${fixed.map(([name, value]) => `        header[${text(name)}] = ${text(value)}`).join("\n")}
${counted.map(([name]) => `        header[${text(name)}] = ${/month|quota/.test(name) ? "ctx.month_left" : "ctx.rate_left"} .. ";" .. ctx.reset`).join("\n")}
      }
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_pass http://pod;
    }
  }
}
`;
}
