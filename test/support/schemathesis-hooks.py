"""Rules that an OpenAPI document cannot express for schemathesis: prefixes without host bits, lines of JSON, and cursors that come from answers."""

import datetime
import ipaddress
import json
import os
import urllib.parse

import schemathesis
from hypothesis import strategies as st


def _network(address, length):
    return str(ipaddress.ip_network((address.packed, length % (address.max_prefixlen + 1)), strict=False))


schemathesis.openapi.format("ip-address", st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str))
schemathesis.openapi.format(
    "ip-prefix",
    st.builds(_network, st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), st.integers(min_value=0, max_value=128)),
)


_LINES = "application/x-ndjson"
_BATCH = "/api/v1/batch"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """OpenAPI 3.1 can only describe a line. A body is a list of lines."""
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for part in [operation.get("requestBody", {}), *operation["responses"].values()]:
                lines = part.get("content", {}).get(_LINES)
                if lines is not None:
                    lines["schema"] = {"type": "array", "items": lines["schema"]}


@schemathesis.deserializer(_LINES)
def from_lines(context, response):
    text = response.content.decode()
    if text and not text.endswith("\n"):
        raise ValueError("the last line has no end")
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    if context.operation.path == _BATCH:
        _check_batch(lines)
    return lines


def _check_batch(lines):
    """Checks what the schema of a line cannot say: results are numbered, and the last line is their summary."""
    if not lines or "index" in lines[-1]:
        raise ValueError("the last line is no summary")
    *results, summary = lines
    if [result.get("index") for result in results] != list(range(summary["count"])):
        raise ValueError("the results are not numbered, or not as many as the summary says")
    if sum("problem" in result for result in results) != summary["failed_count"]:
        raise ValueError("not as many results are problems as the summary says")


@schemathesis.serializer(_LINES)
def to_lines(context, value):
    return b"".join(json.dumps(item).encode() + b"\n" for item in (value if isinstance(value, list) else [value]))


@schemathesis.serializer("text/csv", "application/geofeed+csv")
def to_csv(context, value):
    return str(value).encode()


def _is_positive(case):
    generation = case.meta.generation if case.meta is not None else None
    return generation is None or generation.mode.value == "positive"


def _mend_prefix(path):
    try:
        # Some phases have already quoted it.
        network = _network(ipaddress.ip_address(urllib.parse.unquote(path["network"])), int(path["length"]))
    except (KeyError, TypeError, ValueError):
        return
    path["network"], length = network.split("/")
    path["length"] = int(length)


def _name_what_has_lines(path):
    """Names a resource that has lines: the list of a random one is empty, so its lines would not be checked."""
    if "asn" in path:
        path["asn"] = "AS3741"
    if "network" in path:
        path.update({"network": "196.0.0.0", "length": 8})


def _mend_span(query):
    """Selects a range of days, or a month, but not both."""
    try:
        first, last = sorted([query["from"], query["to"]], key=datetime.date.fromisoformat)
        query.update({"from": first, "to": last})
        query.pop("month", None)
    except (KeyError, TypeError, ValueError):
        query.pop("from", None)
        query.pop("to", None)


def _mend_rows(query):
    """Groups rows by day or by month, but not by both."""
    if isinstance(query.get("by"), str):
        by = list(dict.fromkeys(query["by"].split(",")))
        query["by"] = ",".join(name for name in by if name != "month" or "day" not in by)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Corrects requests that are valid by the document but would be refused for reasons that a schema cannot express."""
    path = case.path_parameters or {}
    # Use another key instead of the own one: revoking the own key would end the run.
    own = os.environ.get("OWN_KEY_ID")
    if own is not None and path.get("id") == own:
        path["id"] = os.environ["OTHER_KEY_ID"]
    # Use another plan instead of the default one: deleting the default plan only restores its first limits.
    if case.method == "DELETE" and path.get("name") == "default":
        path["name"] = "partner"
    if not _is_positive(case):
        return
    if "{network}" in case.operation.path:
        _mend_prefix(path)
    query = case.query or {}
    # Cursors come only from answers.
    query.pop("cursor", None)
    # The data were published a moment ago and have no past, and a pattern cannot say which dates exist.
    if "as_of" in query:
        query["as_of"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if query.get("format", "json") != "json":
        query.pop("fields", None)
        query.pop("meta", None)
        _name_what_has_lines(path)
    # With `section`, `from` and `to` are snapshots instead of dates.
    if "section" not in query:
        _mend_span(query)
    _mend_rows(query)
