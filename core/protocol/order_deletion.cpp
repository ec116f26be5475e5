#include "core/protocol/order_deletion.hpp"

#include <array>

#include "core/json/document.hpp"
#include "core/protocol/field_reader.hpp"

namespace sluice {
namespace {

enum DeletionField : std::size_t { kDeletedId, kDeletedVersion };
constexpr std::array<std::string_view, 2> kDeletionNames{"platform_order_id",
                                                         "platform_updated_at"};
constexpr FieldNames kDeletionFields{
    kDeletionNames, NameIndex::make(kDeletionNames, [](std::string_view name) { return name; })};

}  // namespace

Result<OrderDeletion> parse_order_deletion(std::string_view body) {
    JsonDocument json;
    if (!json.parse(body)) {
        return Error{ErrorCode::kInvalid, std::string(json.error())};
    }
    simdjson::dom::object root;
    if (json.root().get_object().get(root) != simdjson::SUCCESS) {
        return Error{ErrorCode::kInvalid, "the body must be a JSON object"};
    }
    FieldErrors findings(1);
    findings.begin(json.nul_count() > 0);
    FieldReader in(kDeletionFields, {}, findings);
    in.collect(root);
    OrderDeletion deletion;
    std::string_view id;
    if (in.id(kDeletedId, Need::kRequired, id)) {
        deletion.order_id = id;
    }
    Timestamp version;
    if (in.timestamp(kDeletedVersion, Need::kOptional, version)) {
        deletion.updated_at = version;
    }
    if (!findings.errors().empty()) {
        const FieldError& first = findings.errors().front();
        return Error{ErrorCode::kInvalid, first.field + ": " + first.message};
    }
    return deletion;
}

}  // namespace sluice
