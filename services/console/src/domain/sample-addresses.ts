/** The addresses that the first page names while the sample dataset is in service. */

/** A member of `texts.home.whys`: why the address is worth a look. */
export type SampleWhy = "located" | "contested" | "inside";

/** Together they show what an address page can: an end-to-end test looks each of them up in the samples. */
export const sampleAddresses: readonly { readonly ip: string; readonly why: SampleWhy }[] = [
  { ip: "193.0.6.139", why: "located" },
  { ip: "41.77.76.1", why: "contested" },
  { ip: "2001:4308::1", why: "inside" },
];
