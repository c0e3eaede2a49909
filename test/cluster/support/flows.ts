/** The connections that pods open, as the node's connection tracking sees them: their real ends, behind Services. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Flow {
  readonly protocol: "TCP" | "UDP";
  /** Addresses, of pods or of others. */
  readonly from: string;
  readonly to: string;
  /** Where it arrives. */
  readonly port: number;
}

export interface FlowRecording {
  /** Each flow once. */
  stop(): Promise<Flow[]>;
}

/** Records every connection that is opened from now on. @param kubeconfig  of a cluster of the cluster tool, whose node is on this machine. */
export async function recordFlows(kubeconfig: string): Promise<FlowRecording> {
  const node = (await readFile(join(dirname(kubeconfig), "node/pid"), "utf8")).trim();
  const child = spawn("nsenter", ["-t", node, "-n", "conntrack", "-E", "-e", "NEW"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return {
    async stop() {
      child.kill("SIGTERM");
      await ended;
      const flows = text.split("\n").flatMap((line) => flowOf(line) ?? []);
      return [...new Map(flows.map((flow) => [JSON.stringify(flow), flow])).values()];
    },
  };
}

/** `[NEW] tcp 6 120 SYN_SENT src=A dst=SERVICE sport=1 dport=2 [UNREPLIED] src=B dst=A sport=3 dport=1`: from A to port 3 of B. */
function flowOf(line: string): Flow | null {
  const [, protocol, from] = /\b(tcp|udp)\s.*?src=(\S+)/.exec(line) ?? [];
  const [, to, port] = /\[UNREPLIED\] src=(\S+) dst=\S+ sport=(\d+)/.exec(line) ?? [];
  if (from === undefined || to === undefined) return null;
  return { protocol: protocol === "tcp" ? "TCP" : "UDP", from, to, port: Number(port) };
}
