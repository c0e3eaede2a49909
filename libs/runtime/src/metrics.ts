/** Metrics behind our own interface: only this file imports prom-client. */

import * as prom from "prom-client";
import { Buckets, type Observer } from "./buckets.ts";

export type { Observer };

export type Labels<Name extends string> = Readonly<Record<Name, string | number>>;

export interface Counter<Name extends string = never> {
  inc(labels?: Labels<Name>, by?: number): void;
  /** The counter of these labels, for frequent events. Keep the result: each call takes memory for as long as the process runs. */
  of(labels: Labels<Name>): Count;
}

export interface Count {
  inc(by?: number): void;
}

export interface Gauge<Name extends string = never> {
  set(labels: Labels<Name>, value: number): void;
  inc(labels?: Labels<Name>, by?: number): void;
  dec(labels?: Labels<Name>, by?: number): void;
  /** Removes the series of these labels: what it measured no longer exists. */
  remove(labels: Labels<Name>): void;
}

export interface Histogram<Name extends string = never> {
  observe(labels: Labels<Name>, value: number): void;
  /** The observer of these labels, for frequent events: keep the result, so that the labels are looked up only once. */
  of(labels: Labels<Name>): Observer;
}

export interface MetricOptions<Name extends string> {
  /** In Prometheus form, unit last: `netfacts_lookup_duration_seconds`, `…_total` for counters. */
  readonly name: string;
  readonly help: string;
  /** In addition to `service`, which every metric has. */
  readonly labelNames?: readonly Name[];
}

export interface GaugeOptions<Name extends string> extends MetricOptions<Name> {
  /** Sets the value when metrics are read, for values that are cheaper to read than to keep up to date. */
  readonly collect?: (gauge: Gauge<Name>) => void;
}

export interface HistogramOptions<Name extends string> extends MetricOptions<Name> {
  /** Upper bounds, ascending. */
  readonly buckets?: readonly number[];
}

/** The metrics of one service. Creating a metric again with an equal definition returns the same one; with another definition it throws. */
export interface Metrics {
  counter<Name extends string = never>(options: MetricOptions<Name>): Counter<Name>;
  gauge<Name extends string = never>(options: GaugeOptions<Name>): Gauge<Name>;
  histogram<Name extends string = never>(options: HistogramOptions<Name>): Histogram<Name>;
  readonly registry: MetricsRegistry;
}

/** All metrics of a process. */
export interface MetricsRegistry {
  readonly contentType: string;
  /** The Prometheus text of all metrics. */
  text(): Promise<string>;
}

type Kind = "counter" | "gauge" | "histogram";
type AnyMetric = prom.Counter | prom.Gauge | Buckets;

/** The defaults of the library. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

class PromRegistry implements MetricsRegistry {
  readonly contentType = prom.Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new prom.Registry();
  readonly #definitions = new Map<string, { definition: string; metric: AnyMetric }>();
  readonly #collectors: (() => void)[] = [];

  text(): Promise<string> {
    for (const collect of this.#collectors) collect();
    return this.#registry.metrics();
  }

  /** Adds memory, processor, event loop and garbage collection of this process. */
  measureProcess(): this {
    prom.collectDefaultMetrics({ register: this.#registry });
    return this;
  }

  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** Counts locally, and passes on the increase when metrics are read. */
  count(handOver: (by: number) => void): Count {
    let since = 0;
    this.onCollect(() => {
      if (since > 0) handOver(since);
      since = 0;
    });
    return {
      inc(by = 1) {
        since += by;
      },
    };
  }

  metric<Metric extends AnyMetric>(kind: Kind, options: HistogramOptions<string>, make: (config: PromConfig) => Metric): Metric {
    const labelNames = ["service", ...(options.labelNames ?? [])];
    const definition = JSON.stringify([kind, options.help, labelNames, options.buckets ?? null]);
    const known = this.#definitions.get(options.name);
    if (known !== undefined) {
      if (known.definition !== definition) throw new Error(`metric ${options.name} is already defined differently`);
      return known.metric as Metric;
    }
    const metric = make({ name: options.name, help: options.help, labelNames, registers: [] });
    // It accepts any object that gives its name and values.
    this.#registry.registerMetric(metric as prom.Metric);
    this.#definitions.set(options.name, { definition, metric });
    return metric;
  }
}

type PromConfig = { name: string; help: string; labelNames: string[]; registers: prom.Registry[] };

/** A separate registry, without the metrics of the process: for tests. */
export function createRegistry(): MetricsRegistry {
  return new PromRegistry();
}

let processRegistry: PromRegistry | null = null;

function registryOfProcess(): PromRegistry {
  processRegistry ??= new PromRegistry().measureProcess();
  return processRegistry;
}

/** The metrics of `service`, by default in the registry of this process. */
export function createMetrics(service: string, registry: MetricsRegistry = registryOfProcess()): Metrics {
  if (!(registry instanceof PromRegistry)) throw new TypeError("the registry must be created by createRegistry()");
  return {
    registry,
    counter<Name extends string>(options: MetricOptions<Name>): Counter<Name> {
      const counter = registry.metric("counter", options, (config) => new prom.Counter(config));
      const inc: Counter<Name>["inc"] = (labels, by = 1) => counter.inc({ ...labels, service }, by);
      return { inc, of: (labels) => registry.count((by) => inc(labels, by)) };
    },
    gauge<Name extends string>({ collect, ...options }: GaugeOptions<Name>): Gauge<Name> {
      const inner = registry.metric("gauge", options, (config) => new prom.Gauge(config));
      const gauge: Gauge<Name> = {
        set: (labels, value) => inner.set({ ...labels, service }, value),
        inc: (labels, by = 1) => inner.inc({ ...labels, service }, by),
        dec: (labels, by = 1) => inner.dec({ ...labels, service }, by),
        remove: (labels) => inner.remove({ ...labels, service }),
      };
      if (collect !== undefined) registry.onCollect(() => collect(gauge));
      return gauge;
    },
    histogram<Name extends string>(options: HistogramOptions<Name>): Histogram<Name> {
      const buckets = options.buckets ?? defaultBuckets;
      const histogram = registry.metric("histogram", options, (config) => new Buckets({ ...config, buckets }));
      const of = (labels: Labels<Name>): Observer => histogram.of({ ...labels, service });
      return { of, observe: (labels, value) => of(labels).observe(value) };
    },
  };
}
