/** The statements of a row: fields of an AS with their values and sources. */

/** Fields of a merged profile, in the order in which they are shown. */
export const profileFields = [
  "name",
  "organisation",
  "organisation_country",
  "website",
  "network_types",
  "registry",
  "registration_country",
  "status",
  "allocated_on",
] as const;
export type ProfileField = (typeof profileFields)[number];

/** What one source says of one field; null: that there is none. Network types are one text, separated by blanks. */
export interface Statement {
  readonly field: ProfileField;
  readonly source: string;
  readonly value: string | null;
}

/**
 * As a row has them. The order counts: of two statements of a field the later one holds.
 *
 * The text is the same whenever the statements are, so that rows are compared by it.
 */
export function statementsText(statements: readonly Statement[]): string {
  return JSON.stringify(statements.map(({ field, source, value }) => [profileFields.indexOf(field), source, value]));
}

/** @returns only the statements that this version knows. */
export function readStatements(text: string): Statement[] {
  return (JSON.parse(text) as [number, string, string | null][]).flatMap(([index, source, value]) => {
    const field = profileFields[index];
    return field === undefined ? [] : [{ field, source, value }];
  });
}
