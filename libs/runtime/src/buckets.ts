/**
 * A histogram that looks up the labels of frequent observations only once: the library's look-up for each observation takes longer than the rest of a
 * metric.
 */

/** The counts of one set of labels. */
export interface Observer {
  observe(value: number): void;
}

export interface BucketsOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending; the unbounded bucket is added. */
  readonly buckets: readonly number[];
}

type Labels = Readonly<Record<string, string | number>>;

/** The values that prom-client writes as one line. */
interface Value {
  readonly metricName: string;
  readonly labels: Labels;
  readonly value: number;
}

/** Has the interface that a registry of prom-client needs (`registerMetric`). */
export class Buckets {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor({ name, help, buckets }: BucketsOptions) {
    this.name = name;
    this.#help = help;
    this.#bounds = buckets;
  }

  /** The counts of these labels. Keep the result for frequent use. */
  of(labels: Labels): Observer {
    const key = JSON.stringify(Object.entries(labels).sort());
    let series = this.#series.get(key);
    if (series === undefined) {
      series = new Series(labels, this.#bounds);
      this.#series.set(key, series);
    }
    return series;
  }

  async get(): Promise<{ name: string; help: string; type: "histogram"; values: Value[] }> {
    const values = [...this.#series.values()].flatMap((series) => series.values(this.name));
    return { name: this.name, help: this.#help, type: "histogram", values };
  }
}

class Series implements Observer {
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** Counts by bucket; the last one has no bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  values(name: string): Value[] {
    const labels = this.#labels;
    let below = 0;
    const buckets = this.#counts.map((count, at) => {
      below += count;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...labels }, value: below };
    });
    return [...buckets, { metricName: `${name}_sum`, labels, value: this.#sum }, { metricName: `${name}_count`, labels, value: below }];
  }
}
