#include "core/protocol/personal_ids.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/json/slices.hpp"
#include "core/json/writer.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::string_view kForgottenPayee = "sha256:";

/// A payee as a forget leaves it: `sha256:DIGEST`, and `:` and its ending if it has one.
struct ForgottenPayee {
    Digest256 digest;
    std::string_view ending;
};

std::optional<ForgottenPayee> parse_forgotten(std::string_view payee) {
    constexpr std::size_t kHexDigits = 2 * sizeof(Digest256);
    if (!payee.starts_with(kForgottenPayee)) {
        return std::nullopt;
    }
    payee.remove_prefix(kForgottenPayee.size());
    const auto digest = parse_hex_digest(payee.substr(0, kHexDigits), HexCase::kLowerOnly);
    payee.remove_prefix(std::min(kHexDigits, payee.size()));
    if (!digest || (!payee.empty() && payee.front() != ':')) {
        return std::nullopt;
    }
    return ForgottenPayee{*digest, payee.substr(std::min<std::size_t>(1, payee.size()))};
}

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

Digest256 anon_digest(std::string_view anon_id) {
    return sha256(anon_id);
}

std::optional<Digest256> device_of(const RecordMeta& meta, Pseudonyms pseudonyms) {
    if (meta.anon_pseudonym && pseudonyms == Pseudonyms::kRead) {
        return meta.anon_pseudonym;
    }
    return meta.anon_id.empty() ? std::nullopt : std::optional(anon_digest(meta.anon_id));
}

Digest256 customer_id_digest(std::string_view id) {
    return sha256("id:" + std::string(id));
}

Digest256 email_digest(std::string_view email) {
    return sha256("email:" + ascii_lower(email));
}

std::string mail_id(std::string_view email) {
    return "mail:" + to_hex(email_digest(email));
}

Digest256 guest_digest(const Digest256& email) {
    return customer_id_digest("mail:" + to_hex(email));
}

Digest256 phone_digest(std::string_view phone) {
    return sha256("phone:" + std::string(phone));
}

Digest256 payee_digest(std::string_view payee) {
    const auto known = parse_forgotten(payee);
    return known ? known->digest : sha256("payee:" + std::string(payee));
}

std::string payee_ending(std::string_view payee) {
    constexpr std::ptrdiff_t kLong = 8, kShort = 4;
    if (const auto known = parse_forgotten(payee)) {
        return std::string(known->ending);
    }
    const auto count = std::ranges::count_if(payee, begins_character);
    const int shown = count >= kLong ? 4 : count >= kShort ? 2 : 0;
    std::size_t at = payee.size();
    for (int i = 0; i < shown; i += begins_character(payee[at]) ? 1 : 0) {
        --at;
    }
    return std::string(payee.substr(at));
}

std::string forgotten_payee(std::string_view payee) {
    if (payee.empty()) {
        return {};
    }
    const std::string ending = payee_ending(payee);
    return std::string(kForgottenPayee) + to_hex(payee_digest(payee)) +
           (ending.empty() ? "" : ":" + ending);
}

bool is_forgotten_payee(std::string_view text) {
    return !text.empty() && forgotten_payee(text) == text;
}

Digest256 pseudonym(const SigningKey& secret, const Digest256& digest) noexcept {
    return secret.sign(view_of(digest));
}

std::string pseudonym_json(const Digest256& pseudonym) {
    return R"({"pseudonym":")" + to_hex(pseudonym) + "\"}";
}

// -- Redaction ------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 8> kOrderFields{"platform_order_id",
                                                       "platform_ordered_at",
                                                       "platform_updated_at",
                                                       "platform_cancelled_at",
                                                       "amount",
                                                       "tax",
                                                       "shipping",
                                                       "currency_code"};
constexpr std::array<std::string_view, 4> kDiscountFields{"code", "type", "value_type", "value"};
constexpr std::array<std::string_view, 6> kLineFields{"line_item_id", "sku", "variant_sku",
                                                      "amount",       "tax", "quantity"};
constexpr std::array<std::string_view, 8> kRefundFields{"refund_line_item_id",
                                                        "line_item_id",
                                                        "platform_refunded_at",
                                                        "sku",
                                                        "variant_sku",
                                                        "amount",
                                                        "tax",
                                                        "quantity"};

constexpr std::string_view kCustomerId = "platform_customer_id";
constexpr std::string_view kEmail = "email";

using Names = std::span<const std::string_view>;

void write_elements(JsonWriter& writer, std::string_view array, Names names) {
    if (array.front() != '[') {  // Null.
        writer.raw(array);
        return;
    }
    writer.begin_array();
    for (const std::string_view element : json_elements(array)) {
        writer.begin_object();
        for (const JsonMember& member : json_members(element)) {
            if (has_item(names, member.key)) {
                writer.key(member.key).raw(member.value);
            }
        }
        writer.end_object();
    }
    writer.end_array();
}

bool is_json_object(std::string_view body) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    return parser.parse(body.data(), body.size()).get(root) == simdjson::SUCCESS &&
           root.is_object();
}

/// Reads `{"pseudonym":"<64 hex>"}` where it is allowed.
std::optional<Digest256> stated_pseudonym(std::string_view value, Pseudonyms pseudonyms) {
    if (pseudonyms == Pseudonyms::kRefused || value.front() != '{') {
        return std::nullopt;
    }
    const std::vector<JsonMember> members = json_members(value);
    return members.size() == 1 && members.front().key == "pseudonym"
               ? parse_hex_digest(json_string(members.front().value), HexCase::kLowerOnly)
               : std::nullopt;
}

/// A field that names a person, as the ledger would know it.
struct PersonalId {
    Digest256 digest{};
    bool is_pseudonym = false;
};
using DigestOf = Digest256 (*)(std::string_view);

/// Returns nothing if the field names no person.
std::optional<PersonalId> personal_id(const JsonMember& member, Pseudonyms pseudonyms,
                                      DigestOf digest_of) {
    if (const auto known = stated_pseudonym(member.value, pseudonyms)) {
        return PersonalId{*known, true};
    }
    const std::string text = json_string(member.value);
    return text.empty() ? std::nullopt : std::optional(PersonalId{digest_of(text), false});
}

DigestOf digest_of(std::string_view field) {
    return field == kCustomerId ? customer_id_digest : email_digest;
}

bool names_customer(const std::vector<JsonMember>& members, Pseudonyms pseudonyms) {
    return std::ranges::any_of(members, [&](const JsonMember& member) {
        return member.key == kCustomerId && personal_id(member, pseudonyms, customer_id_digest);
    });
}

}  // namespace

Parsed<BodyIds> read_ids(std::string_view body, Pseudonyms pseudonyms) {
    if (!is_json_object(body)) {
        return std::nullopt;
    }
    BodyIds ids;
    for (const JsonMember& member : json_members(body)) {
        if (member.key == "platform_order_id") {
            ids.orders.push_back(json_string(member.value));
        } else if (member.key == kCustomerId || member.key == kEmail) {
            if (const auto id = personal_id(member, pseudonyms, digest_of(member.key))) {
                (member.key == kEmail ? ids.emails : ids.customers).push_back(id->digest);
            }
        } else if (member.key == "phone" && !json_string(member.value).empty()) {
            ids.phones.push_back(phone_digest(json_string(member.value)));
        }
    }
    return ids;
}

std::string redact_order(std::string_view body, Pseudonyms pseudonyms, const ReplaceId& replace,
                         std::string_view source) {
    const std::vector<JsonMember> members = json_members(body);
    const std::string_view read = names_customer(members, pseudonyms) ? kCustomerId : kEmail;
    std::string redacted;
    JsonWriter writer(redacted);
    writer.begin_object();
    for (const JsonMember& member : members) {
        if (member.key == read) {
            if (const auto id = personal_id(member, pseudonyms, digest_of(read))) {
                const std::optional<Digest256> other = replace(id->digest);
                if (other || id->is_pseudonym) {
                    writer.key(read).raw(pseudonym_json(other.value_or(id->digest)));
                }
            }
        } else if (has_item(kOrderFields, member.key)) {
            writer.key(member.key).raw(member.value);
        } else if (member.key == "discounts") {
            write_elements(writer.key(member.key), member.value, kDiscountFields);
        } else if (member.key == "line_items") {
            write_elements(writer.key(member.key), member.value, kLineFields);
        } else if (member.key == "refund_line_items") {
            write_elements(writer.key(member.key), member.value, kRefundFields);
        }
    }
    if (!source.empty()) {
        writer.key("source").raw(source);
    }
    writer.end_object();
    return redacted;
}

std::optional<std::string> replace_ids(
    std::string_view body, Pseudonyms pseudonyms, const ReplaceId& replace,
    const std::function<bool(std::string_view device)>& is_device) {
    bool changed = false;
    std::string replaced;
    JsonWriter writer(replaced);
    writer.begin_object();
    for (const JsonMember& member : json_members(body)) {
        if (member.key == kCustomerId || member.key == kEmail) {
            const auto id = personal_id(member, pseudonyms, digest_of(member.key));
            const auto other = id ? replace(id->digest) : std::nullopt;
            changed = changed || other;
            writer.key(member.key).raw(other ? pseudonym_json(*other) : std::string(member.value));
        } else if (member.key.ends_with("_anon_id") && is_device(json_string(member.value))) {
            changed = true;  // the record's metadata holds what the ledger reads of it
        } else {
            writer.key(member.key).raw(member.value);
        }
    }
    writer.end_object();
    return changed ? std::optional(std::move(replaced)) : std::nullopt;
}

}  // namespace sluice
