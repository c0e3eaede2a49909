/** Whether this process records spans: code whose tracing costs time checks this first. */

let tracing = false;

export function isTracing(): boolean {
  return tracing;
}

/** Called once, by `startTelemetry`. */
export function setTracing(on: boolean): void {
  tracing = on;
}
