/** Where replicas of rdns-resolver share what DNS answered: a stream of JetStream that keeps the last message of each subject. */

export const sharedAnswersStream = "netfacts-reverse-dns";

/** Behind it: the settings that shape an answer as a digest, and the name that was looked up. */
export const sharedAnswersSubject = "nf.reverse-dns";
