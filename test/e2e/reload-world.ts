/** Pods and ingest around a nats-server of their own, each with its connections as in a process of its own. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Messaging } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { PodReporter } from "@netfacts/pod";
import { connectJetStreamStore, jetStreamSource } from "@netfacts/pod/jetstream";
import { LoaderThreads, type OpenedStore, SnapshotFollower, type SnapshotStore } from "@netfacts/snapshot";
import { publishNumber } from "../../libs/snapshot/test/store/contract.ts";
import { ActivationCoordinator, type activationDefaults } from "../../services/ingest/src/publish/activation-coordinator.ts";
import { type NatsServer, startNatsServer } from "../support/nats-server.ts";

/** A pod that hears no hint: neither ingest's messages nor what is written to the pointer. */
export const deaf = "deaf";
const config = `authorization { users = [
  { user: pod, password: pod },
  { user: ${deaf}, password: pod, permissions: { subscribe: { deny: ["dataset.>", "$KV.>"] } } }
] }`;

export interface ReloadPod {
  readonly follower: SnapshotFollower;
  readonly refused: string[];
  /** What its answers would say. */
  name(): string | null;
}

export interface ReloadIngest {
  readonly store: SnapshotStore;
  readonly coordinator: ActivationCoordinator;
  /** Publishes a numbered snapshot and lets it be served. */
  release(number: number): ReturnType<ActivationCoordinator["activate"]>;
}

export class ReloadWorld {
  server: NatsServer;
  readonly #storeDir: string;
  readonly #undo: (() => Promise<void> | void)[] = [];

  private constructor(server: NatsServer, storeDir: string) {
    this.server = server;
    this.#storeDir = storeDir;
  }

  static async start(): Promise<ReloadWorld> {
    const storeDir = mkdtempSync(join(tmpdir(), "netfacts-reload-"));
    return new ReloadWorld(await startNatsServer({ jetstream: true, storeDir, config }), storeDir);
  }

  /** Starts the server on its port and files, after `server.kill()`. */
  async restartServer(): Promise<void> {
    this.server = await startNatsServer({ jetstream: true, storeDir: this.#storeDir, config, port: this.server.port });
  }

  /** Does it before the server stops. */
  onStop(step: () => Promise<void> | void): void {
    this.#undo.push(step);
  }

  async stop(): Promise<void> {
    for (const step of this.#undo.reverse()) await step();
    await this.server.stop();
    rmSync(this.#storeDir, { recursive: true, force: true });
  }

  /** @param objects  the bucket that its loader reads from, where that is another one. */
  async startPod(pod: string, { user, objects }: { user?: string; objects?: string } = {}): Promise<ReloadPod> {
    const store = await this.#openStore(pod, user);
    const refused: string[] = [];
    const source = jetStreamSource({ connection: this.#connection(`${pod}-loader`, user), ...(objects && { bucket: objects }) });
    const follower = new SnapshotFollower(store, new LoaderThreads(source), { refused: (id) => refused.push(id) });
    const reporter = new PodReporter({ follower, broadcast: await this.#openMessaging(pod, user), pod, service: "ip-routing" });
    this.#undo.push(
      () => follower.stop(),
      () => reporter.stop(),
    );
    await follower.start();
    reporter.start();
    return { follower, refused, name: () => follower.current()?.names?.lookupName(1) ?? null };
  }

  async startIngest(settings: Partial<Record<keyof typeof activationDefaults, number>> = {}): Promise<ReloadIngest> {
    const store = await this.#openStore("ingest");
    const coordinator = new ActivationCoordinator({ broadcast: await this.#openMessaging("ingest"), store, settings });
    coordinator.start();
    this.#undo.push(() => coordinator.stop());
    return { store, coordinator, release: async (number) => coordinator.activate((await publishNumber(store, number)).id) };
  }

  #connection(name: string, user = "pod") {
    return { servers: this.server.url, name, access: { NATS_USER: user, NATS_PASSWORD: "pod" } };
  }

  async #openStore(name: string, user?: string): Promise<SnapshotStore> {
    const opened: OpenedStore = await connectJetStreamStore({ connection: this.#connection(name, user) });
    this.#undo.push(() => opened.close());
    return opened.store;
  }

  async #openMessaging(name: string, user?: string): Promise<Messaging> {
    const messaging = await createNatsMessaging(this.#connection(name, user));
    this.#undo.push(() => messaging.close());
    return messaging;
  }
}
