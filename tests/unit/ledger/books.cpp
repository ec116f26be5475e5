#include "unit/ledger/books.hpp"

#include <stdexcept>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/journal/journal.hpp"
#include "core/json/writer.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/input_digest.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/attribution.hpp"
#include "core/statements/statements.hpp"

namespace sluice::test {
namespace {

void write_lines(JsonWriter& json, const OrderText& order) {
    json.key("line_items").begin_array();
    for (const LineText& line : order.lines) {
        json.begin_object().field("line_item_id", line.id).field("sku", line.sku);
        json.field("amount", line.amount).field("tax", line.tax).field("quantity", line.quantity);
        if (!line.variant_sku.empty()) {
            json.field("variant_sku", line.variant_sku);
        }
        json.end_object();
    }
    json.end_array();
}

void write_refunds(JsonWriter& json, const OrderText& order) {
    if (order.refunds.empty()) {
        return;
    }
    json.key("refund_line_items").begin_array();
    for (const RefundText& refund : order.refunds) {
        json.begin_object().field("refund_line_item_id", refund.id);
        json.field("line_item_id", refund.line).field("sku", "SKU");
        json.field("platform_refunded_at", "2026-01-05T00:00:00Z");
        json.field("amount", refund.amount).field("tax", refund.tax);
        json.field("quantity", refund.quantity).end_object();
    }
    json.end_array();
}

void write_discounts(JsonWriter& json, const OrderText& order) {
    if (order.codes.empty()) {
        return;
    }
    json.key("discounts").begin_array();
    for (const std::string& code : order.codes) {
        json.begin_object().field("code", code).field("type", "DISCOUNT_CODE");
        json.field("value_type", "PERCENTAGE").field("value", "5").end_object();
    }
    json.end_array();
}

std::string sum_of_lines(const OrderText& order) {
    Decimal sum;
    for (const LineText& line : order.lines) {
        sum += *Decimal::parse(line.amount);
    }
    return sum.to_string();
}

std::string short_types(std::uint8_t types) {
    switch (types) {
        case 1:
            return "CODE";
        case 2:
            return "LANDED";
        case 3:
            return "CODE+LANDED";
        default:
            return "none";
    }
}

}  // namespace

Timestamp instant(std::string_view text) {
    const std::optional<Timestamp> at = Timestamp::parse(text);
    if (!at) {
        throw std::invalid_argument("no instant: " + std::string(text));
    }
    return *at;
}

std::string to_json(const OrderText& order) {
    std::string text;
    JsonWriter json(text);
    json.begin_object().field("platform_order_id", order.id);
    json.field("platform_ordered_at", order.ordered);
    if (!order.updated.empty()) {
        json.field("platform_updated_at", order.updated);
    }
    if (!order.cancelled.empty()) {
        json.field("platform_cancelled_at", order.cancelled);
    }
    json.field("amount", order.amount.empty() ? sum_of_lines(order) : order.amount);
    json.field("tax", order.tax).field("shipping", order.shipping);
    json.field("currency_code", order.currency);
    if (!order.customer.empty()) {
        json.field("platform_customer_id", order.customer);
    }
    if (!order.email.empty()) {
        json.field("email", order.email);
    }
    if (!order.phone.empty()) {
        json.field("phone", order.phone);
    }
    if (!order.numbers.empty()) {
        json.key("platform_order_numbers").begin_array();
        for (const std::string& number : order.numbers) {
            json.value(number);
        }
        json.end_array();
    }
    if (!order.confirmation.empty()) {
        json.field("platform_confirmation_number", order.confirmation);
    }
    write_discounts(json, order);
    write_lines(json, order);
    write_refunds(json, order);
    if (!order.notes.empty()) {
        json.key("source").begin_object().key("notes").begin_array();
        for (const std::string& note : order.notes) {
            json.value(note);
        }
        json.end_array().end_object();
    }
    json.end_object();
    return text;
}

Program program(std::string_view id, std::string_view default_rate) {
    Program program;
    program.id = ProgramId(id);
    program.account_id = AccountId("acme");
    program.account = {1};
    program.default_rate = parse_rate(default_rate).value();
    program.late_days = 366;
    return program;
}

Rule rule(RuleMatch match, std::string_view value, std::string_view rate) {
    return {match, std::string(value), parse_rate(rate).value()};
}

void Books::from_shop(std::string_view shop_id) {
    shop_id_ = shop_id;
    const bool other = shop_id == "shop-9";
    account_id_ = other ? "other" : "acme";
    account_ = {other ? 2U : 1U};
    shop_ = {other ? 9U : (shop_id == "shop-2" ? 2U : 1U)};
}

Applied Books::input(std::string_view record, std::string_view bulk_body,
                     std::optional<std::string> bulk_error) {
    ++seq_.value;
    Kept kept{seq_, std::string(record), std::string(bulk_body), std::move(bulk_error), {}};
    const Applied applied = apply_and_commit(kept);
    for (bool left = true; left;) {
        const std::unique_ptr<LedgerTxn> txn = ledger_.begin(node_);
        left = applier_.work(*txn, work_slice);
        txn->commit();
    }
    const Result<RecordView> view = decode_record(record);
    if (view && view->meta.topic == Topic::kForget) {
        finish_forget(std::move(kept));
    } else {
        archive_.push_back(std::move(kept));
    }
    return applied;
}

ScanInputs Books::scan_archive() const {
    return [this](const std::function<void(const StoredInput&)>& visit) -> Status {
        for (const Kept& kept : archive_) {
            visit({kept.record, kept.bulk_body, kept.body_sha256});
        }
        return {};
    };
}

/// Does the worker's part: edits the archive, archives the rest of the command, wipes the task.
void Books::finish_forget(Kept command) {
    const std::unique_ptr<LedgerTxn> txn = ledger_.begin(node_);
    const std::optional<CommandRow> stored = txn->command(command.seq);
    if (!stored) {  // a dead letter
        archive_.push_back(std::move(command));
        return;
    }
    const CommandRow& row = *stored;
    if (const std::optional<ForgetJob> job = load_task(*txn, row.command_id)) {
        ForgetEdit edit(*job, *txn);
        for (Kept& kept : archive_) {
            if (auto edited = edit.edit({kept.record, kept.bulk_body, kept.body_sha256})) {
                kept.digest = kept.digest ? *kept.digest : input_digest(kept.record);
                kept.record = std::move(edited->record);
                kept.body_sha256 = edited->body_sha256;
                kept.bulk_body.clear();
            }
        }
        if (search_more(*job, *txn, scan_archive()).value() != job->found) {
            throw std::logic_error("what was forgotten is found again");
        }
        if (!note_forgotten(row.command_id, job->found, {node_}, *txn)) {
            throw std::logic_error("a forget grew on its own node");
        }
        txn->commit();
    }
    const std::optional<EditedInput> left = forgotten_command({command.record, {}}, row);
    archive_.push_back(
        {command.seq, left->record, {}, {}, left->body_sha256, input_digest(command.record)});
}

void Books::rebuild_from(const std::vector<Kept>& archive) {
    for (const Kept& kept : archive) {
        apply_and_commit(kept);
        for (bool left = true; left;) {
            const std::unique_ptr<LedgerTxn> txn = ledger_.begin(node_);
            left = applier_.work(*txn, work_slice);
            txn->commit();
        }
    }
}

Applied Books::forget(ForgetBy by, std::string_view value) {
    const std::string own = "R" + std::to_string(seq_.value);
    const bool named = std::exchange(names_shop, by != ForgetBy::kCreator);
    const Applied applied = command(Forget{by, std::string(value), sha256(own)});
    names_shop = named;
    return applied;
}

/// Again, as the worker does, when another node was in the way, or once a FORGET was looked for.
Applied Books::apply_and_commit(const Kept& kept) {
    Input input{kept.seq, kept.record, kept.bulk_body, kept.dead_reason, kept.body_sha256, {}};
    input.digest = kept.digest;
    ForgetFound found;
    for (;;) {
        try {
            const std::unique_ptr<LedgerTxn> txn = ledger_.begin(node_);
            (void)txn->expect({&input, 1}, false);
            const Applied applied = applier_.apply(input, *txn);
            if (before_commit) {
                std::exchange(before_commit, nullptr)();
            }
            txn->commit();
            return applied;
        } catch (const ForgetNotSearched& wanted) {
            applier_.discard();
            found = search_forgotten(wanted.whom, *read(), scan_archive()).value();
            input.forget_found = &found;
        } catch (const LedgerFailure& failure) {
            if (failure.error().code != ErrorCode::kBusy) {
                throw;
            }
            applier_.discard();
        }
    }
}

Applied Books::raw(Topic topic, std::string_view body, std::string_view anon) {
    RecordMeta meta;
    meta.topic = topic;
    meta.account_number = account_;
    meta.account_id = account_id_;
    if (is_command(topic) ? names_shop : !is_clicks(topic)) {
        meta.shop_number = shop_;
        meta.shop_id = shop_id_;
    }
    meta.received_at = received_at_;
    meta.anon_id = anon;
    meta.actor = is_command(topic) ? std::string_view(actor) : std::string_view();
    if (source && !is_command(topic)) {
        meta.source = RecordSource{source->platform};
        meta.source->triggered_at = source->triggered_at;
    }
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    return input(std::string(envelope.prefix()) + std::string(body));
}

Applied Books::event(Topic topic, const OrderText& order, std::string_view anon) {
    return raw(topic, to_json(order), anon);
}

Applied Books::remove(std::string_view order_id, std::string_view version) {
    std::string body;
    JsonWriter json(body);
    json.begin_object().field("platform_order_id", order_id);
    if (!version.empty()) {
        json.field("platform_updated_at", version);
    }
    json.end_object();
    return raw(Topic::kOrderDelete, body);
}

Applied Books::products(Topic topic, std::string_view products_json) {
    return raw(topic, "{\"products\":" + std::string(products_json) + "}");
}

Applied Books::command(const Command& command) {
    return raw(topic_of(command), encode_request({key, reason, command}));
}

Applied Books::apply(std::vector<Program> programs) {
    return command(ProgramApply{std::move(programs)});
}

Applied Books::creators(const std::vector<CreatorImport::Row>& rows) {
    return command(CreatorImport{rows});
}

Applied Books::creator(std::string_view creator, std::string_view program_id,
                       std::string_view code) {
    return creators({{2, CreatorId(creator), ProgramId(program_id), std::string(code)}});
}

Applied Books::click(std::string_view anon, std::string_view creator, std::string_view program_id,
                     std::string_view at) {
    return command(ClickImport{
        {{2, anon_digest(anon), CreatorId(creator), ProgramId(program_id), instant(at)}}});
}

Applied Books::clicks(const std::vector<RecordedClick>& rows) {
    return raw(Topic::kClick, encode_clicks({ClickSource::kPost, rows}));
}

/// A close until the present takes what was posted at the present: the close is received one
/// nanosecond later, because `until` is excluded (K8).
Applied Books::close_until(PayoutClose close, std::string_view until) {
    const Timestamp present = received_at_;
    close.until = instant(until);
    const Timestamp next{present.seconds, present.nanos + 1};
    bool posted = false;
    read()->scan_account_journal(account_, present, next, [&posted](const JournalGroup&) {
        posted = true;
        return false;
    });
    if (close.until == present && posted) {
        close.until = received_at_ = next;
    }
    const Applied closed = command(close);
    received_at_ = present;
    return closed;
}

Applied Books::close(std::string_view program_id, std::string_view until) {
    PayoutClose close;
    close.programs = {ProgramId(program_id)};
    close.ignore_minimum = true;
    Applied closed = close_until(close, until);
    const std::size_t run = closed.text.find(", run ");
    if (closed.failed || run == std::string::npos) {
        return closed;
    }
    if (!closed.text.starts_with("0 ")) {
        const std::string used = std::exchange(key, {});
        const Applied settled =
            command(PayoutMove{PayoutVerb::kSettle, {closed.text.substr(run + 6)}});
        if (settled.failed) {
            throw std::logic_error(settled.text);
        }
        key = used;
    }
    closed.text.resize(run);
    return closed;
}

Applied Books::close_account(std::string_view until) {
    return close_until({}, until);
}

Applied Books::adjust(std::string_view order, std::string_view amount, std::string_view why) {
    const std::string before = std::exchange(reason, std::string(why));
    const Applied applied = command(Adjust{OrderId(order), *Decimal::parse_signed(amount)});
    reason = before;
    return applied;
}

OrderState Books::order(std::string_view id) {
    OrderState state;
    if (!read()->load_order({account_, shop_, OrderId(id)}, state)) {
        throw std::invalid_argument("no order " + std::string(id));
    }
    return state;
}

std::string Books::commission(std::string_view id) {
    const Money amount = commission_amount(order(id));
    return amount.amount.to_string() + " " + std::string(amount.currency.code());
}

std::string Books::creator_of(std::string_view id) {
    const OrderState state = order(id);
    if (!state.live) {
        return "unattributed";
    }
    const Attribution& attribution = state.position()->attribution;
    return attribution.creator.str() + "@" + attribution.program.str() + " " +
           short_types(attribution.types);
}

std::vector<std::string> Books::journal() {
    std::vector<std::string> rows;
    read()->scan_journal(1, [&rows](const JournalGroup& group) {
        for (const JournalEntry& entry : group.entries) {
            if (is_memo(entry.reason) || !group.payout_id.empty()) {
                continue;
            }
            rows.push_back(std::to_string(group.event_seq.value) + " " + group.order_id.str() +
                           "/" + entry.line.str() + " " + entry.amount.to_string() + " " +
                           std::string(entry.currency.code()) + " " +
                           std::string(to_string(entry.reason)));
        }
        return true;
    });
    return rows;
}

std::vector<std::string> Books::anomalies() {
    std::vector<std::string> rows;
    const auto reader = read();
    reader->scan_shops([&](const ShopRow& shop) {
        reader->scan_anomalies(shop.account, shop.shop, [&rows](const Anomaly& row) {
            rows.push_back(std::string(to_string(row.kind)) + " " + row.order.order_id.str() +
                           " first=" + std::to_string(row.first_seq.value) +
                           " count=" + std::to_string(row.count));
            return true;
        });
        return true;
    });
    return rows;
}

std::vector<std::string> Books::balances(std::string_view now) {
    std::vector<std::string> rows;
    balances_at(*read(), std::nullopt, instant(now), [&rows](const BalanceAt& row) {
        rows.push_back(row.key.creator.str() + "@" + row.key.program.str() + " " +
                       std::string(row.key.currency.code()) + " pending=" +
                       row.pending.to_string() + " payable=" + row.payable.to_string() +
                       " paid=" + row.paid.to_string() + " total=" + row.total.to_string() +
                       (row.blocked.is_zero() ? "" : " blocked=" + row.blocked.to_string()) +
                       (row.in_payout.is_zero() ? "" : " in_payout=" + row.in_payout.to_string()));
        return true;
    });
    return rows;
}

std::vector<std::string> Books::payouts() {
    std::vector<std::string> rows;
    const auto reader = read();
    std::vector<Payout> payouts;
    reader->scan_payouts([&payouts](const Payout& payout) {
        payouts.push_back(payout);
        return true;
    });
    for (const Payout& payout : payouts) {
        std::string programs;
        reader->scan(PayoutPart{payout.payout_id, {}, {}}, {1, 1}, [&](const PayoutPart& part) {
            programs += (programs.empty() ? "" : "+") + part.program.str();
            return true;
        });
        rows.push_back(payout.creator.str() + "@" + programs + " " + payout.amount.to_string() +
                       " " + std::string(payout.currency.code()) +
                       " orders=" + std::to_string(payout.orders_count));
    }
    return rows;
}

}  // namespace sluice::test
