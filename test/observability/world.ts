/** What the watched system depends on beside its servers: files and a web server of sources, an RTR cache, nameservers, certificates. */

import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ScriptedCache, startScriptedCache } from "../../services/ingest/test/support/scripted-cache.ts";
import { type Behaviour, type DnsServer, nameOf, ptr, startDnsServer } from "../../services/rdns-resolver/test/support/dns-server.ts";
import { type Authority, makeAuthority } from "../support/certificates.ts";

const dayMs = 86_400_000;
/** Its certificates expire so late that no alert concerns them. */
const certificateDays = 90;

export interface World {
  /** The sources.yaml: `ripencc` (a file), `names` (of the web server), `rpki` (of the RTR cache). */
  readonly sources: string;
  readonly cache: ScriptedCache;
  /** Each sends a forged message before each answer. */
  readonly nameservers: readonly DnsServer[];
  readonly authority: Authority;
  /** A client's certificate for NATS, with its key. */
  readonly certificate: { readonly certificate: string; readonly key: string };
  /** From now on the client's certificate expires within a day. */
  letCertificateExpire(): void;
  /** Another version of the registry's file, as of so many days ago. */
  writeBlocks(count: number, daysAgo?: number): void;
  /** A file of the registry that cannot be read; each version another. */
  breakBlocks(version: number): void;
  /** While true, the sources.yaml has an error. */
  breakList(whether: boolean): void;
  /** Another version of the names. */
  nameVersion(version: number): void;
  /** While false, the web server answers 404. */
  serveNames(whether: boolean): void;
  /** Another set of VRPs, of which routers are notified. */
  changeVrps(count: number): void;
  stop(): Promise<void>;
}

const forgedFirst: Behaviour = ({ name }) => {
  const answers = [ptr(name, nameOf(name))];
  return [{ answers, idOffset: 1 }, { answers }];
};

const vrps = (count: number) => Array.from({ length: count }, (_, index) => `193.${index}.0.0/16-24 ${3333 + index}`);

/** @param folder  where its files go; whoever made it removes it. */
export async function makeWorld(folder: string): Promise<World> {
  const authority = makeAuthority(folder, "authority", certificateDays);
  const certificate = authority.issue("client", { days: certificateDays });
  const names = { version: 1, isServed: true };
  const web = createServer((_request, response) => {
    response.writeHead(names.isServed ? 200 : 404, { etag: `"${names.version}"`, "last-modified": new Date().toUTCString() });
    response.end(names.isServed ? namesText(names.version) : "");
  });
  await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
  const cache = await startScriptedCache(vrps(40));
  const nameservers = await Promise.all([startDnsServer(forgedFirst), startDnsServer(forgedFirst)]);
  const writeBlocks = (count: number, daysAgo = 0): void => writeFileSync(join(folder, "ripencc.txt"), blocksText(count, daysAgo));
  writeBlocks(200);
  const sources = join(folder, "sources.yaml");
  const list = `section_shrink_max: {allocations: 20%}
sources:
  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt, interval: 1s, stale_after: 10d, shrink_max: 100%, kind_shrink_max: 100%}
  - {name: names, section: as_names, format: autnums, location: "http://127.0.0.1:${(web.address() as AddressInfo).port}/names.txt", interval: 1s, allow_private: true, required: false, stale_after: never}
  - {name: rpki, section: vrps, format: rtr, location: "${cache.url}", shrink_max: 100%}
`;
  writeFileSync(sources, list);
  return {
    sources,
    cache,
    nameservers,
    authority,
    certificate,
    letCertificateExpire() {
      const expiring = authority.issue("expiring", { days: 1 });
      copyFileSync(expiring.certificate, certificate.certificate);
      copyFileSync(expiring.key, certificate.key);
    },
    writeBlocks,
    breakBlocks: (version) => writeFileSync(join(folder, "ripencc.txt"), `2|ripencc|garbage ${version}\n`),
    breakList: (whether) => writeFileSync(sources, whether ? list.replace("format: rtr", "formt: rtr") : list),
    nameVersion(version) {
      names.version = version;
    },
    serveNames(whether) {
      names.isServed = whether;
    },
    changeVrps: (count) => cache.set(vrps(count), true),
    async stop() {
      web.closeAllConnections();
      await new Promise((done) => web.close(done));
      await cache.stop();
      for (const nameserver of nameservers) await nameserver.stop();
    },
  };
}

/** An autnums list. Its length differs from version to version. */
function namesText(version: number): string {
  return Array.from({ length: 1_000 + version }, (_, index) => `AS${3_000 + index} NAME-${index} - Network ${index}, NL\n`).join("");
}

function blocksText(count: number, daysAgo: number): string {
  const date = new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10).replaceAll("-", "");
  const lines = Array.from({ length: count }, (_, index) => `ripencc|NL|ipv4|193.${index}.0.0|65536|19930901|assigned`);
  return [`2|ripencc|${date}|${count}|19930901|${date}|+0000`, `ripencc|*|ipv4|*|${count}|summary`, ...lines, ""].join("\n");
}
