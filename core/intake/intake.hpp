// Intake: decides about a request between its bytes and the queue, without I/O or clock.
//
// Each endpoint has two steps, because the body comes later than the head:
//   1. open_*() checks method, head and registry. It returns the answer if the protocol allows one
//      before the body was read, or else the sender that the request claims.
//   2. accept_*() checks signature, rate and body in the order of docs/protocol.md. It returns the
//      final answer or what to store. Any thread, because a Sender needs no registry.
// nginx, the dry run, `sluice send --check`, the fuzzers and the tests all run this code.
#pragma once

#include <optional>
#include <string_view>

#include "core/intake/answer.hpp"
#include "core/intake/body.hpp"
#include "core/intake/rate_window.hpp"
#include "core/intake/registry_view.hpp"
#include "core/intake/request_head.hpp"
#include "core/protocol/click_batch.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"
#include "core/protocol/record.hpp"
#include "core/shops/translator.hpp"
#include "core/values/interface.hpp"

namespace sluice {

/// Counts one authenticated request. nginx: the rate word in shared memory. Any thread.
class RateGate : public Interface {
public:
    /// Returns nothing for an unlimited account, whose answers carry no rate headers.
    [[nodiscard]] virtual std::optional<RateVerdict> count(const AccountView& account) = 0;
    /// Reports the proven sender of a request that takes no place in the window: a webhook.
    virtual void recognize(const AccountView& account) = 0;
};

/// Continues with `sender` if `answer` is empty.
struct Opened {
    std::optional<Answer> answer;
    Sender sender;
};

/// The record to store. Views point into the request, the parser and `sender`.
struct Accepted {
    RecordMeta meta;          ///< received_at, request_id and bulk are filled in by the caller.
    Digest256 body_sha256{};  ///< Catalog only (it is the checked signature).
    /// Webhooks and clicks: the body to store, in place of the one that came. In the scratch.
    std::optional<std::string_view> translated{};
    SourceNotes notes{};                   ///< Webhooks: of the translation.
    Outcome outcome = Outcome::kAccepted;  ///< Once it is stored.
};

struct Accepting {
    std::optional<Answer> answer;
    /// Meaningful if !answer; of a batch also if is_body_gone, but for the number of its records.
    Accepted accepted;
    std::optional<RateVerdict> rate;  ///< For the answer that the caller sends later.
    /// The token that proved the sender, or nullptr. Lives as long as the Sender.
    const TokenView* token = nullptr;
    bool is_body_gone = false;  ///< `answer` is 503, because the body could not be read.
};

/// Parsers and buffers that one thread reuses from request to request. Validating a body takes 12
/// bytes of memory for each byte of a body of numbers only, 2 to 4 for ordinary ones.
struct IntakeScratch {
    OrderEventParser orders;
    ProductBatchParser products;
    ClickBatchParser clicks;
    std::string click_record;  ///< The body that accept_clicks() returns.
    Translator translator;

    /// Frees what a large body left behind. Call this when the views of Accepted are no longer
    /// used, but not between two large bodies, because new memory costs more than a third of a
    /// parse.
    void trim() noexcept {
        orders.trim();
        products.trim();
        clicks.trim();
        translator.trim();
        click_record = {};
    }
};

/// Events and clicks, step 1: 405, or 401 for what can be decided without the body. Looks up the
/// shop.
[[nodiscard]] Opened open_event(const RequestHead& head, RegistryView& registry);
/// Events, step 2: 401, 429, 400, else what to store; 503 if the body cannot be read. Throws
/// std::bad_alloc.
[[nodiscard]] Accepting accept_event(const RequestHead& head, const HeaderNames& names,
                                     const Sender& sender, CheckedBody& body, RateGate& gate,
                                     Timestamp now, IntakeScratch& scratch);

/// Clicks, step 2: answers as accept_event() does. The shop only names the account.
[[nodiscard]] Accepting accept_clicks(const RequestHead& head, const HeaderNames& names,
                                      const Sender& sender, CheckedBody& body, RateGate& gate,
                                      Timestamp now, IntakeScratch& scratch);

/// Webhooks of a shop's platform, step 1: 405, or 401 for what can be decided without the body.
[[nodiscard]] Opened open_webhook(const RequestHead& head, Platform platform,
                                  RegistryView& registry);
/// Webhooks, step 2: 401, 400, 200 for a ping and for orders that are ignored, else what to store;
/// 503 if the body cannot be read. Takes no place in the rate window. Throws std::bad_alloc.
/// @param anon_field  Name of the order attribute that has the anonymous id.
[[nodiscard]] Accepting accept_webhook(const RequestHead& head, Platform platform,
                                       std::string_view anon_field, const Sender& sender,
                                       CheckedBody& body, RateGate& gate, Timestamp now,
                                       IntakeScratch& scratch);

/// Catalog, step 1: 405, 400, 401, 403, 404, and a malformed signature, in docs/protocol.md's
/// order.
[[nodiscard]] Opened open_catalog(const RequestHead& head, const HeaderNames& names,
                                  RegistryView& registry, Timestamp now);
/// Catalog, step 2: checks 3 to 6, else what to store; 503 if the body cannot be read.
/// Throws std::bad_alloc.
[[nodiscard]] Accepting accept_catalog(const RequestHead& head, const Sender& sender,
                                       CheckedBody& body, RateGate& gate, IntakeScratch& scratch);

}  // namespace sluice
