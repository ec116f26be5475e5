"""The record rules of the catalog endpoint, independent of the service's own table."""

import json
import pathlib

from model.strict_json import Members

REQUIRED, INVALID = "REQUIRED", "INVALID_FORMAT"


def _codes(name, key):
    path = pathlib.Path("/usr/share/iso-codes/json") / f"iso_{name}.json"
    return {entry[key] for entry in json.loads(path.read_text())[name] if key in entry}


LANGUAGES = _codes("639-2", "alpha_2")
COUNTRIES = _codes("3166-1", "alpha_2")
CURRENCIES = _codes("4217", "alpha_3") | {"XCG", "ZWG", "XAD"}


class Field:
    def __init__(self, check, required=False, nullable=False):
        self.check, self.required, self.nullable = check, required, nullable


def _is_text(value):
    return isinstance(value, str) and "\0" not in value


def text(value, path, errors):
    if not _is_text(value):
        errors.append((path, INVALID))


def filled(value, path, errors):
    if not _is_text(value) or not value:
        errors.append((path, INVALID))


def identifier(value, path, errors):
    if not _is_text(value) or not 1 <= len(value.encode()) <= 1024:
        errors.append((path, INVALID))


def boolean(value, path, errors):
    if not isinstance(value, bool):
        errors.append((path, INVALID))


def integer(value, path, errors):
    if type(value) is not int:
        errors.append((path, INVALID))


def number(value, path, errors):
    if type(value) not in (int, float):
        errors.append((path, INVALID))


def one_of(allowed):
    def check(value, path, errors):
        if not isinstance(value, str) or value not in allowed:
            errors.append((path, INVALID))

    return check


def array(check, limit=None):
    def each(value, path, errors):
        if type(value) is not list:
            errors.append((path, INVALID))
            return
        if limit is not None and len(value) > limit:
            errors.append((path, INVALID))
        for index, element in enumerate(value):
            check(element, f"{path}[{index}]", errors)

    return each


def record(fields):
    def check(value, path, errors):
        if not isinstance(value, Members):
            errors.append((path, INVALID))
            return
        for name, field in fields.items():
            where = f"{path}.{name}"
            found = value.all(name)
            if len(found) > 1:
                errors.append((where, INVALID))
            elif not found:
                if field.required:
                    errors.append((where, REQUIRED))
            elif found[0] is None:
                if not field.nullable:
                    errors.append((where, REQUIRED if field.required else INVALID))
            else:
                field.check(found[0], where, errors)

    return check


AVAILABILITY = one_of({"in stock", "out of stock"})
CURRENCY = one_of(CURRENCIES)
RANGE = record({"min": Field(number), "max": Field(number)})
DISCOUNT = record({"id": Field(text)})

PRICES = {
    "price": Field(number, nullable=True),
    "priceRange": Field(RANGE, nullable=True),
    "salePrice": Field(number, nullable=True),
    "salePriceRange": Field(RANGE, nullable=True),
    "promotionalPrice": Field(number, nullable=True),
    "promotionalPriceRange": Field(RANGE, nullable=True),
    "discountedPrices": Field(
        array(record({"discount": Field(DISCOUNT), "price": Field(number)}), 10)
    ),
    "discountedPriceRanges": Field(
        array(record({"discount": Field(DISCOUNT), "range": Field(RANGE)}), 10)
    ),
}

VARIANT_PRICE = {
    "list_price": Field(number),
    "sale_price": Field(number),
    "currency_code": Field(CURRENCY),
    "allowed_region": Field(text),
}

SELECTED_OPTION = {"name": Field(text, nullable=True), "value": Field(text, nullable=True)}

VARIANT = {
    "variant_sku": Field(identifier, required=True),
    "parent_id": Field(identifier),
    "position": Field(integer),
    "title": Field(text),
    "product_url": Field(text, nullable=True),
    "image_src": Field(text),
    "price": Field(number, nullable=True),
    "list_price": Field(number),
    "sale_price": Field(number, nullable=True),
    "currency_code": Field(CURRENCY),
    "availability": Field(AVAILABILITY),
    "allowed_regions": Field(array(text)),
    **{f"option{n}_{part}": Field(text) for n in (1, 2, 3) for part in ("name", "value", "swatch_src")},
    "prices": Field(array(record(VARIANT_PRICE))),
    "selected_options": Field(array(record(SELECTED_OPTION), 100), nullable=True),
}

PRODUCT = {
    "platform_product_id": Field(identifier, required=True),
    "parent_id": Field(identifier),
    "position": Field(integer),
    "title": Field(filled, required=True),
    "handle": Field(text),
    "brand": Field(text, nullable=True),
    "active": Field(boolean),
    "in_stock": Field(boolean, nullable=True),
    "product_url": Field(text, nullable=True),
    "image_src": Field(text, nullable=True),
    "language": Field(one_of(LANGUAGES)),
    "country": Field(one_of(COUNTRIES)),
    "list_price": Field(number),
    "sale_price": Field(number),
    "currency_code": Field(CURRENCY),
    "price_currency_code": Field(CURRENCY, nullable=True),
    "availability": Field(AVAILABILITY),
    "allowed_regions": Field(array(text)),
    "prices": Field(record(PRICES), nullable=True),
    "promotional_code": Field(text, nullable=True),
    "collections": Field(array(text, 250), nullable=True),
    "tags": Field(array(text, 250), nullable=True),
    "variants": Field(array(record(VARIANT), 250), nullable=True),
}

DELETED = {
    "platform_product_id": Field(identifier, required=True),
    "parent_id": Field(identifier, required=True),
    "title": Field(filled, required=True),
    "language": Field(one_of(LANGUAGES)),
    "country": Field(one_of(COUNTRIES)),
}


def errors_of(topic, products):
    """(index, field, code) of every bad field of a parsed list of products."""
    check = record(PRODUCT if topic == "PRODUCT_UPSERT" else DELETED)
    found = []
    for index, product in enumerate(products):
        errors = []
        check(product, f"products[{index}]", errors)
        found += [(index, field, code) for field, code in errors]
    return found
