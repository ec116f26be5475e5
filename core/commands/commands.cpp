#include "core/commands/commands.hpp"

#include <array>
#include <utility>

#include "core/json/writer.hpp"
#include "core/programs/program.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

/// In the order of the variant's alternatives.
constexpr std::array kTopics{
    Topic::kProgramApply, Topic::kCreatorImport, Topic::kCreatorRemove, Topic::kClickImport,
    Topic::kPayoutClose,  Topic::kAdjust,        Topic::kDeadReplay,    Topic::kForget,
    Topic::kPayoutMove,   Topic::kApprove,       Topic::kWithdraw,      Topic::kHold,
    Topic::kRelease,      Topic::kReject,        Topic::kAttribute,     Topic::kDetach,
    Topic::kCredit,       Topic::kReverse,       Topic::kAnomalyAck,    Topic::kOrderReset,
    Topic::kPeriodClose,  Topic::kCreatorSet,    Topic::kCreatorRename, Topic::kOpeningImport,
    Topic::kWriteOff};
static_assert(kTopics.size() == std::variant_size_v<Command>);

constexpr std::array<std::pair<PayoutVerb, std::string_view>, 6> kVerbs{{
    {PayoutVerb::kSent, "sent"},
    {PayoutVerb::kSettle, "settle"},
    {PayoutVerb::kVoid, "void"},
    {PayoutVerb::kFailed, "failed"},
    {PayoutVerb::kReturned, "returned"},
    {PayoutVerb::kRepoint, "repoint"},
}};

constexpr std::array<std::pair<ForgetBy, std::string_view>, 6> kForgetBy{{
    {ForgetBy::kCustomer, "customer"},
    {ForgetBy::kEmail, "email"},
    {ForgetBy::kPhone, "phone"},
    {ForgetBy::kOrder, "order"},
    {ForgetBy::kDevice, "device"},
    {ForgetBy::kCreator, "creator"},
}};

class Encoder {
public:
    void operator()(const ProgramApply& command) {
        writer_.key("programs").begin_array();
        for (const Program& program : command.programs) {
            write_program(writer_, program);
        }
        writer_.end_array().key("policies").begin_array();
        for (const Policy& policy : command.policies) {
            write_policy(writer_, policy);
        }
        writer_.end_array();
        instant("effective_from", command.effective_from);
    }

    /// Writes rows as arrays, because an import may have a million. Absent is null.
    void operator()(const CreatorImport& command) {
        writer_.key("rows").begin_array();
        for (const CreatorImport::Row& row : command.rows) {
            writer_.begin_array().value(row.line).value(row.creator.view());
            writer_.value(row.program.view()).value(row.code);
            item(row.group).item(row.valid_from).item(row.valid_until);
            item(row.name).item(row.payee).writer_.end_array();
        }
        writer_.end_array();
        instant("effective_from", command.effective_from);
    }

    void operator()(const CreatorRemove& command) {
        text("creator", command.creator.view());
        text("program", command.program.view());
        optional("code", command.code);
        instant("at", command.at);
    }

    void operator()(const ClickImport& command) {
        writer_.key("rows").begin_array();
        for (const ClickImport::Row& row : command.rows) {
            writer_.begin_array().value(row.line);
            row.pseudonym ? writer_.raw(pseudonym_json(*row.pseudonym))
                          : writer_.value(row.anon.view());
            writer_.value(row.creator.view()).value(row.program.view());
            writer_.value(row.occurred_at.to_string()).end_array();
        }
        writer_.end_array();
        instant("effective_from", command.effective_from);
    }

    void operator()(const PayoutClose& command) {
        text("until", command.until.to_string());
        ids("programs", command.programs);
        ids("creators", command.creators);
        ids("excluded", command.excluded);
        writer_.field("ignore_minimum", command.ignore_minimum);
        text("expect", command.expect);
    }

    void operator()(const PayoutMove& command) {
        text("verb", to_string(command.verb));
        writer_.key("ids").begin_array();
        for (const std::string& id : command.ids) {
            writer_.value(id);
        }
        writer_.end_array();
        text("bank_ref", command.bank_ref);
        instant("paid_at", command.paid_at);
        if (!command.message.empty()) {
            text("message", command.message);
            text("sha256", command.sha256);
            text("expect", command.expect);
        }
    }

    void operator()(const Approve& command) {
        text("id", command.id);
        if (!command.expect.empty()) {
            text("expect", command.expect);
        }
        if (!command.signature.empty()) {
            text("signature", command.signature);
        }
    }
    void operator()(const Withdraw& command) { text("id", command.id); }
    void operator()(const Hold& command) { target(command.target); }
    void operator()(const Release& command) {
        target(command.target);
        writer_.field("of", static_cast<std::uint32_t>(command.of));
    }
    void operator()(const Reject& command) { text("order", command.order.view()); }

    void operator()(const Attribute& command) {
        text("order", command.order.view());
        text("creator", command.creator.view());
        text("program", command.program.view());
        writer_.field("replace", command.replace);
    }

    void operator()(const Detach& command) {
        if (command.order) {
            text("order", command.order->view());
        }
        text("cause", command.cause);
        writer_.field("retry", command.retry);
    }

    void operator()(const Adjust& command) {
        text("order", command.order.view());
        text("amount", command.amount.to_string());
    }

    void operator()(const Credit& command) {
        text("creator", command.creator.view());
        text("program", command.program.view());
        text("amount", sluice::to_string(command.amount));
        if (command.order) {
            text("order", command.order->view());
        }
        instant("sale_at", command.sale_at);
    }

    void operator()(const OpeningImport& command) {
        text("at", command.at.to_string());
        writer_.key("rows").begin_array();
        for (const OpeningImport::Row& row : command.rows) {
            writer_.begin_array().value(row.line).value(row.creator.view());
            writer_.value(row.program.view()).value(sluice::to_string(row.amount)).end_array();
        }
        writer_.end_array();
    }

    void operator()(const WriteOff& command) {
        text("creator", command.creator.view());
        text("program", command.program.view());
        text("amount", sluice::to_string(command.amount));
    }

    void operator()(const Reverse& command) { text("id", command.id); }

    void operator()(const AnomalyAck& command) {
        text("order", command.order.view());
        text("kind", command.kind);
    }

    void operator()(const OrderReset& command) {
        text("order", command.order.view());
        instant("version", command.version);
    }

    void operator()(const PeriodClose& command) {
        text("until", command.until.to_string());
        writer_.field("allow_late", command.allow_late);
    }

    void operator()(const CreatorSet& command) {
        text("creator", command.creator.view());
        optional("name", command.name);
        optional("payee", command.payee);
        if (command.program) {
            text("program", command.program->view());
        }
        optional("group", command.group);
    }

    void operator()(const CreatorRename& command) {
        text("creator", command.creator.view());
        text("new_name", command.new_name.view());
    }

    void operator()(const DeadReplay& command) {
        writer_.key("seqs").begin_array();
        for (const SequenceNumber seq : command.seqs) {
            writer_.value(seq.value);
        }
        writer_.end_array();
    }

    void operator()(const Forget& command) {
        text("by", to_string(command.by));
        text("value", command.value);
        digest("secret", command.secret);
        if (command.done) {
            writer_.field("refused", command.done->refused);
            text("done", command.done->result);
        }
    }

    std::string encode(const Request& request) && {
        writer_.begin_object();
        text("key", request.key);
        text("reason", request.reason);
        digest("content", request.content);
        std::visit(*this, request.command);
        writer_.end_object();
        return std::move(json_);
    }

private:
    void text(std::string_view name, std::string_view value) { writer_.key(name).value(value); }
    void optional(std::string_view name, const std::optional<std::string>& value) {
        if (value) {
            text(name, std::string_view(*value));
        }
    }
    void digest(std::string_view name, const std::optional<Digest256>& value) {
        if (value) {
            text(name, to_hex(*value));
        }
    }
    void instant(std::string_view name, const std::optional<Timestamp>& at) {
        if (at) {
            text(name, at->to_string());
        }
    }
    Encoder& item(const std::optional<std::string>& value) {
        value ? writer_.value(*value) : writer_.null();
        return *this;
    }
    Encoder& item(const std::optional<Timestamp>& at) {
        at ? writer_.value(at->to_string()) : writer_.null();
        return *this;
    }
    template <class Id>
    void ids(std::string_view name, const std::vector<Id>& list) {
        writer_.key(name).begin_array();
        for (const Id& id : list) {
            writer_.value(id.view());
        }
        writer_.end_array();
    }
    void target(const HoldTarget& target) {
        if (target.order) {
            text("order", target.order->view());
        } else {
            text("creator", target.creator.view());
            text("program", target.program.view());
        }
    }

    std::string json_;
    JsonWriter writer_{json_};
};

}  // namespace

std::string_view to_string(PayoutVerb verb) noexcept {
    for (const auto& [value, name] : kVerbs) {
        if (value == verb) {
            return name;
        }
    }
    return "unknown";
}

std::optional<PayoutVerb> parse_payout_verb(std::string_view text) noexcept {
    for (const auto& [value, name] : kVerbs) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

std::string_view to_string(ForgetBy by) noexcept {
    for (const auto& [value, name] : kForgetBy) {
        if (value == by) {
            return name;
        }
    }
    return "unknown";
}

std::optional<ForgetBy> parse_forget_by(std::string_view text) noexcept {
    for (const auto& [value, name] : kForgetBy) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

Topic topic_of(const Command& command) noexcept {
    return kTopics[command.index()];
}

Digest256 content_of(const Request& request, Topic topic, AccountNumber account, ShopNumber shop) {
    if (request.content) {
        return *request.content;
    }
    Request bare = request;
    bare.key.clear();
    return sha256(std::to_string(static_cast<unsigned>(topic)) + " " +
                  std::to_string(account.value) + " " + std::to_string(shop.value) + " " +
                  encode_request(bare));
}

std::string encode_request(const Request& request) {
    return Encoder().encode(request);
}

}  // namespace sluice
