// Intake: what happens to a request between its bytes and the queue, without I/O or clock.
//
// Each endpoint has two steps, because the body comes later than the head:
//   1. open_*()  looks at method, head and registry; it answers at once where the protocol allows
//      an answer before the body was read, or says who the sender claims to be.
//   2. accept_*() checks signature, rate and body, in docs/protocol.md's order, and gives either
//      the final answer or what is to be stored. Any thread: a Sender needs no registry.
// nginx, the dry run, `sluice send --check`, the fuzzers and the tests all run this code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/intake/checked_body.hpp"
#include "core/intake/rate_window.hpp"
#include "core/intake/registry_view.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

/// A request header: how often it was sent, and its (first) value.
struct HeaderValue {
    std::string_view value;
    std::uint32_t count = 0;
};

/// The headers that sluice reads. Views into the request.
struct RequestHead {
    bool is_post = true;
    HeaderValue shop;       ///< <prefix>SHOP-ID
    HeaderValue topic;      ///< <prefix>TOPIC
    HeaderValue signature;  ///< X-Signature
    HeaderValue content_type;
    HeaderValue content_encoding;
    HeaderValue authorization;    ///< Catalog
    HeaderValue idempotency_key;  ///< Catalog
};

/// Names that depend on `sluice_header_prefix`. Built once per location.
struct HeaderNames {
    explicit HeaderNames(std::string_view prefix);
    std::string shop;        ///< X-SVC-SHOP-ID
    std::string topic;       ///< X-SVC-TOPIC
    std::string anon_field;  ///< svc_anon_id
};

/// $sluice_result.
enum class Outcome : std::uint8_t {
    kAccepted,
    kReplayed,
    kDryRun,
    kUnauthorized,
    kForbidden,
    kNotFound,
    kMethodNotAllowed,
    kBadRequest,
    kInvalid,
    kConflict,
    kLimited,
    kTooLarge,
    kUnavailable,
    kError,
};
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// $sluice_reason, where it is known at once (the likely mistake of a failed signature is worked
/// out later, by core/intake/diagnosis).
enum class Reason : std::uint8_t {
    kNone,
    kShopMissing,
    kShopMalformed,
    kShopUnknown,
    kShopSuspended,
    kSignatureMissing,
    kSignatureMalformed,
    kSignatureMismatch,
    kNoUsableToken,
    kTokenMissing,
    kTokenUnknown,
    kTokenRevoked,
    kTokenExpired,
    kTokenScope,
    kRateLimited,
    kHeader,
    kBodyNotJson,
    kFields,
    kQueueFull,
    kDiskFull,
    kIoError,
    kStoreUnavailable,
    kMemory,
    kTooLarge,
    kIdempotencyConflict,
    kZoneTooSmall,  ///< The account lies beyond the shared zone: its limit cannot be held.
    kNotServable,   ///< Another part of the configuration leads it here, and not whole.
    // Refused by nginx itself or another module before this one was asked; counted only.
    kLimitedBefore,  ///< 429 or 503: limit_req, limit_conn.
    kRefusedBefore,  ///< Another status: deny, auth_basic, client_max_body_size, a malformed head.
};
inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kRefusedBefore) + 1;
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;

/// A complete answer. The body is owned; common bodies are static (no allocation).
struct Answer {
    std::uint16_t status = 500;
    Outcome outcome = Outcome::kError;
    Reason reason = Reason::kNone;
    std::string_view content_type;  ///< Empty: no body, no Content-Type.
    std::string_view static_body;   ///< Used if `body` is empty.
    std::string body;
    bool allow_post = false;          ///< `Allow: POST`
    bool retry_after_limit = false;   ///< 429: Retry-After from `rate`
    std::optional<RateVerdict> rate;  ///< X-RateLimit-* when set

    [[nodiscard]] std::string_view text() const noexcept {
        return body.empty() ? static_body : std::string_view(body);
    }
};

/// The sender that a request names; enough to check the request without the registry.
struct Sender {
    std::shared_ptr<const ShopView> shop;     ///< Events: null if unknown (a dummy key is used).
    std::shared_ptr<const TokenView> bearer;  ///< Catalog.
    Digest256 signature{};
    Topic topic = Topic::kOrderCreate;  ///< Catalog: known after step 1.
    /// Events: RegistryView::is_key_outdated(). No signature can be called wrong meanwhile, that of
    /// an unknown shop included: the difference would tell which shops there are.
    bool is_key_outdated = false;
};

/// Counts one authenticated request. nginx: the rate word in shared memory. Any thread.
class RateGate {
public:
    RateGate() = default;
    RateGate(const RateGate&) = delete;
    RateGate& operator=(const RateGate&) = delete;
    virtual ~RateGate() = default;
    /// Nothing: the account is unlimited, and the answer carries no rate headers.
    [[nodiscard]] virtual std::optional<RateVerdict> count(const AccountView& account) = 0;
};

/// Either `answer`, or (if it is empty) the request goes on.
struct Opened {
    std::optional<Answer> answer;
    Sender sender;
};

/// What to store. Views point into the request, the parser and `sender`.
struct Accepted {
    RecordMeta meta;          ///< received_at, request_id and bulk are filled in by the caller.
    Digest256 body_sha256{};  ///< Catalog only (it is the checked signature).
};

struct Accepting {
    std::optional<Answer> answer;
    /// Meaningful if !answer; of a batch also if is_body_gone, but for the number of its records.
    Accepted accepted;
    std::optional<RateVerdict> rate;  ///< For the answer that the caller gives later.
    bool is_body_gone = false;        ///< `answer` is 503: the body's bytes could not be had.
};

/// Parsers and buffers that one thread reuses from request to request. Validating a body takes 12
/// bytes of memory for each byte of a body of numbers only, 2 to 4 for ordinary ones.
struct IntakeScratch {
    OrderEventParser orders;
    ProductBatchParser products;

    /// Frees what a large body left behind. Call when the views of Accepted are no longer used, and
    /// not between two large bodies: new memory costs more than a third of a parse.
    void trim() noexcept {
        orders.trim();
        products.trim();
    }
};

/// Events, step 1: 405, or 401 for what can be told without the body. Looks the shop up.
[[nodiscard]] Opened open_event(const RequestHead& head, RegistryView& registry);
/// May the token sign events at `now`? (That its secret can be had is another question.)
[[nodiscard]] bool may_sign_events(const TokenView& token, Timestamp now) noexcept;
/// Events, step 2: 401, 429, 400, else what to store; 503 if the body's bytes cannot be had. Throws
/// std::bad_alloc when memory is short.
[[nodiscard]] Accepting accept_event(const RequestHead& head, const HeaderNames& names,
                                     const Sender& sender, CheckedBody& body, RateGate& gate,
                                     Timestamp now, IntakeScratch& scratch);
/// The same for a body that lies in memory.
[[nodiscard]] Accepting accept_event(const RequestHead& head, const HeaderNames& names,
                                     const Sender& sender, std::string_view body, RateGate& gate,
                                     Timestamp now, IntakeScratch& scratch);

/// Catalog, step 1: 405, 400, 401, 403, 404, and a malformed signature, in docs/protocol.md's
/// order.
[[nodiscard]] Opened open_catalog(const RequestHead& head, const HeaderNames& names,
                                  RegistryView& registry, Timestamp now);
/// Catalog, step 2: checks 3 to 6, else what to store; 503 if the body's bytes cannot be had.
/// Throws std::bad_alloc when memory is short.
[[nodiscard]] Accepting accept_catalog(const RequestHead& head, const Sender& sender,
                                       CheckedBody& body, RateGate& gate, Timestamp now,
                                       IntakeScratch& scratch);
/// The same for a body that lies in memory.
[[nodiscard]] Accepting accept_catalog(const RequestHead& head, const Sender& sender,
                                       std::string_view body, RateGate& gate, Timestamp now,
                                       IntakeScratch& scratch);

// The answers that the caller gives once the store has reported the outcome.
[[nodiscard]] Answer event_success(std::optional<RateVerdict> rate);
[[nodiscard]] Answer event_unavailable(Reason reason, std::optional<RateVerdict> rate);
[[nodiscard]] Answer event_internal_error(std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_success(std::uint32_t processed_count, bool replayed,
                                     std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_conflict(std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_unavailable(Reason reason, std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_error(std::uint16_t status, Outcome outcome, Reason reason,
                                   std::string_view message, std::optional<RateVerdict> rate);

}  // namespace sluice
