/** The configuration of every container image. The Dockerfile has the same, and a test compares the two. */

/** The user `nonroot` of common base images. */
export const uid = 65_532;

/** Folders of the image. */
export const folders = {
  app: "/app",
  /** Node's compile cache. */
  compiled: "/app/compiled",
  /** Volume for the state of ingest and of the one-process form. */
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

/** Labels of the image, with the names of the OCI. */
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
