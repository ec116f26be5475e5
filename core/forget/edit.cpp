#include "core/forget/edit.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

/// Replaces a name.
constexpr const char* kForgottenText = "-";

/// Returns whether the text changed.
bool blank(std::optional<std::string>& text) {
    const bool has_one = text && !text->empty() && *text != kForgottenText;
    if (has_one) {
        text = kForgottenText;
    }
    return has_one;
}

/// Replaces a payee by its digest, which journal entries and payouts prove.
bool blank_payee(std::optional<std::string>& payee) {
    const bool has_one = payee && !is_forgotten_payee(*payee) && !payee->empty();
    if (has_one) {
        payee = forgotten_payee(*payee);
    }
    return has_one;
}

std::string record_of(const RecordMeta& meta, std::string_view body) {
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    return std::string(envelope.prefix()).append(body);
}

}  // namespace

std::optional<EditedInput> ForgetEdit::edit(const StoredInput& input) {
    const Result<RecordView> record = decode_record(input.record);
    if (!record || is_catalog(record->meta.topic)) {
        return std::nullopt;
    }
    RecordMeta meta = record->meta;
    const std::string_view body = meta.bulk ? input.bulk_body : record->body;
    const bool is_event = is_order(meta.topic) && meta.account_number == job_.whom.account;
    std::optional<std::string> edited;
    if (is_event) {
        edited = edit_order(meta, body, input.pseudonyms());
    } else if (is_command(meta.topic)) {
        edited = edit_command(meta, body, input);
    }
    const std::optional<Digest256> device =
        is_event ? device_of(meta, input.pseudonyms()) : std::nullopt;
    const std::optional<Digest256> other = device ? names_.device(*device) : std::nullopt;
    if (!edited && !other) {
        return std::nullopt;
    }
    if (other) {
        meta.anon_id = {};
        meta.anon_pseudonym = other;
    }
    EditedInput made;
    made.keeps_bulk = meta.bulk && body.empty();
    made.body_sha256 = input.body_sha256 ? *input.body_sha256
                       : made.keeps_bulk ? meta.bulk->sha256
                                         : sha256(body);
    if (!made.keeps_bulk) {
        meta.bulk.reset();
    }
    made.record = record_of(meta, edited ? std::string_view(*edited) : body);
    return made;
}

std::optional<std::string> ForgetEdit::edit_order(const RecordMeta& meta, std::string_view body,
                                                  Pseudonyms pseudonyms) const {
    const std::optional<BodyIds> ids = read_ids(body, pseudonyms);
    if (!ids) {
        return std::nullopt;
    }
    const bool in_shop = meta.shop_number == job_.whom.shop;
    const ReplaceId replace = [&](const Digest256& digest) {
        return in_shop ? names_.customer(digest) : std::nullopt;
    };
    const bool is_whose =
        in_shop && std::any_of(ids->orders.begin(), ids->orders.end(), [this](const auto& order) {
            return job_.found.orders.contains(OrderId(order));
        });
    if (is_whose) {
        std::string redacted = redact_order(body, pseudonyms, replace);
        return redacted == body ? std::nullopt : std::optional(std::move(redacted));
    }
    return replace_ids(body, pseudonyms, replace, [this](std::string_view device) {
        return names_.device(anon_digest(device)).has_value();
    });
}

std::optional<std::string> ForgetEdit::edit_command(const RecordMeta& meta, std::string_view body,
                                                    const StoredInput& input) {
    const bool clicks = meta.topic == Topic::kClickImport && !job_.found.devices.empty();
    const bool creators =
        (meta.topic == Topic::kCreatorImport || meta.topic == Topic::kCreatorSet) &&
        !job_.found.creators.empty();
    if (!clicks && !creators) {
        return std::nullopt;
    }
    Result<Request> request = decode_request(meta.topic, body, input.pseudonyms());
    if (!request) {
        return std::nullopt;
    }
    const Digest256 content =
        content_of(*request, meta.topic, meta.account_number, meta.shop_number);
    bool changed = false;
    if (auto* rows = std::get_if<ClickImport>(&request->command)) {
        changed = edit_clicks(*rows);
    } else if (auto* creator_rows = std::get_if<CreatorImport>(&request->command)) {
        changed = edit_creators(*creator_rows);
    } else if (auto* set = std::get_if<CreatorSet>(&request->command)) {
        changed = edit_creator(*set, meta);
    }
    if (!changed) {
        return std::nullopt;
    }
    request->content = content;
    return encode_request(*request);
}

bool ForgetEdit::is_of_account(const ProgramId& program) {
    const auto [known, added] = accounts_.try_emplace(program);
    if (added) {
        const std::optional<ProgramRow> row = ledger_.program(program);
        known->second = row ? std::optional(row->program.account) : std::nullopt;
    }
    return !known->second || *known->second == job_.whom.account;
}

bool ForgetEdit::edit_clicks(ClickImport& command) {
    bool changed = false;
    for (ClickImport::Row& row : command.rows) {
        const Digest256 device = row.pseudonym ? *row.pseudonym : anon_digest(row.anon.view());
        const std::optional<Digest256> other = names_.device(device);
        if (other && is_of_account(row.program)) {
            row.anon = AnonId();
            row.pseudonym = other;
            changed = true;
        }
    }
    return changed;
}

bool ForgetEdit::edit_creators(CreatorImport& command) {
    bool changed = false;
    for (CreatorImport::Row& row : command.rows) {
        if (job_.found.creators.contains(row.creator) && is_of_account(row.program)) {
            changed = blank(row.name) || changed;
            changed = blank_payee(row.payee) || changed;
        }
    }
    return changed;
}

bool ForgetEdit::edit_creator(CreatorSet& command, const RecordMeta& meta) const {
    if (meta.account_number != job_.whom.account ||
        !job_.found.creators.contains(command.creator)) {
        return false;
    }
    const bool name = blank(command.name);
    return blank_payee(command.payee) || name;
}

std::optional<EditedInput> forgotten_command(const StoredInput& input, const CommandRow& outcome) {
    const Result<RecordView> record = decode_record(input.record);
    if (!record) {
        return std::nullopt;
    }
    RecordMeta meta = record->meta;
    const std::string_view body = meta.bulk ? input.bulk_body : record->body;
    const Result<Request> request = decode_request(Topic::kForget, body, input.pseudonyms());
    if (!request) {
        return std::nullopt;
    }
    const auto& command = std::get<Forget>(request->command);
    Forget kept;
    kept.by = command.by;
    kept.value = command.by == ForgetBy::kCreator ? command.value : std::string();
    kept.done = Forget::Done{outcome.outcome == CommandOutcome::kRefused, outcome.result};
    const Digest256 content =
        content_of(*request, meta.topic, meta.account_number, meta.shop_number);
    meta.bulk.reset();
    EditedInput made;
    made.body_sha256 = input.body_sha256 ? *input.body_sha256 : sha256(body);
    made.record = record_of(meta, encode_request({request->key, {}, kept, content}));
    return made;
}

}  // namespace sluice
