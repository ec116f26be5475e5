// Commands as JSON: one list of members for both directions (member_writer.hpp).
#include <utility>

#include "core/commands/commands.hpp"
#include "core/json/member_reader.hpp"
#include "core/json/member_writer.hpp"
#include "core/programs/members.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {
namespace {

/// A digest as a text of a command.
std::optional<std::string> parse_digest_text(std::string_view hex) {
    const auto digest = HexDigest()(hex);
    return digest ? std::optional(to_hex(*digest)) : std::nullopt;
}

/// A MemberReader of an input that may have been edited after it was stored.
class CommandReader : public MemberReader {
public:
    CommandReader(const Element& body, Pseudonyms pseudonyms)
        : MemberReader(body), pseudonyms_(pseudonyms) {}
    [[nodiscard]] Pseudonyms pseudonyms() const noexcept { return pseudonyms_; }

private:
    Pseudonyms pseudonyms_;
};

// ---- Commands that set things up ----------------------------------------------------------------

void each_field(auto& members, Is<ProgramApply> auto& command) {
    members("programs", command.programs);
    members("policies", command.policies);
    members("effective_from", command.effective_from);
}

/// Rows are arrays, because an import may have a million. Absent is null.
void each_field(auto& members, Is<CreatorImport> auto& command) {
    members.rows("rows", command.rows, [](auto& items, auto& row) {
        items.item(row.line);
        items.item(row.creator);
        items.item(row.program);
        items.item(row.code);
        items.item(row.group);
        items.item(row.valid_from);
        items.item(row.valid_until);
        items.item(row.name);
        items.item(row.payee);
    });
    members("effective_from", command.effective_from);
}

void each_field(auto& members, Is<CreatorRemove> auto& command) {
    members("creator", command.creator);
    members("program", command.program);
    members("code", command.code);
    members("at", command.at);
}

void device_item(MemberWriter& items, const ClickImport::Row& row, Pseudonyms /*pseudonyms*/) {
    items.json().begin_object().field("sha256", to_hex(row.device)).end_object();
}

/// Imports of earlier releases have ids, and pseudonyms for those of forgotten persons.
void device_item(MemberReader& items, ClickImport::Row& row, Pseudonyms pseudonyms) {
    const MemberReader::Element device = items.next();
    std::string_view id;
    if (device.get(id) == simdjson::SUCCESS) {
        expect(!id.empty());
        row.device = anon_digest(id);
        return;
    }
    expect(device.is_object());
    const MemberReader members{device};
    const bool is_digest = pseudonyms == Pseudonyms::kRefused || members.wants("sha256", true);
    members(is_digest ? "sha256" : "pseudonym", row.device, HexDigest());
}

template <class Members>
void each_field(Members& members, Is<ClickImport> auto& command) {
    Pseudonyms pseudonyms = Pseudonyms::kRefused;
    if constexpr (Members::kReads) {
        pseudonyms = members.pseudonyms();
    }
    members.rows("rows", command.rows, [pseudonyms](auto& items, auto& row) {
        items.item(row.line);
        device_item(items, row, pseudonyms);
        items.item(row.creator);
        items.item(row.program);
        items.item(row.occurred_at);
    });
    members("effective_from", command.effective_from);
}

void each_field(auto& members, Is<CreatorSet> auto& command) {
    members("creator", command.creator);
    members("name", command.name);
    members("payee", command.payee);
    members("program", command.program);
    members("group", command.group);
}

void each_field(auto& members, Is<CreatorRename> auto& command) {
    members("creator", command.creator);
    members("new_name", command.new_name);
}

void each_field(auto& members, Is<DeadReplay> auto& command) {
    members("seqs", command.seqs);
}

void each_field(auto& members, Is<DeadDiscard> auto& command) {
    members("seqs", command.seqs);
}

template <class Members>
void each_field(Members& members, Is<LinkSet> auto& command) {
    members("verb", command.verb, parse_name<LinkVerb>);
    members.rows("rows", command.rows, [](auto& items, auto& row) {
        items.item(row.line);
        items.item(row.link);
        items.item(row.program);
        items.item(row.creator);
        items.item(row.destination);
        items.item(row.deep);
    });
    if (Members::kReads) {
        for (const LinkSet::Row& row : command.rows) {
            const bool is_whole = row.program && row.creator && row.destination && row.deep;
            expect(is_link_id(row.link.view()) && (command.verb != LinkVerb::kCreate || is_whole));
        }
        expect(command.rows.size() == 1 || command.verb == LinkVerb::kCreate);
    }
}

template <class Members>
void each_field(Members& members, Is<Forget> auto& command) {
    members("by", command.by, parse_name<ForgetBy>);
    members("value", command.value);
    members("secret", command.secret, HexDigest());
    if (members.wants("done", command.done.has_value())) {
        if constexpr (Members::kReads) {
            command.done = Forget::Done();
        }
        members("refused", command.done->refused);
        members("done", command.done->result);
    } else if (Members::kReads) {
        expect(command.secret && !command.value.empty());
    }
}

// ---- Commands that move money -------------------------------------------------------------------

void each_field(auto& members, Is<PayoutClose> auto& command) {
    members("until", command.until);
    members("programs", command.programs);
    members("creators", command.creators);
    members("excluded", command.excluded);
    members("ignore_minimum", command.ignore_minimum);
    members("expect", command.expect);
}

template <class Members>
void each_field(Members& members, Is<PayoutMove> auto& command) {
    members("verb", command.verb, parse_name<PayoutVerb>);
    members("ids", command.ids);
    members("bank_ref", command.bank_ref);
    members("paid_at", command.paid_at);
    members.unless_default("message", command.message);
    if (Members::kReads) {
        expect(command.message.find('/') == std::string::npos);  // it names a file
    }
    if (!command.message.empty()) {
        members("sha256", command.sha256, parse_digest_text);
        members.unless_default("payees", command.payees, parse_digest_text);
        members("expect", command.expect, parse_digest_text);
    } else {
        members.unless_default("expect", command.expect, parse_digest_text);
    }
}

void each_field(auto& members, Is<Approve> auto& command) {
    members("id", command.id);
    members.unless_default("expect", command.expect);
    members.unless_default("signature", command.signature);
    members.unless_default("payees", command.payees, parse_digest_text);
}

void each_field(auto& members, Is<Withdraw> auto& command) {
    members("id", command.id);
}

void each_field(auto& members, Is<HoldTarget> auto& target) {
    members("order", target.order);
    if (!target.order) {
        members("creator", target.creator);
        members("program", target.program);
    }
}

void each_field(auto& members, Is<Hold> auto& command) {
    each_field(members, command.target);
}

template <class Members>
void each_field(Members& members, Is<Release> auto& command) {
    each_field(members, command.target);
    auto of = static_cast<std::uint32_t>(command.of);
    members("of", of);
    if constexpr (Members::kReads) {
        expect(of <= static_cast<std::uint32_t>(ReleaseOf::kReject));
        command.of = static_cast<ReleaseOf>(of);
    }
}

void each_field(auto& members, Is<Reject> auto& command) {
    members("order", command.order);
}

template <class Members>
void code_orders(Members& members, auto& orders) {
    if (!members.wants("code", orders.has_value())) {
        return;
    }
    if constexpr (Members::kReads) {
        orders = CodeOrders();
    }
    members("code", orders->code);
    members.rows("orders", orders->orders, [](auto& items, auto& row) {
        items.item(row.shop.value);
        items.item(row.order);
    });
    members("from", orders->from);
    members("until", orders->until);
}

void each_field(auto& members, Is<Attribute> auto& command) {
    members("order", command.order);
    code_orders(members, command.orders);
    members("creator", command.creator);
    members("program", command.program);
    members("replace", command.replace);
}

void each_field(auto& members, Is<Detach> auto& command) {
    members("order", command.order);
    members("cause", command.cause);
    members("retry", command.retry);
    code_orders(members, command.orders);
}

void each_field(auto& members, Is<Adjust> auto& command) {
    members("order", command.order);
    members("amount", command.amount, Decimal::parse_signed);
}

void each_field(auto& members, Is<Credit> auto& command) {
    members("creator", command.creator);
    members("program", command.program);
    members("amount", command.amount);
    members("order", command.order);
    members("sale_at", command.sale_at);
}

void each_field(auto& members, Is<OpeningImport> auto& command) {
    members("at", command.at);
    members.rows("rows", command.rows, [](auto& items, auto& row) {
        items.item(row.line);
        items.item(row.creator);
        items.item(row.program);
        items.item(row.amount);
    });
}

struct CurrencyCode {
    std::optional<Currency> operator()(std::string_view text) const {
        return Currency::parse(text);
    }
    static std::string text(Currency currency) { return std::string(currency.code()); }
};

void each_field(auto& members, Is<WriteOff> auto& command) {
    members("creator", command.creator);
    members("program", command.program);
    members("amount", command.amount);
    members("currency", command.currency, CurrencyCode());
}

void each_field(auto& members, Is<Reverse> auto& command) {
    members("id", command.id);
}

void each_field(auto& members, Is<AnomalyAck> auto& command) {
    members("order", command.order);
    members("kind", command.kind);
}

void each_field(auto& members, Is<OrderReset> auto& command) {
    members("order", command.order);
    members("version", command.version);
}

void each_field(auto& members, Is<PeriodClose> auto& command) {
    members("until", command.until);
    members("allow_late", command.allow_late);
}

void each_field(auto& members, Is<AcceptGap> auto& command) {
    members("first", command.first);
    members("last", command.last);
    members.unless_default("asked_by", command.asked_by);
}

// ---- The request --------------------------------------------------------------------------------

/// Makes the command of this topic. Throws Malformed if no command has it.
template <std::size_t I = 0>
Command command_of(Topic topic) {
    if constexpr (I < std::variant_size_v<Command>) {
        Command command(std::in_place_index<I>);
        return topic_of(command) == topic ? command : command_of<I + 1>(topic);
    } else {
        throw Malformed{};
    }
}

}  // namespace

std::string encode_request(const Request& request) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    MemberWriter members(json);
    members("key", request.key);
    members("reason", request.reason);
    members("content", request.content, HexDigest());
    std::visit([&members](const auto& command) { each_field(members, command); }, request.command);
    json.end_object();
    return text;
}

Status check_request(const Request& request) {
    return decode_request(topic_of(request.command), encode_request(request))
               ? Status::success()
               : invalid("a text of the command is not UTF-8: nothing was stored");
}

Result<Request> decode_request(Topic topic, std::string_view body, Pseudonyms pseudonyms) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    try {
        expect(parser.parse(body.data(), body.size()).get(root) == simdjson::SUCCESS);
        CommandReader members(root, pseudonyms);
        Request request;
        members.unless_default("key", request.key);
        members.unless_default("reason", request.reason);
        request.command = command_of(topic);
        std::visit([&members](auto& command) { each_field(members, command); }, request.command);
        if (pseudonyms == Pseudonyms::kRead) {
            members("content", request.content, HexDigest());
        }
        return request;
    } catch (const Malformed&) {
        return invalid("the body of the command is not what this program writes");
    }
}

}  // namespace sluice
