/** Variable with the path of the folder that all files of a run of Jest share. It is removed after the run. */
export const runFolderVariable = "NETFACTS_TEST_RUN";
