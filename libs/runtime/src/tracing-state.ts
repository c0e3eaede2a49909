/** Whether this process records spans: what costs time asks this first. */

let tracing = false;

export function isTracing(): boolean {
  return tracing;
}

/** Called once, by `startTelemetry`. */
export function setTracing(on: boolean): void {
  tracing = on;
}
