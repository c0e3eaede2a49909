/** A key repository in memory that counts its reads, and can fail or hang: what the keyring is tried against. */

import {
  createKey,
  type KeyHash,
  type KeyRecord,
  type KeyRepository,
  type NewKey,
  type PlanRecord,
  type PlanRepository,
} from "@netfacts/keys";
import { StoreError } from "@netfacts/storage";

export class FakeKeys implements Pick<KeyRepository, "find" | "rehash"> {
  readonly records = new Map<string, KeyRecord>();
  readonly plans = new Map<string, PlanRecord>();
  reads = 0;
  planReads = 0;
  readonly rehashed: string[] = [];
  away = false;
  /** Id or name of a key or plan that is not valid. */
  invalid: string | null = null;
  readonly listeners = new Set<() => void>();
  #gate: Promise<void> = Promise.resolve();

  /** As the keyring takes it. */
  get store() {
    return {
      keys: this as unknown as KeyRepository,
      plans: { find: (name: string) => this.findPlan(name) } as unknown as PlanRepository,
      onChange: (listener: () => void) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
    };
  }

  async create(spec: Partial<NewKey> = {}): Promise<{ id: string; secret: string }> {
    const insert = async (key: KeyRecord): Promise<"inserted"> => {
      this.records.set(key.id, key);
      return "inserted";
    };
    const store = { keys: { insert } as unknown as KeyRepository };
    const { key, secret } = await createKey(store, { label: "siem-prod", scopes: ["ip"], ...spec });
    return { id: key.id, secret };
  }

  change(id: string, change: Partial<KeyRecord>): void {
    const before = this.records.get(id);
    if (before !== undefined) this.records.set(id, { ...before, ...change, version: before.version + 1 });
  }

  async rehash(id: string, hash: string, to: KeyHash): Promise<boolean> {
    const record = this.records.get(id);
    if (record?.hash !== hash) return false;
    this.records.set(id, { ...record, ...to });
    this.rehashed.push(id);
    return true;
  }

  async findPlan(name: string): Promise<PlanRecord | null> {
    if (name !== "default") this.planReads += 1;
    if (this.away) throw new StoreError("unavailable", "fake", "is away");
    if (this.invalid === name) throw new StoreError("invalid", "fake", "is not valid");
    return this.plans.get(name) ?? null;
  }

  /** Reads that begin from now on see the present state, and answer only after the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return () => {
      this.#gate = Promise.resolve();
      resolve();
    };
  }

  async find(id: string): Promise<KeyRecord | null> {
    this.reads += 1;
    const seen = this.records.get(id) ?? null;
    const { away } = this;
    await this.#gate;
    if (away) throw new StoreError("unavailable", "fake", "is away");
    if (this.invalid === id) throw new StoreError("invalid", "fake", "is not valid");
    return seen;
  }
}
