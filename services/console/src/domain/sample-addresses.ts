/** The addresses that the first page shows while the sample dataset is in service. */

/** A member of `texts.home.whys`: the reason to look at the address. */
export type SampleWhy = "located" | "contested" | "inside";

/** Together they show all parts of an address page. An end-to-end test looks each of them up in the samples. */
export const sampleAddresses: readonly { readonly ip: string; readonly why: SampleWhy }[] = [
  { ip: "193.0.6.139", why: "located" },
  { ip: "41.77.76.1", why: "contested" },
  { ip: "2001:4308::1", why: "inside" },
];
