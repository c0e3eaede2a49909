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

/**
 * One source's statement about one field; value null: the source says that there is none. Several network types are one text, separated by spaces.
 */
export interface Statement {
  readonly field: ProfileField;
  readonly source: string;
  readonly value: string | null;
}

/**
 * The text of a row. The order counts: the later of two statements about a field applies.
 *
 * Equal statements give equal texts, so that rows can be compared by their text.
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
