// Send protocols: how records become signed requests to one of the endpoints, and what their
// answers mean.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/protocol/topic.hpp"
#include "core/values/interface.hpp"
#include "program/system/http_client.hpp"
#include "tool/send/policy.hpp"
#include "tool/send/source.hpp"

namespace sluice::cli {

/// One request, ready to be posted. Owns its bytes.
struct SignedRequest {
    std::string url;
    std::vector<std::string> headers;
    std::string body;
};

struct SendCredentials {
    std::string url;  ///< BASE, with or without a final slash.
    std::string shop;
    std::string secret;  ///< Never shown, logged or stored.
    std::string header_prefix = "X-SVC-";
    std::optional<Topic> topic;
};

class SendProtocol : public Interface {
public:
    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    /// Returns the maximum number of records in one request.
    [[nodiscard]] std::size_t records_max() const noexcept { return records_max_; }
    /// Returns the maximum number of requests in flight.
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }
    /// Returns the record's key, which may be empty; records with one key keep their order. Sets
    /// `record.problem` if the record cannot be sent.
    [[nodiscard]] virtual std::string examine(SendRecord& record) = 0;
    /// @param run_id  Id of the run, for idempotency keys.
    [[nodiscard]] virtual SignedRequest sign(std::span<const SendRecord> records,
                                             const std::string& run_id) = 0;
    [[nodiscard]] virtual Judgement judge(const HttpResponse& response,
                                          std::size_t records_count) const = 0;
    /// Returns the problems that the endpoint's rules find in one record, without sending it
    /// (`--check`).
    [[nodiscard]] virtual std::vector<std::string> check(const SendRecord& record) = 0;

protected:
    SendProtocol(SendCredentials credentials, const char* path, std::size_t records_max,
                 std::size_t connections);

    SendCredentials credentials_;
    JsonDocument json_;

private:
    std::string url_;
    std::size_t records_max_, connections_;
};

[[nodiscard]] std::unique_ptr<SendProtocol> event_protocol(SendCredentials credentials);
[[nodiscard]] std::unique_ptr<SendProtocol> click_protocol(SendCredentials credentials);
/// Requires: credentials.topic is a catalog topic.
[[nodiscard]] std::unique_ptr<SendProtocol> product_protocol(SendCredentials credentials);

}  // namespace sluice::cli
