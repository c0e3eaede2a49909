/** Formats of uploads: their content types, and which of them a file's name says. */

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
