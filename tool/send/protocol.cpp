#include "tool/send/protocol.hpp"

#include "core/json/fault.hpp"
#include "core/protocol/click_batch.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"
#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kEventsInFlight = 32;
constexpr std::size_t kBatchesInFlight = 4;
constexpr std::size_t kBatchRecordsMax = 1000;
constexpr std::string_view kProductList = "products";
constexpr std::string_view kClickList = "clicks";

std::string described(const FieldError& error) {
    std::string text = error.field;
    text += (text.empty() ? "" : ": ") + std::string(to_string(error.code));
    return text + ": " + error.message;
}

/// Returns false, and sets the record's problem, unless it is a JSON object.
bool examine_object(JsonDocument& json, SendRecord& record, const char* what) {
    if (!record.problem.empty()) {
        return false;
    }
    if (!json.parse(record.text)) {
        record.problem = "not JSON: " + explain_json_error(json.error(), record.text);
    } else if (!json.root().is_object()) {
        record.problem = std::string("expected a JSON object, ") + what;
    }
    return record.problem.empty();
}

class EventProtocol : public SendProtocol {
public:
    explicit EventProtocol(SendCredentials credentials)
        : SendProtocol(std::move(credentials), "/event/ecomm", 1, kEventsInFlight),
          anon_field_(anon_field_name(credentials_.header_prefix)),
          key_(credentials_.secret.empty() ? "-" : credentials_.secret) {}

    std::string examine(SendRecord& record) override {
        return json_.parse(record.text) ? text_member(json_.root(), "platform_order_id")
                                        : std::string();
    }

    SignedRequest sign(std::span<const SendRecord> records,
                       const std::string& /*run_id*/) override {
        const std::string& body = records.front().text;
        const std::string& prefix = credentials_.header_prefix;
        return {url(),
                {"Content-Type: application/json", prefix + "SHOP-ID: " + credentials_.shop,
                 prefix + "TOPIC: " + std::string(to_string(topic_of(body))),
                 "X-Signature: " + to_hex(key_.sign(body)), "Expect:"},
                body};
    }

    Judgement judge(const HttpResponse& response, std::size_t /*count*/) const override {
        return judge_event(response);
    }

    std::vector<std::string> check(const SendRecord& record) override {
        if (parser_.parse(record.text, topic_of(record.text), anon_field_) != nullptr) {
            return {};
        }
        return mapped(parser_.errors(), [&record](const FieldError& error) {
            return error.field.empty() ? explain_json_error(described(error), record.text)
                                       : described(error);
        });
    }

private:
    /// Returns the given topic. Without one, an order that a platform's translation made is an
    /// ORDER_UPDATE, because an ORDER_CANCEL must be later than the stored version. Another one
    /// with both platform_cancelled_at and platform_updated_at is an ORDER_CANCEL, any other an
    /// ORDER_CREATE.
    Topic topic_of(const std::string& body) {
        if (credentials_.topic) {
            return *credentials_.topic;
        }
        const bool is_json = json_.parse(body);
        std::string_view platform;
        if (is_json && json_.root()["source"]["platform"].get(platform) == simdjson::SUCCESS) {
            return Topic::kOrderUpdate;
        }
        const bool cancels = is_json &&
                             !text_member(json_.root(), "platform_cancelled_at").empty() &&
                             !text_member(json_.root(), "platform_updated_at").empty();
        return cancels ? Topic::kOrderCancel : Topic::kOrderCreate;
    }

    std::string anon_field_;
    SigningKey key_;
    OrderEventParser parser_;
};

/// @param list  Its name.
std::string batch_body(std::string_view list, std::span<const SendRecord> records) {
    std::string body = "{\"" + std::string(list) + "\":[";
    for (const SendRecord& record : records) {
        body += (&record == &records.front() ? "" : ",") + record.text;
    }
    return body + "]}";
}

/// Returns a UUID (version 8) of a digest, which is the same for the same batch of one run, and for
/// no other batch.
std::string idempotency_key(const std::string& run_id, std::uint64_t line,
                            const Digest256& body_digest) {
    std::string hex =
        to_hex(sha256(run_id + ":" + std::to_string(line) + ":" + to_hex(body_digest)));
    hex.resize(32);
    hex[12] = '8';
    hex[16] = 'a';
    for (const std::size_t place : {20u, 16u, 12u, 8u}) {
        hex.insert(place, "-");
    }
    return hex;
}

class ClickProtocol : public SendProtocol {
public:
    explicit ClickProtocol(SendCredentials credentials)
        : SendProtocol(std::move(credentials), "/event/click", kClicksMax, kBatchesInFlight),
          anon_field_(anon_field_name(credentials_.header_prefix)),
          key_(credentials_.secret.empty() ? "-" : credentials_.secret) {}

    /// Clicks of one device keep their order: of two at one instant the later one counts.
    std::string examine(SendRecord& record) override {
        return examine_object(json_, record, "a click")
                   ? text_member(json_.root(), anon_field_.c_str())
                   : std::string();
    }

    SignedRequest sign(std::span<const SendRecord> records,
                       const std::string& /*run_id*/) override {
        SignedRequest request{url(), {}, batch_body(kClickList, records)};
        const std::string& prefix = credentials_.header_prefix;
        request.headers = {"Content-Type: application/json",
                           prefix + "SHOP-ID: " + credentials_.shop,
                           prefix + "TOPIC: " + std::string(to_string(Topic::kClick)),
                           "X-Signature: " + to_hex(key_.sign(request.body)), "Expect:"};
        return request;
    }

    Judgement judge(const HttpResponse& response, std::size_t count) const override {
        return judge_clicks(response, count);
    }

    std::vector<std::string> check(const SendRecord& record) override {
        if (parser_.parse(batch_body(kClickList, {&record, 1}), anon_field_, now()) != nullptr) {
            return {};
        }
        return mapped(parser_.errors(), [](const FieldError& error) {
            return without_place(described(error), kClickList);
        });
    }

private:
    std::string anon_field_;
    SigningKey key_;
    ClickBatchParser parser_;
};

class ProductProtocol : public SendProtocol {
public:
    explicit ProductProtocol(SendCredentials credentials)
        : SendProtocol(std::move(credentials), "/product-data", kBatchRecordsMax,
                       kBatchesInFlight) {}

    std::string examine(SendRecord& record) override {
        return examine_object(json_, record, "a product record")
                   ? text_member(json_.root(), "platform_product_id")
                   : std::string();
    }

    SignedRequest sign(std::span<const SendRecord> records, const std::string& run_id) override {
        SignedRequest request{url(), {}, batch_body(kProductList, records)};
        const Digest256 digest = sha256(request.body);
        const std::string& prefix = credentials_.header_prefix;
        request.headers = {
            "Content-Type: application/json",
            "Authorization: Bearer " + credentials_.secret,
            prefix + "SHOP-ID: " + credentials_.shop,
            prefix + "TOPIC: " + std::string(to_string(*credentials_.topic)),
            "X-Signature: " + to_hex(digest),
            "Idempotency-Key: " + idempotency_key(run_id, records.front().line, digest),
            "Expect:"};
        return request;
    }

    Judgement judge(const HttpResponse& response, std::size_t count) const override {
        return judge_batch(response, count);
    }

    std::vector<std::string> check(const SendRecord& record) override {
        const BatchVerdict verdict =
            parser_.validate(batch_body(kProductList, {&record, 1}), *credentials_.topic);
        if (verdict == BatchVerdict::kNotABatch) {
            return {std::string(parser_.batch_error())};
        }
        if (verdict != BatchVerdict::kRecordErrors) {
            return {};
        }
        return mapped(parser_.errors(), [](const FieldError& error) {
            return without_place(described(error), kProductList);
        });
    }

private:
    ProductBatchParser parser_;
};

}  // namespace

SendProtocol::SendProtocol(SendCredentials credentials, const char* path, std::size_t records_max,
                           std::size_t connections)
    : credentials_(std::move(credentials)),
      url_(credentials_.url.substr(0, credentials_.url.find_last_not_of('/') + 1) + path),
      records_max_(records_max),
      connections_(connections) {}

std::unique_ptr<SendProtocol> event_protocol(SendCredentials credentials) {
    return std::make_unique<EventProtocol>(std::move(credentials));
}

std::unique_ptr<SendProtocol> click_protocol(SendCredentials credentials) {
    return std::make_unique<ClickProtocol>(std::move(credentials));
}

std::unique_ptr<SendProtocol> product_protocol(SendCredentials credentials) {
    return std::make_unique<ProductProtocol>(std::move(credentials));
}

}  // namespace sluice::cli
