"""Both endpoints of an nginx, and an account that sends to them."""

# Both endpoints with nothing special. The rate limit is out of the way; other tests are about it.
CONFIG = """
    sluice_store @STORE@ map_size=1g thread_pool=sluice offload_pool=offload;
    sluice_rate_limit 100000000 60s;

    server {
        listen 127.0.0.1:@PORT@ reuseport;
        add_header X-Worker $pid always;
        add_header X-Seq $sluice_seq always;
        add_header X-Receipt $sluice_receipt always;
        add_header X-Result $sluice_result always;

        location = /event/ecomm {
            client_max_body_size 1m;
            sluice_ingest events;
        }
        location = /product-data {
            client_max_body_size 128m;
            sluice_ingest catalog;
        }
        location = /spooled/event/ecomm {
            client_max_body_size 1m;
            client_body_buffer_size 1k;
            sluice_ingest events;
        }
        location = /spooled/product-data {
            client_max_body_size 128m;
            client_body_buffer_size 1k;
            sluice_ingest catalog;
        }
        location = /lc/event/ecomm {
            sluice_header_prefix X-LC-;
            sluice_ingest events;
        }
        location = /lc/product-data {
            sluice_header_prefix X-LC-;
            sluice_ingest catalog;
        }
        location = /which { return 204; }
    }
"""


class Merchant:
    """An account with one shop and one token of each scope."""

    def __init__(self, edge, account):
        self.edge = edge
        self.account = edge.sluice.account(account)
        self.shop = edge.sluice.shop(f"{account}-shop", account)
        self.token_id, self.secret = edge.sluice.token(account, "write_orders", "write_products")

    def event(self, topic, document, **options):
        return self.edge.post_event(self.shop, self.secret, topic, document, **options)

    def catalog(self, topic, document, key, **options):
        return self.edge.post_catalog(self.shop, self.secret, topic, document, key, **options)
