#include <array>
#include <utility>

#include "core/commands/commands.hpp"
#include "core/json/reader.hpp"
#include "core/programs/program.hpp"

namespace sluice {
namespace {

using namespace json_reader;  // NOLINT(google-build-using-namespace)

/// A row of an import: an array.
class RowReader {
public:
    explicit RowReader(const element& row) {
        if (row.get(values_) != simdjson::SUCCESS) {
            throw Malformed{};
        }
        at_ = values_.begin();
    }
    [[nodiscard]] std::size_t columns() const { return values_.size(); }
    element next() {
        if (at_ == values_.end()) {
            throw Malformed{};
        }
        element value = *at_;
        ++at_;
        return value;
    }
    std::optional<std::string> optional_text() {
        const element value = next();
        return value.is_null() ? std::nullopt : std::optional<std::string>(text_of(value));
    }
    std::optional<Timestamp> optional_instant() {
        const element value = next();
        return value.is_null() ? std::nullopt : std::optional(instant_of(value));
    }

private:
    array values_;
    array::iterator at_;
};

std::string text(const element& body, std::string_view name) {
    return std::string(text_of(field(body, name)));
}

template <class Id>
Id id(const element& body, std::string_view name) {
    return Id(text_of(field(body, name)));
}

template <class Id>
std::optional<Id> optional_id(const element& body, std::string_view name) {
    const std::optional<std::string> value = optional_text(body, name);
    return value ? std::optional(Id(*value)) : std::nullopt;
}

template <class Value>
Value nested(const element& value, std::optional<Value> (*decode)(std::string_view)) {
    return require(decode(simdjson::minify(value)));
}

Command decode_program_apply(const element& body) {
    ProgramApply command;
    command.programs = list_of(body, "programs", [](const element& program) {
        return nested<Program>(program, decode_program);
    });
    command.policies = list_of(body, "policies", [](const element& policy) {
        return nested<Policy>(policy, decode_policy);
    });
    command.effective_from = optional_instant(body, "effective_from");
    return command;
}

Command decode_creator_import(const element& body) {
    constexpr std::size_t kColumns = 9;
    CreatorImport command;
    for (const element value : array_field(body, "rows")) {
        RowReader reader(value);
        CreatorImport::Row row;
        row.line = number32_of(reader.next());
        row.creator = CreatorId(text_of(reader.next()));
        row.program = ProgramId(text_of(reader.next()));
        row.code = text_of(reader.next());
        row.group = reader.optional_text();
        row.valid_from = reader.optional_instant();
        row.valid_until = reader.optional_instant();
        row.name = reader.optional_text();
        row.payee = reader.optional_text();
        if (reader.columns() != kColumns) {
            throw Malformed{};
        }
        command.rows.push_back(std::move(row));
    }
    command.effective_from = optional_instant(body, "effective_from");
    return command;
}

Command decode_creator_remove(const element& body) {
    return CreatorRemove{id<CreatorId>(body, "creator"), id<ProgramId>(body, "program"),
                         optional_text(body, "code"), optional_instant(body, "at")};
}

std::optional<Digest256> optional_digest(const element& body, std::string_view name) {
    const std::optional<std::string> hex = optional_text(body, name);
    return hex ? std::optional(require(parse_hex_digest(*hex, HexCase::kLowerOnly))) : std::nullopt;
}

Command decode_click_import(const element& body, Pseudonyms pseudonyms) {
    constexpr std::size_t kColumns = 5;
    ClickImport command;
    for (const element value : array_field(body, "rows")) {
        RowReader reader(value);
        ClickImport::Row row;
        row.line = number32_of(reader.next());
        const element anon = reader.next();
        if (pseudonyms == Pseudonyms::kRead && anon.is_object()) {
            row.pseudonym = optional_digest(anon, "pseudonym");
        } else {
            row.anon = AnonId(text_of(anon));
        }
        row.creator = CreatorId(text_of(reader.next()));
        row.program = ProgramId(text_of(reader.next()));
        row.occurred_at = instant_of(reader.next());
        if (row.anon.empty() == !row.pseudonym || reader.columns() != kColumns) {
            throw Malformed{};
        }
        command.rows.push_back(std::move(row));
    }
    command.effective_from = optional_instant(body, "effective_from");
    return command;
}

Command decode_payout_close(const element& body) {
    PayoutClose command;
    command.until = instant_of(field(body, "until"));
    const auto creator = [](const element& value) { return CreatorId(text_of(value)); };
    command.programs =
        list_of(body, "programs", [](const element& value) { return ProgramId(text_of(value)); });
    command.creators = list_of(body, "creators", creator);
    command.excluded = list_of(body, "excluded", creator);
    command.ignore_minimum = flag_of(body, "ignore_minimum");
    command.expect = text(body, "expect");
    return command;
}

Command decode_payout_move(const element& body) {
    PayoutMove command;
    command.verb = require(parse_payout_verb(text_of(field(body, "verb"))));
    command.ids =
        list_of(body, "ids", [](const element& value) { return std::string(text_of(value)); });
    command.bank_ref = text(body, "bank_ref");
    command.paid_at = optional_instant(body, "paid_at");
    command.message = optional_text(body, "message").value_or("");
    if (command.message.find('/') != std::string::npos) {
        throw Malformed{};  // it names a file
    }
    if (!command.message.empty()) {
        command.sha256 = to_hex(require(optional_digest(body, "sha256")));
        command.expect = to_hex(require(optional_digest(body, "expect")));
    }
    return command;
}

HoldTarget target_of(const element& body) {
    HoldTarget target;
    target.order = optional_id<OrderId>(body, "order");
    if (!target.order) {
        target.creator = id<CreatorId>(body, "creator");
        target.program = id<ProgramId>(body, "program");
    }
    return target;
}

Command decode_release(const element& body) {
    const std::uint32_t of = number32_of(field(body, "of"));
    if (of > static_cast<std::uint32_t>(ReleaseOf::kReject)) {
        throw Malformed{};
    }
    return Release{target_of(body), static_cast<ReleaseOf>(of)};
}

Command decode_attribute(const element& body) {
    return Attribute{id<OrderId>(body, "order"), id<CreatorId>(body, "creator"),
                     id<ProgramId>(body, "program"), flag_of(body, "replace")};
}

Command decode_detach(const element& body) {
    return Detach{optional_id<OrderId>(body, "order"), text(body, "cause"), flag_of(body, "retry")};
}

Command decode_adjust(const element& body) {
    return Adjust{id<OrderId>(body, "order"),
                  require(Decimal::parse_signed(text_of(field(body, "amount"))))};
}

Command decode_credit(const element& body) {
    return Credit{id<CreatorId>(body, "creator"), id<ProgramId>(body, "program"),
                  money_of(field(body, "amount")), optional_id<OrderId>(body, "order"),
                  optional_instant(body, "sale_at")};
}

Command decode_opening_import(const element& body) {
    constexpr std::size_t kColumns = 4;
    OpeningImport command;
    command.at = instant_of(field(body, "at"));
    for (const element value : array_field(body, "rows")) {
        RowReader reader(value);
        OpeningImport::Row row;
        row.line = number32_of(reader.next());
        row.creator = CreatorId(text_of(reader.next()));
        row.program = ProgramId(text_of(reader.next()));
        row.amount = money_of(reader.next());
        if (reader.columns() != kColumns) {
            throw Malformed{};
        }
        command.rows.push_back(std::move(row));
    }
    return command;
}

Command decode_creator_set(const element& body) {
    return CreatorSet{id<CreatorId>(body, "creator"), optional_text(body, "name"),
                      optional_text(body, "payee"), optional_id<ProgramId>(body, "program"),
                      optional_text(body, "group")};
}

Command decode_forget(const element& body) {
    Forget command{require(parse_forget_by(text_of(field(body, "by")))), text(body, "value"),
                   optional_digest(body, "secret")};
    if (const std::optional<std::string> done = optional_text(body, "done")) {
        command.done = Forget::Done{flag_of(body, "refused"), *done};
    } else if (!command.secret || command.value.empty()) {
        throw Malformed{};
    }
    return command;
}

Command decode_dead_replay(const element& body) {
    return DeadReplay{
        list_of(body, "seqs", [](const element& seq) { return SequenceNumber{number_of(seq)}; })};
}

Command decode_body(Topic topic, const element& body, Pseudonyms pseudonyms) {
    switch (topic) {
        case Topic::kProgramApply:
            return decode_program_apply(body);
        case Topic::kCreatorImport:
            return decode_creator_import(body);
        case Topic::kCreatorRemove:
            return decode_creator_remove(body);
        case Topic::kClickImport:
            return decode_click_import(body, pseudonyms);
        case Topic::kPayoutClose:
            return decode_payout_close(body);
        case Topic::kAdjust:
            return decode_adjust(body);
        case Topic::kDeadReplay:
            return decode_dead_replay(body);
        case Topic::kForget:
            return decode_forget(body);
        case Topic::kPayoutMove:
            return decode_payout_move(body);
        case Topic::kApprove:
            return Approve{text(body, "id"), optional_text(body, "expect").value_or(""),
                           optional_text(body, "signature").value_or("")};
        case Topic::kWithdraw:
            return Withdraw{text(body, "id")};
        case Topic::kHold:
            return Hold{target_of(body)};
        case Topic::kRelease:
            return decode_release(body);
        case Topic::kReject:
            return Reject{id<OrderId>(body, "order")};
        case Topic::kAttribute:
            return decode_attribute(body);
        case Topic::kDetach:
            return decode_detach(body);
        case Topic::kCredit:
            return decode_credit(body);
        case Topic::kOpeningImport:
            return decode_opening_import(body);
        case Topic::kWriteOff:
            return WriteOff{id<CreatorId>(body, "creator"), id<ProgramId>(body, "program"),
                            money_of(field(body, "amount"))};
        case Topic::kReverse:
            return Reverse{text(body, "id")};
        case Topic::kAnomalyAck:
            return AnomalyAck{id<OrderId>(body, "order"), text(body, "kind")};
        case Topic::kOrderReset:
            return OrderReset{id<OrderId>(body, "order"), optional_instant(body, "version")};
        case Topic::kPeriodClose:
            return PeriodClose{instant_of(field(body, "until")), flag_of(body, "allow_late")};
        case Topic::kCreatorSet:
            return decode_creator_set(body);
        case Topic::kCreatorRename:
            return CreatorRename{id<CreatorId>(body, "creator"), id<CreatorId>(body, "new_name")};
        default:
            throw Malformed{};
    }
}

}  // namespace

Result<Request> decode_request(Topic topic, std::string_view body, Pseudonyms pseudonyms) {
    const Error malformed{ErrorCode::kInvalid,
                          "the body of the command is not what this program writes"};
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) {
        return malformed;
    }
    try {
        Request request{
            optional_text(root, "key").value_or(""), optional_text(root, "reason").value_or(""),
            decode_body(topic, root, pseudonyms),
            pseudonyms == Pseudonyms::kRead ? optional_digest(root, "content") : std::nullopt};
        return request;
    } catch (const Malformed&) {
        return malformed;
    }
}

}  // namespace sluice
