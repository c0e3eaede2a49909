/** What every container image says of itself. The Dockerfile says the same, and a test compares the two. */

/** The user `nonroot` of common base images. */
export const uid = 65_532;

/** From the root of the image. */
export const folders = {
  app: "/app",
  /** Node's compile cache. */
  compiled: "/app/compiled",
  /** What a program writes: state of ingest and of the one-process form. A volume. */
  data: "/data",
  node: "/usr/local/bin/node",
} as const;

export const environment: Readonly<Record<string, string>> = {
  NODE_ENV: "production",
  NODE_OPTIONS: "--max-old-space-size-percentage=50",
  NODE_COMPILE_CACHE: folders.compiled,
  NODE_COMPILE_CACHE_PORTABLE: "1",
  NETFACTS_HOME: folders.data,
  INGEST_STATE_DIR: `${folders.data}/ingest`,
};

export const entrypoint = [folders.node, `${folders.app}/netfacts.js`];

/** Of the image, as the OCI names them. */
export function labels(version: string, revision: string): Readonly<Record<string, string>> {
  const of = "org.opencontainers.image";
  return {
    [`${of}.title`]: "netfacts",
    [`${of}.description`]: "IP, routing and ASN intelligence API that you run yourself",
    [`${of}.licenses`]: "Apache-2.0",
    [`${of}.version`]: version,
    [`${of}.revision`]: revision,
  };
}
