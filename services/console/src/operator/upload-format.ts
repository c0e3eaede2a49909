/** Formats of uploads: their content types, and the format by the name of a file. */

export const formats: Readonly<Record<string, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  geofeed: "application/geofeed+csv",
};

export function formatOf(fileName: string): string {
  const name = fileName.toLowerCase();
  if (name.includes("geofeed")) return "geofeed";
  return name.endsWith(".csv") ? "csv" : "ndjson";
}
