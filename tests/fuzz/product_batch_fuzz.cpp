// Product batch: bounded, ordered and placed errors, the same answer twice, the same idea of JSON
// and of each rule as an independent reader, and a valid batch has what every record needs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "compare.hpp"
#include "core/protocol/product_batch.hpp"
#include "payload_rules.hpp"
#include "unit/core/json/strict_json.hpp"

namespace {

using sluice::BatchVerdict;
using sluice::FieldError;

void check_errors(std::span<const FieldError> errors) {
    FUZZ_CHECK(!errors.empty() && errors.size() <= sluice::ProductBatchParser::kErrorsMax);
    std::uint32_t last_index = 0;
    for (const FieldError& error : errors) {
        FUZZ_CHECK(!error.message.empty() && error.field.size() < 150);
        FUZZ_CHECK(error.index >= last_index && error.index < 1000);
        FUZZ_CHECK(error.field.starts_with("products[" + std::to_string(error.index) + "]"));
        last_index = error.index;
    }
}

bool is_filled(const nlohmann::json& record, const char* name) {
    return record.contains(name) && record[name].is_string() &&
           !record[name].get_ref<const std::string&>().empty();
}

void check_valid(std::string_view body, sluice::Topic topic, std::uint32_t count) {
    const nlohmann::json batch = nlohmann::json::parse(body);
    FUZZ_CHECK(batch["products"].size() == count && count >= 1 && count <= 1000);
    for (const nlohmann::json& record : batch["products"]) {
        FUZZ_CHECK(record.is_object());
        FUZZ_CHECK(is_filled(record, "platform_product_id") && is_filled(record, "title"));
        FUZZ_CHECK(topic == sluice::Topic::kProductUpsert || is_filled(record, "parent_id"));
        if (topic == sluice::Topic::kProductUpsert && record.contains("variants") &&
            !record["variants"].is_null()) {
            FUZZ_CHECK(record["variants"].is_array() && record["variants"].size() <= 250);
            for (const nlohmann::json& variant : record["variants"]) {
                FUZZ_CHECK(variant.is_object() && is_filled(variant, "variant_sku"));
            }
        }
    }
}

/// Every rule, written down a second time, says the same.
void compare_with_rules(BatchVerdict verdict, std::span<const FieldError> told,
                        std::string_view body, sluice::Topic topic) {
    using sluice::fuzz::Kind;
    static const sluice::fuzz::Check kUpsert = sluice::fuzz::product_rules();
    static const sluice::fuzz::Check kDelete = sluice::fuzz::deleted_product_rules();
    if (body.find("\\u0000") != std::string_view::npos) {
        return;  // in an unknown field it is an error of the body
    }
    const auto batch = sluice::fuzz::StrictReader(body).read();
    const auto lists = batch ? batch->all("products") : std::vector<const sluice::fuzz::Value*>();
    const bool is_batch = lists.size() == 1 && lists[0]->is(Kind::kArray) &&
                          !lists[0]->items.empty() && lists[0]->items.size() <= 1000;
    FUZZ_CHECK(is_batch == (verdict != BatchVerdict::kNotABatch));
    if (!is_batch) {
        return;
    }
    sluice::fuzz::RuleErrors errors;
    const bool upsert = topic == sluice::Topic::kProductUpsert;
    for (std::size_t i = 0; i < lists[0]->items.size(); ++i) {
        (upsert ? kUpsert : kDelete)(lists[0]->items[i], "products[" + std::to_string(i) + "]",
                                     errors);
    }
    FUZZ_CHECK(errors.empty() == (verdict == BatchVerdict::kValid));
    sluice::fuzz::compare(told, errors, {}, sluice::ProductBatchParser::kErrorsMax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static sluice::ProductBatchParser reused;
    std::string_view body = sluice::fuzz::text_of(data, size);
    const auto topic = sluice::fuzz::take_choice(body) % 2 == 0 ? sluice::Topic::kProductUpsert
                                                                : sluice::Topic::kProductDelete;
    const BatchVerdict verdict = reused.validate(body, topic);
    FUZZ_CHECK((verdict == BatchVerdict::kNotABatch) == !reused.batch_error().empty());
    if (verdict == BatchVerdict::kRecordErrors) {
        check_errors(reused.errors());
    } else if (verdict == BatchVerdict::kValid) {
        check_valid(body, topic, reused.products_count());
    }
    const bool has_nul = body.find("\\u0000") != std::string_view::npos;
    FUZZ_CHECK(sluice::test::is_strict_json(body) || has_nul ||
               verdict == BatchVerdict::kNotABatch);
    FUZZ_CHECK(!has_nul || sluice::test::is_strict_json(body) || verdict != BatchVerdict::kValid);

    compare_with_rules(
        verdict,
        verdict == BatchVerdict::kRecordErrors ? reused.errors() : std::span<const FieldError>(),
        body, topic);

    sluice::ProductBatchParser fresh;
    FUZZ_CHECK(fresh.validate(body, topic) == verdict);
    return 0;
}
