// Product batch: bounded, ordered and placed errors, the same answer twice, the same idea of JSON
// as an independent reader, and a valid batch has what every record needs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "check.hpp"
#include "core/product_batch.hpp"
#include "strict_json.hpp"

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

    sluice::ProductBatchParser fresh;
    FUZZ_CHECK(fresh.validate(body, topic) == verdict);
    return 0;
}
