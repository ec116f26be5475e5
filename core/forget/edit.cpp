#include "core/forget/edit.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/json/slices.hpp"
#include "core/json/writer.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/positions/number_rows.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/soundness.hpp"
#include "core/shops/source.hpp"

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

/// Returns what the ledger reads of an order's source, as JSON, or nothing.
std::string read_source(std::string_view body) {
    const SourceNotes notes = read_source_notes(body);
    std::string text;
    if (notes.empty()) {
        return text;
    }
    JsonWriter json(text);
    json.begin_object().key("notes").begin_array();
    for (const SourceNote note : kSourceNotes) {
        if (notes.has(note)) {
            json.value(to_string(note));
        }
    }
    json.end_array().end_object();
    return text;
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
    const bool is_own = meta.account_number == job_.whom.account;
    const bool is_event = is_of_order(meta.topic) && is_own;
    std::optional<std::string> edited;
    if (is_event) {
        edited = edit_order(meta, body, input.pseudonyms());
    } else if (meta.topic == Topic::kPrivacyRequest && is_own) {
        edited = edit_request(meta, body);
    } else if (is_clicks(meta.topic)) {
        edited = edit_click_record(meta, body);
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
    const bool is_whose = in_shop && std::ranges::any_of(ids->orders, [this](const auto& order) {
                              return job_.found.orders.contains(OrderId(order));
                          });
    if (is_whose) {
        std::string redacted = redact_order(body, pseudonyms, replace, read_source(body));
        return redacted == body ? std::nullopt : std::optional(std::move(redacted));
    }
    return replace_ids(body, pseudonyms, replace, [this](std::string_view device) {
        return names_.device(anon_digest(device)).has_value();
    });
}

/// Takes the person out of a platform's request; the ids of orders stay.
std::optional<std::string> ForgetEdit::edit_request(const RecordMeta& meta,
                                                    std::string_view body) const {
    if (meta.shop_number != job_.whom.shop || !read_ids(body, Pseudonyms::kRefused)) {
        return std::nullopt;
    }
    bool is_whose = false;
    bool names_person = false;
    std::string kept;
    JsonWriter json(kept);
    json.begin_object();
    for (const JsonMember& member : json_members(body)) {
        if (member.key == "platform_customer_id" || member.key == "mail_id") {
            names_person = true;
            is_whose = is_whose || names_.customer(customer_id_digest(json_string(member.value)));
            continue;
        }
        if (member.key == "platform_order_ids") {
            for (const std::string_view id : json_elements(member.value)) {
                is_whose = is_whose || job_.found.orders.contains(OrderId(json_string(id)));
            }
        }
        json.key(member.key).raw(member.value);
    }
    json.end_object();
    return is_whose && names_person ? std::optional(std::move(kept)) : std::nullopt;
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

std::optional<std::string> ForgetEdit::edit_click_record(const RecordMeta& meta,
                                                         std::string_view body) const {
    Parsed<ClickRecord> record = decode_clicks(body);
    if (!record || meta.account_number != job_.whom.account) {
        return std::nullopt;
    }
    bool changed = false;
    for (RecordedClick& row : record->rows) {
        if (const std::optional<Digest256> other = names_.device(row.device)) {
            row.device = *other;
            changed = true;
        }
    }
    return changed ? std::optional(encode_clicks(*record)) : std::nullopt;
}

bool ForgetEdit::edit_clicks(ClickImport& command) {
    bool changed = false;
    for (ClickImport::Row& row : command.rows) {
        const std::optional<Digest256> other = names_.device(row.device);
        if (other && is_of_account(row.program)) {
            row.device = *other;
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
    Forget kept{.by = command.by,
                .value = command.by == ForgetBy::kCreator ? command.value : std::string(),
                .done = Forget::Done{outcome.outcome == CommandOutcome::kRefused, outcome.result}};
    const Digest256 content =
        content_of(*request, meta.topic, meta.account_number, meta.shop_number);
    meta.bulk.reset();
    return EditedInput{.record = record_of(meta, encode_request({request->key, {}, kept, content})),
                       .body_sha256 = input.body_sha256 ? *input.body_sha256 : sha256(body)};
}

namespace {

std::vector<ForgetDone> parts_done(const std::string& command_id, LedgerTxn& txn) {
    return txn.rows(ForgetDone{command_id, {}}, {1, 1});
}

}  // namespace

void forget_clicks(const ForgetJob& job, const ForgetNames& names, LedgerTxn& txn) {
    for (const Digest256& device : job.found.devices) {
        for (const Click& click :
             txn.rows(Click{.account = job.whom.account, .anon = device}, {2, 2})) {
            Click moved = click;
            moved.anon = *names.device(device);
            txn.erase_click(click);
            txn.put_click(moved);
        }
    }
}

void forget_letters(const ForgetJob& job, LedgerTxn& txn) {
    std::vector<SequenceNumber> letters;
    txn.scan_dead([&](const DeadLetter& letter) {
        if (job.is_before(txn.head().node, letter.seq, letter.received_at)) {
            letters.push_back(letter.seq);
        }
    });
    ForgetEdit edit(job, txn);
    for (const SequenceNumber seq : letters) {
        std::optional<DeadLetter> letter = txn.dead_letter(seq);
        auto edited = letter ? edit.edit({letter->record, letter->bulk_body, letter->body_sha256})
                             : std::nullopt;
        if (edited) {
            letter->record = std::move(edited->record);
            letter->body_sha256 = edited->body_sha256;
            letter->bulk_body.clear();
            txn.put(*letter);
        }
    }
}

void forget_ids(const OrderKey& key, const ForgetNames& names, const ForgetJob& job,
                LedgerTxn& txn) {
    OrderState state;
    if (!skip_damaged([&] { return txn.load_order(key, state); })) {
        return;
    }
    const std::vector<WaitKey> waiting = wait_keys(state);
    const std::optional<Digest256> device =
        state.device ? names.device(*state.device) : std::nullopt;
    const std::optional<Digest256> customer = state.customer && key.shop == job.whom.shop
                                                  ? names.customer(*state.customer)
                                                  : std::nullopt;
    if (device) {
        const WaitKey old{key.account, WaitKind::kAnon, *state.device};
        if (std::binary_search(waiting.begin(), waiting.end(), old)) {
            txn.erase(WaitingOrder{old, state.ordered_at, key.shop, key.order_id});
            txn.put(WaitingOrder{
                {key.account, WaitKind::kAnon, *device}, state.ordered_at, key.shop, key.order_id});
        }
        state.device = device;
    }
    if (customer) {
        CustomerOrder row{key.account, key.shop, *state.customer, state.ordered_at, key.order_id};
        if (txn.load(row)) {
            txn.erase(row);
            row.customer = *customer;
            txn.put(row);
        }
        state.customer = customer;
    }
    const bool has_numbers = holds_numbers(job.whom, job.found, state);
    if (has_numbers) {
        const std::vector<std::string> before = all_numbers(state);
        state.numbers.clear();
        state.confirmation_number.clear();
        reindex_numbers(txn, state, before);
    }
    if (device || customer || has_numbers) {
        txn.put_order(state);
    }
}

std::optional<ForgetJob> forget_more(const std::string& command_id, const ForgetFound& found,
                                     bool rows, LedgerTxn& txn) {
    std::optional<ForgetJob> job = load_task(txn, command_id);
    if (!job) {
        return std::nullopt;
    }
    const bool grew = job->found.add(found);
    if (grew) {
        txn.put(encode_task(*job));
        for (const ForgetDone& part : parts_done(command_id, txn)) {
            txn.erase(part);
        }
    }
    forget_letters(*job, txn);
    if ((!grew && !rows) || job->whom.by == ForgetBy::kCreator) {
        return job;
    }
    const ForgetNames names(*job);
    forget_clicks(*job, names, txn);
    std::vector<OrderKey> orders;
    visit_forgotten(job->whom, job->found, txn,
                    [&orders](const OrderState& state) { orders.push_back(state.key); });
    for (const OrderKey& order : orders) {
        forget_ids(order, names, *job, txn);
    }
    return job;
}

bool note_forgotten(const std::string& command_id, const ForgetFound& found,
                    const std::vector<std::string>& nodes, LedgerTxn& txn) {
    const std::optional<ForgetJob> job = load_task(txn, command_id);
    if (!job) {
        return true;
    }
    if (job->found != found) {
        return false;
    }
    for (const std::string& node : nodes) {
        txn.put(ForgetDone{command_id, node});
    }
    std::vector<ForgetDone> parts = parts_done(command_id, txn);
    bool all_done = true;
    txn.scan_heads([&](const LedgerHead& head) {
        all_done = std::ranges::any_of(
            parts, [&](const ForgetDone& part) { return part.node == head.node; });
        return all_done;
    });
    if (all_done) {
        for (const ForgetDone& part : parts) {
            txn.erase(part);
        }
        ForgetTask task{.command_id = command_id};
        txn.erase(task);
    }
    return true;
}

}  // namespace sluice
