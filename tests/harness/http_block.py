"""The usual block for nginx's http: one store, one server, and the locations that a test names."""

EVENTS = "location = /event/ecomm { sluice_ingest events; }"
CLICKS = "location = /event/click { sluice_ingest clicks; client_max_body_size 1m; }"
CATALOG = "location = /product-data { sluice_ingest catalog; }"
LARGE_CATALOG = "location = /product-data { sluice_ingest catalog; client_max_body_size 128m; }"
STATUS = "location /sluice/ { sluice_status; }"


def http_block(*locations, limit=None, map_size="1g"):
    """`limit`: as sluice_rate_limit has it; None: nginx's default."""
    lines = [f"sluice_store @STORE@ map_size={map_size} thread_pool=sluice offload_pool=offload;"]
    if limit:
        lines.append(f"sluice_rate_limit {limit};")
    lines += ["server {", "listen 127.0.0.1:@PORT@;", *locations, "}"]
    return "\n".join(lines) + "\n"
