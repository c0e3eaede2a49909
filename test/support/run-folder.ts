/** Names the folder of what the files of one run of Jest share; it is removed when all have ended. */
export const runFolderVariable = "NETFACTS_TEST_RUN";
