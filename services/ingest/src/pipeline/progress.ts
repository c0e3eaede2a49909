/** Progress of a run as events; who shows them is somebody else's matter. */

/** A stage with how much of it is done; `total` null = not known. */
export interface ProgressEvent {
  /** `read rrc00`, `build routes`, `verify`, `publish`. */
  readonly label: string;
  /** Bytes of the stored file read so far, or steps done. */
  readonly done: number;
  readonly total: number | null;
  readonly unit: "bytes" | "steps";
}

export type ProgressListener = (event: ProgressEvent) => void;
