// The $sluice_* variables.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intake/diagnosis.hpp"
#include "core/intake/registry_view.hpp"
#include "core/values/ids.hpp"
#include "core/values/token_number.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/handler.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

using Text = std::optional<std::string_view>;

/// Returns nothing without memory.
Text copy(ngx_pool_t* pool, std::string_view text) noexcept {
    auto* bytes = static_cast<char*>(ngx_pnalloc(pool, text.size()));
    if (bytes == nullptr) {
        return std::nullopt;
    }
    std::memcpy(bytes, text.data(), text.size());
    return std::string_view(bytes, text.size());
}

Text number(ngx_pool_t* pool, std::uint64_t value) noexcept {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    return copy(pool, {digits, static_cast<std::size_t>(end - digits)});
}

/// Formats seconds with milliseconds, as $request_time does.
Text seconds(ngx_pool_t* pool, ngx_msec_t ms) noexcept {
    u_char text[NGX_INT_T_LEN + 4];
    const u_char* end = ngx_sprintf(text, "%T.%03M", static_cast<time_t>(ms / 1000), ms % 1000);
    return copy(pool, to_view(text, end));
}

/// Returns the account only if the signature (catalog: the token) was right, so that no sender
/// appears in the log under the name of another account.
Text account(IngestRequest& request) noexcept {
    const ShopView* shop = request.sender.shop.get();
    const bool borne =
        request.sender.bearer != nullptr && outcome_of(request) != Outcome::kUnauthorized;
    if (shop == nullptr || !(request.authenticated || borne)) {
        return std::nullopt;
    }
    return shop->account->account_id.view();
}

/// Returns the shop that the sender named, if it has the form of an id. Senders may put a token
/// there by mistake, so an unknown name as long as a secret is cut before it reaches a log. So is a
/// name that looks like an e-mail address, which is a personal datum: at its first `@`, at most.
Text shop(std::string_view name, bool known, ngx_pool_t* pool) {
    constexpr std::size_t kShownBytes = 8;
    if (!is_admin_id(name)) {
        return std::nullopt;
    }
    const std::size_t address_at = name.find('@');
    const bool is_cut =
        address_at != std::string_view::npos || (!known && name.size() >= kSecretBytesMin);
    return is_cut
               ? copy(pool, std::string(name.substr(0, std::min(kShownBytes, address_at))) + "...")
               : Text(name);
}

/// Returns the shop of a webhook once its sender is proven, and before that as it was named.
std::string_view named_shop(const IngestRequest& request) noexcept {
    if (request.platform() == Platform::kNone) {
        return request.head.shop.value;
    }
    if (request.authenticated) {
        return request.sender.shop->shop_id.view();
    }
    return request.head.shop_of_address.empty() ? request.head.shop.value
                                                : request.head.shop_of_address;
}

/// Returns a header that a platform sends, if it has the characters of an id.
Text platform_text(const HeaderValue& header) noexcept {
    return is_admin_id(header.value) ? Text(header.value) : std::nullopt;
}

Text topic(const RequestHead& head) noexcept {
    const std::optional<Topic> topic = parse_name<Topic>(head.topic.value);
    return topic && !is_command(*topic) ? Text(to_string(*topic)) : std::nullopt;
}

/// Returns the id of the token that proved the sender. Ids are no secrets.
Text token(IngestRequest& request) {
    return request.token != 0 ? copy(request.r->pool, token_id_of(request.token)) : std::nullopt;
}

Text trace(const RequestHead& head, ngx_pool_t* pool) {
    const std::optional<TraceParent> parent = trace_of(head);
    return parent ? copy(pool, to_traceparent(*parent)) : std::nullopt;
}

Text result(IngestRequest& request) noexcept {
    const std::optional<Outcome> outcome = outcome_of(request);
    return outcome ? Text(to_string(*outcome)) : std::nullopt;
}

/// Returns true if the signature was wrong and the cause is not worked out yet. Includes unknown
/// shops, whose diagnosis is empty, because the sender of the next request on the connection must
/// not be able to measure which shops exist.
bool is_undiagnosed(const IngestRequest& request) noexcept {
    switch (request.answer->reason) {
        case Reason::kShopUnknown:
        case Reason::kShopSuspended:
        case Reason::kSignatureMalformed:
        case Reason::kSignatureMismatch:
        case Reason::kNoUsableToken:
            return request.signing_scope() && request.diagnosis.empty();
        default:
            return false;
    }
}

using Tokens = std::vector<std::shared_ptr<const TokenView>>;

Tokens barred_tokens(const IngestRequest& request) {
    const ShopView* shop = request.sender.shop.get();
    store::RegistryReader* registry = request.tools.store.registry();
    const AccountNumber account = shop != nullptr ? shop->account->number : AccountNumber{0};
    return registry != nullptr ? registry->find_barred_tokens(account, *request.signing_scope(),
                                                              kDiagnosisBarredMax)
                               : Tokens();
}

std::string_view diagnose(const IngestRequest& request) {
    // A large body would block the event loop; without it, only the form of the header is checked.
    const bool large = request.body.bytes() > request.conf->offload_threshold;
    const ShopView* shop = request.sender.shop.get();
    const std::string_view mistake =
        diagnose_signature(request.head.signature, large ? "" : request.body.view(), shop,
                           barred_tokens(request), *request.signing_scope(), loop_time());
    const Reason known = request.answer->reason;
    const bool by_shop = known == Reason::kShopUnknown || known == Reason::kShopSuspended;
    return by_shop ? to_string(known) : mistake;
}

/// Returns the reason for the operator. It is worked out after the answer was sent, and never sent.
Text reason(IngestRequest& request) {
    const bool is_done = request.r->header_sent || !request.answer;
    if (!is_done || reason_of(request) == Reason::kNone) {
        return std::nullopt;
    }
    if (!request.answer) {
        return to_string(reason_of(request));
    }
    if (is_undiagnosed(request) && request.tools.diagnoses.allow(loop_time().seconds)) {
        request.diagnosis = diagnose(request);
    }
    return request.diagnosis.empty() ? to_string(request.answer->reason) : request.diagnosis;
}

bool is_stored(const IngestRequest& request) noexcept {
    return request.job.item.outcome == store::AppendOutcome::kStored ||
           request.job.item.outcome == store::AppendOutcome::kReplayed;
}

/// Returns the node and the record's place or else its number; `sluice queue find` accepts both. A
/// place fits into the string object, so that only the pool allocates.
Text receipt(IngestRequest& request) {
    if (!is_stored(request)) {
        return std::nullopt;
    }
    const std::string place = request.job.receipt ? to_string(*request.job.receipt)
                                                  : std::to_string(request.job.item.seq.value);
    const std::string& tag = request.tools.store.node_tag();
    const std::size_t bytes = tag.size() + 1 + place.size();
    auto* text = static_cast<char*>(ngx_pnalloc(request.r->pool, bytes));
    if (text == nullptr) {
        return std::nullopt;
    }
    char* at = std::copy(tag.begin(), tag.end(), text);
    *at++ = '-';
    std::copy(place.begin(), place.end(), at);
    return std::string_view(text, bytes);
}

/// Returns the number of a stored record. In a lane it has none yet, and has a receipt.
Text seq(IngestRequest& request) noexcept {
    return is_stored(request) && request.job.item.seq.value != 0
               ? number(request.r->pool, request.job.item.seq.value)
               : std::nullopt;
}

bool is_known_shop(const ngx_http_request_t* r, std::string_view name) {
    RequestPool* pool = main_conf(r)->requests;
    store::RegistryReader* registry = pool != nullptr ? pool->tools().store.registry() : nullptr;
    try {
        return registry != nullptr && is_admin_id(name) && registry->find_shop(name) != nullptr;
    } catch (const store::StoreFailure&) {
        return false;  // the handler meets the same error and logs it
    }
}

/// A variable, and the value that it takes from a request.
struct Definition {
    std::string_view name;
    Text (*of)(IngestRequest& request);
    /// The value of the request's head, which needs no handler; null for other variables.
    Text (*of_head)(ngx_http_request_t* r, const RequestHead& head) = nullptr;
    /// It is of the outcome, which a log with subrequests (log_subrequest) shows once for an event.
    bool is_outcome = false;
};

// nginx passes get_variable() the place of a definition.
constexpr Definition kDefinitions[] = {
    {"sluice_account", account},
    {"sluice_shop",
     [](IngestRequest& request) {
         return shop(named_shop(request), request.sender.shop != nullptr, request.r->pool);
     },
     [](ngx_http_request_t* r, const RequestHead& head) {
         return shop(head.shop.value, is_known_shop(r, head.shop.value), r->pool);
     }},
    {"sluice_topic", [](IngestRequest& request) { return topic(request.head); },
     [](ngx_http_request_t* /*r*/, const RequestHead& head) { return topic(head); }},
    {"sluice_result", result, nullptr, true},
    {"sluice_reason", reason, nullptr, true},
    {"sluice_seq", seq, nullptr, true},
    {"sluice_receipt", receipt, nullptr, true},
    {"sluice_commit_time",
     [](IngestRequest& request) {
         return request.committed ? seconds(request.r->pool, request.job.commit_ms) : std::nullopt;
     },
     nullptr, true},
    {"sluice_records",
     [](IngestRequest& request) {
         return request.records_count > 0 ? number(request.r->pool, request.records_count)
                                          : std::nullopt;
     },
     nullptr, true},
    {"sluice_limit_remaining",
     [](IngestRequest& request) {
         return request.rate ? number(request.r->pool, request.rate->remaining) : std::nullopt;
     }},
    {"sluice_trace", [](IngestRequest& request) { return trace(request.head, request.r->pool); },
     [](ngx_http_request_t* r, const RequestHead& head) { return trace(head, r->pool); }},
    {"sluice_token", token},
    {"sluice_source",
     [](IngestRequest& request) {
         return request.platform() != Platform::kNone ? Text(to_string(request.platform()))
                                                      : std::nullopt;
     }},
    {"sluice_source_topic",
     [](IngestRequest& request) {
         return request.platform() != Platform::kNone ? platform_text(request.head.topic)
                                                      : std::nullopt;
     }},
    {"sluice_source_delivery",
     [](IngestRequest& request) { return platform_text(request.head.delivery); }},
};

/// Reads the value from the head before the handler runs, as for the key of a limit_req_zone.
Text without_request(ngx_http_request_t* r, const Definition& variable) {
    if (loc_conf(r)->ingest == kIngestNone || variable.of_head == nullptr) {
        return std::nullopt;
    }
    RequestHead head;
    scan_headers(r, *loc_conf(r)->scan, head);
    return variable.of_head(r, head);
}

Text text_of(ngx_http_request_t* r, const Definition& variable) {
    if (r != r->main && variable.is_outcome) {
        return std::nullopt;
    }
    IngestRequest* request = RequestPool::find(r->main);
    return request == nullptr || (request->refused_before && variable.of_head != nullptr)
               ? without_request(r, variable)
               : variable.of(*request);
}

extern "C" {
static ngx_int_t get_variable(ngx_http_request_t* r, ngx_http_variable_value_t* value,
                              uintptr_t data) noexcept {
    const Text text =
        guarded(r->connection->log, Text(), [&] { return text_of(r, kDefinitions[data]); });
    value->not_found = text ? 0 : 1;
    if (text) {
        value->valid = 1;
        value->no_cacheable = 0;
        value->len = static_cast<unsigned>(text->size()) & 0x0fffffff;
        value->data = to_bytes(*text);
    }
    return NGX_OK;
}
}

}  // namespace

ngx_int_t add_variables(ngx_conf_t* cf) noexcept {
    for (std::size_t i = 0; i < std::size(kDefinitions); ++i) {
        ngx_str_t name = to_ngx(kDefinitions[i].name);
        // The values change while a request is served, so nginx must not cache them.
        ngx_http_variable_t* variable = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_NOCACHEABLE);
        if (variable == nullptr) {
            return NGX_ERROR;
        }
        variable->get_handler = get_variable;
        variable->data = i;
    }
    return NGX_OK;
}

}  // namespace sluice::ngx
