"""The catalog as the ledger keeps it: merged records, and the product of an order line."""

import copy


class Catalog:
    """One shop's products: (product id, language or "", country or "") -> merged record."""

    def __init__(self):
        self.records = {}

    @staticmethod
    def _copy_of(record):
        return record.get("language") or "", record.get("country") or ""

    def apply(self, topic, products):
        for record in products:
            if topic == "PRODUCT_UPSERT":
                self._upsert(record)
            else:
                self._delete(record)

    def _upsert(self, record):
        product_id = record["platform_product_id"]
        stored = self.records.setdefault((product_id, *self._copy_of(record)), {})
        if "parent_id" not in record and "parent_id" not in stored:
            stored["parent_id"] = product_id
        stored.update(copy.deepcopy(record))

    def _delete(self, record):
        product_id = record["platform_product_id"]
        which = self._copy_of(record)
        if which == ("", ""):
            for key in [key for key in self.records if key[0] == product_id]:
                del self.records[key]
        else:
            self.records.pop((product_id, *which), None)

    def product_of(self, line):
        """The record that commissions look at, or None."""
        for wanted in (line.get("variant_sku"), line["sku"]):
            if wanted is None:
                continue
            found = [
                (key[1:], key[0])
                for key, record in self.records.items()
                if any(v["variant_sku"] == wanted for v in record.get("variants") or [])
            ]
            if found:
                which, product_id = min(found)
                return self.records[(product_id, *which)]
        copies = [key for key in self.records if key[0] == line["sku"]]
        return self.records[min(copies, key=lambda key: key[1:])] if copies else None
