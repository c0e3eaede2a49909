/** The routes of the operator API that pages call. */

/** Method and path by the id of the route’s description; a test compares them. */
export const operatorCalls = {
  listKeys: ["GET", "/admin/v1/keys"],
  createKey: ["POST", "/admin/v1/keys"],
  getKey: ["GET", "/admin/v1/keys/{id}"],
  updateKey: ["PATCH", "/admin/v1/keys/{id}"],
  rotateKey: ["POST", "/admin/v1/keys/{id}/rotate"],
  disableKey: ["POST", "/admin/v1/keys/{id}/disable"],
  enableKey: ["POST", "/admin/v1/keys/{id}/enable"],
  revokeKey: ["POST", "/admin/v1/keys/{id}/revoke"],
  listPlans: ["GET", "/admin/v1/plans"],
  putPlan: ["PUT", "/admin/v1/plans/{id}"],
  deletePlan: ["DELETE", "/admin/v1/plans/{id}"],
  listAudit: ["GET", "/admin/v1/audit"],
  listUsage: ["GET", "/admin/v1/usage"],
  listRuns: ["GET", "/admin/v1/ingest/runs"],
  startRun: ["POST", "/admin/v1/ingest/runs"],
  getRun: ["GET", "/admin/v1/ingest/runs/{id}"],
  listSnapshots: ["GET", "/admin/v1/ingest/snapshots"],
  compareSnapshots: ["GET", "/admin/v1/ingest/snapshots/changes"],
  rollBack: ["POST", "/admin/v1/ingest/rollbacks"],
  listSources: ["GET", "/admin/v1/ingest/sources"],
  uploadObservations: ["POST", "/admin/v1/ingest/observations"],
  listUploads: ["GET", "/admin/v1/ingest/observations/uploads"],
  getUpload: ["GET", "/admin/v1/ingest/observations/uploads/{id}"],
} as const;
