/** The client's own connection, with whatever settings a test needs. */

export { connect } from "nats";
