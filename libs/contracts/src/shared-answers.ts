/** The JetStream stream in which replicas of rdns-resolver share DNS answers. It keeps the last message of each subject. */

export const sharedAnswersStream = "netfacts-reverse-dns";

/** Two tokens follow it: a digest of the settings that affect answers, and the name that was looked up. */
export const sharedAnswersSubject = "nf.reverse-dns";
