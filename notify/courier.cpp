#include "notify/courier.hpp"

#include "notify/signing.hpp"

namespace sluice::notify {
namespace {

constexpr long kConnectSeconds = 10, kTransferSeconds = 15;
constexpr std::size_t kAnswerBytesMax = 65'536;

}  // namespace

cli::HttpRequest request_of(const store::Destination& destination, const OpenedSecrets& secrets,
                            const AddressJudge& judge, const Notice& notice, std::uint64_t now) {
    constexpr std::uint64_t kPerSecond = 1000;
    const auto seconds = static_cast<std::int64_t>(now / kPerSecond);
    const bool is_encrypted = destination.url.starts_with("https:");
    cli::HttpRequest request;
    request.url = destination.url;
    request.body = notice.body;
    request.headers = {"Content-Type: application/json",
                       "Expect:", "webhook-id: " + notice.webhook_id,
                       "webhook-timestamp: " + std::to_string(seconds),
                       "webhook-signature: " + signature_header(secrets.signing, notice.webhook_id,
                                                                seconds, notice.body)};
    if (!secrets.header.empty()) {
        request.headers.push_back(secrets.header);
    }
    request.check_address = [judge, is_encrypted](const sockaddr* address, socklen_t bytes) {
        const auto parsed = IpAddress::of(address, bytes);
        if (parsed && judge.admits(*parsed, is_encrypted)) {
            return std::string();
        }
        const std::string range(parsed ? refused_range(*parsed) : "unknown family");
        return "address refused: " + (parsed ? parsed->to_string() : "") + " (" +
               (range.empty() ? "http is admitted to --allow-private only" : range) + ")";
    };
    // A connection to a private address must not serve a destination that may not open one.
    request.shares_connections = !judge.allows_any();
    return request;
}

std::unique_ptr<cli::HttpClient> make_client(std::size_t requests, const std::string& ca_file) {
    const cli::HttpLimits limits{kConnectSeconds, kTransferSeconds, kAnswerBytesMax, false,
                                 false,           ca_file};
    return std::make_unique<cli::HttpClient>(requests, "sluice/" SLUICE_VERSION, limits);
}

}  // namespace sluice::notify
