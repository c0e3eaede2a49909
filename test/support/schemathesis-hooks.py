"""What schemathesis cannot read in an OpenAPI document: prefixes without host bits, lines of JSON, and cursors, which nobody makes up."""

import datetime
import ipaddress
import json
import os
import urllib.parse

import schemathesis
from hypothesis import strategies as st


def _network(address, length):
    return str(ipaddress.ip_network((address.packed, length % (address.max_prefixlen + 1)), strict=False))


schemathesis.openapi.format(
    "ip-prefix",
    st.builds(_network, st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), st.integers(min_value=0, max_value=128)),
)


_LINES = "application/x-ndjson"
_BATCH = "/api/v1/batch"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """OpenAPI 3.1 can only say what a line is; a body is a list of these."""
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
    """What no schema of a line says: results are numbered, and the last line sums them up."""
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
        # Some phases have quoted it already.
        network = _network(ipaddress.ip_address(urllib.parse.unquote(path["network"])), int(path["length"]))
    except (KeyError, TypeError, ValueError):
        return
    path["network"], length = network.split("/")
    path["length"] = int(length)


def _name_what_has_lines(path):
    """The list of a resource that somebody made up is empty, and shows nothing of its lines."""
    if "asn" in path:
        path["asn"] = "AS3741"
    if "network" in path:
        path.update({"network": "196.0.0.0", "length": 8})


def _mend_span(query):
    """Days from one to another, or a month; not both."""
    try:
        first, last = sorted([query["from"], query["to"]], key=datetime.date.fromisoformat)
        query.update({"from": first, "to": last})
        query.pop("month", None)
    except (KeyError, TypeError, ValueError):
        query.pop("from", None)
        query.pop("to", None)


def _mend_rows(query):
    """Rows are kept apart by day or by month, not by both."""
    if isinstance(query.get("by"), str):
        by = list(dict.fromkeys(query["by"].split(",")))
        query["by"] = ",".join(name for name in by if name != "month" or "day" not in by)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Mends what fits the document and would be refused all the same, as no schema can say why."""
    path = case.path_parameters or {}
    # Operators who revoke their own key end the run: there is another one to revoke.
    own = os.environ.get("OWN_KEY_ID")
    if own is not None and path.get("id") == own:
        path["id"] = os.environ["OTHER_KEY_ID"]
    # To delete the default plan is to have its first limits again: it is not gone.
    if case.method == "DELETE" and path.get("name") == "default":
        path["name"] = "partner"
    if not _is_positive(case):
        return
    if "{network}" in case.operation.path:
        _mend_prefix(path)
    query = case.query or {}
    # Nobody makes up a cursor.
    query.pop("cursor", None)
    # What was published a moment ago has no other past, and a pattern cannot say which days there are.
    if "as_of" in query:
        query["as_of"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if query.get("format", "json") != "json":
        query.pop("fields", None)
        query.pop("meta", None)
        _name_what_has_lines(path)
    # Of two snapshots, too, one is called so.
    if "section" not in query:
        _mend_span(query)
    _mend_rows(query)
