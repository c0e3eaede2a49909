/** Reads the heap and the buffers of a process after a garbage collection, over its inspector, which `nodeOptions` in its environment opens. */

import { once } from "node:events";

export const nodeOptions = "--inspect=127.0.0.1:0";

export interface LiveHeap {
  /** Collects garbage, and returns the bytes in use. Without this, they would depend on the time of the engine's last collection. */
  read(): Promise<{ readonly "live heap": number; readonly "live buffers": number }>;
  close(): void;
}

/** @param printed  output of the process, with the address of its inspector. Rejects if it has none, or if the inspector cannot be reached. */
export async function openLiveHeap(printed: string): Promise<LiveHeap> {
  const url = /Debugger listening on (ws:\S+)/.exec(printed)?.[1];
  if (url === undefined) throw new Error(`the process has no inspector: ${printed.slice(0, 200)}`);
  const socket = new WebSocket(url);
  const waiting = new Map<number, { resolve(result: object): void; reject(error: Error): void }>();
  let sent = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: object; error?: { message: string } };
    if (id === undefined) return;
    if (result === undefined) waiting.get(id)?.reject(new Error(error?.message));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  socket.addEventListener("close", () => {
    for (const { reject } of waiting.values()) reject(new Error(`the inspector at ${url} went away`));
    waiting.clear();
  });
  await Promise.race([once(socket, "open"), once(socket, "error").then(() => Promise.reject(new Error(`no inspector answers at ${url}`)))]);
  const call = (method: string) =>
    new Promise<object>((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return reject(new Error(`the inspector at ${url} went away`));
      sent += 1;
      waiting.set(sent, { resolve, reject });
      socket.send(JSON.stringify({ id: sent, method }));
    });
  return {
    async read() {
      await call("HeapProfiler.collectGarbage");
      const { usedSize, backingStorageSize } = (await call("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize: number };
      return { "live heap": usedSize, "live buffers": backingStorageSize };
    },
    close: () => socket.close(),
  };
}
