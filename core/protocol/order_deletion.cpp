#include "core/protocol/order_deletion.hpp"

#include "core/json/document.hpp"
#include "core/protocol/field_reader.hpp"

namespace sluice {
namespace {

constexpr FieldNames kDeletion("platform_order_id", "platform_updated_at");

}  // namespace

Result<OrderDeletion> parse_order_deletion(std::string_view body) {
    JsonDocument json;
    if (!json.parse(body)) {
        return invalid(std::string(json.error()));
    }
    simdjson::dom::object root;
    if (json.root().get_object().get(root) != simdjson::SUCCESS) {
        return invalid("the body must be a JSON object");
    }
    FieldErrors findings(1);
    findings.begin(json.nul_count() > 0);
    FieldReader in(kDeletion, {}, findings);
    in.collect(root);
    OrderDeletion deletion;
    std::string_view id;
    if (in.id(kDeletion["platform_order_id"], Need::kRequired, id)) {
        deletion.order_id = id;
    }
    Timestamp version;
    if (in.timestamp(kDeletion["platform_updated_at"], Need::kOptional, version)) {
        deletion.updated_at = version;
    }
    if (!findings.errors().empty()) {
        const FieldError& first = findings.errors().front();
        return invalid(first.field + ": " + first.message);
    }
    return deletion;
}

}  // namespace sluice
