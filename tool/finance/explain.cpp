// sluice explain ORDER|RECEIPT
#include "core/explain/explain.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/record.hpp"
#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/receipt_search.hpp"

namespace sluice::cli {

namespace {

/// The outcome of a record.
struct Outcome {
    std::string_view name;  ///< waiting, applied, stale, duplicate, dead
    std::string words;
};

std::optional<OrderId> order_in(std::string_view body) {
    JsonDocument json;
    std::string_view id;
    if (!json.parse(body) ||
        json.root()["platform_order_id"].get_string().get(id) != simdjson::SUCCESS || id.empty()) {
        return std::nullopt;
    }
    return OrderId(id);
}

bool is_digest_of(const EventDigest& digest, const Digest256& whole) {
    return std::equal(digest.begin(), digest.end(), whole.begin());
}

/// Returns the event of the order with the record's topic and bytes: the record itself, or the
/// event of which it is a duplicate.
const ExplainedEvent* same_event(const Explanation& order, Topic topic, const Digest256& digest,
                                 SequenceNumber seq, const std::string& node) {
    const ExplainedEvent* same = nullptr;
    for (const ExplainedEvent& event : order.events) {
        if (event.trace.topic != topic || !is_digest_of(event.trace.digest, digest)) {
            continue;
        }
        if (event.trace.seq == seq && event.node == node) {
            return &event;
        }
        same = &event;
    }
    return same;
}

/// Outcome of a catalog batch, a command, or an event whose digest was forgotten.
Outcome applied_otherwise(const RecordMeta& meta) {
    if (is_catalog(meta.topic)) {
        return {"applied", "applied: " + std::to_string(meta.records_count) + " products"};
    }
    if (is_clicks(meta.topic)) {
        return {"applied", "applied: " + std::to_string(meta.records_count) + " clicks"};
    }
    return is_of_order(meta.topic)
               ? Outcome{"applied", "applied; `order reset` has forgotten what it was compared by"}
               : Outcome{"applied", "applied: a command; report journal shows what it posted"};
}

Outcome outcome_of(LedgerReader& ledger, const FoundRecord& found, const RecordView& record,
                   std::string_view body, const Explanation* order) {
    if (found.place != RecordPlace::kApplied) {
        return {"waiting", "it is durable and waits for the worker"};
    }
    if (const auto letter = ledger.dead_letter(found.seq)) {
        return {"dead", "in the dead letters: " + letter->reason};
    }
    if (order == nullptr) {
        return applied_otherwise(record.meta);
    }
    const Digest256 digest = found.original_sha256 ? *found.original_sha256 : sha256(body);
    const ExplainedEvent* const event =
        same_event(*order, record.meta.topic, digest, found.seq, ledger.head().node);
    if (event == nullptr) {
        return applied_otherwise(record.meta);
    }
    if (event->trace.seq != found.seq || event->node != ledger.head().node) {
        const std::string node = event->node == ledger.head().node ? "" : " of node " + event->node;
        return {"duplicate", "its topic and bytes are those of event #" +
                                 std::to_string(event->trace.seq.value) + node +
                                 ": it changed nothing"};
    }
    return {event->trace.decision == EventDecision::kApplied ? "applied" : "stale", event->words};
}

std::string seq_text(const FoundRecord& found) {
    return found.seq.value == 0 ? " (no number yet)" : " #" + std::to_string(found.seq.value);
}

std::string text_of(const FoundRecord& found, const RecordMeta& meta, const std::string& node,
                    const Outcome& outcome, const Explanation* order, bool shows_sources) {
    std::string text = "Input" + seq_text(found) + " of node " + node + ", " +
                       std::string(to_string(found.place)) + "\n  " +
                       std::string(to_string(meta.topic));
    text += meta.shop_id.empty() ? "" : " of shop " + std::string(meta.shop_id);
    text += ", received " + meta.received_at.to_string() + "\n  " + outcome.words + "\n";
    return order == nullptr ? text : text + "\n" + explanation_text(*order, shows_sources);
}

std::string order_json(const Explanation& order, LedgerReader& ledger) {
    return explanation_json(order, order_answer(order, now(), ledger));
}

std::string json_of(const FoundRecord& found, const RecordMeta& meta, const std::string& node,
                    const std::optional<OrderId>& order_id, const Outcome& outcome,
                    const std::string& order) {
    std::string text;
    JsonWriter json(text);
    json.begin_object().field("node", node).field("state", to_string(found.place)).key("seq");
    found.seq.value == 0 ? json.null() : json.value(found.seq.value);
    json.field("topic", to_string(meta.topic)).key("shop_id");
    meta.shop_id.empty() ? json.null() : json.value(meta.shop_id);
    json.key("order_id");
    order_id ? json.value(order_id->view()) : json.null();
    json.field("received_at", meta.received_at.to_string());
    json.field("outcome", outcome.name).field("explanation", outcome.words);
    json.key("order").raw(order).end_object();
    return text;
}

struct ExplainCommand {
    std::string subject;  ///< An order with --shop, a receipt without.
    std::optional<ShopId> shop;
    bool source = false;
    std::string ledger;
    Format format = Format::kTable;
};

bool has_platform(const Frame& frame, const ShopId& shop) {
    const auto found = ask_registry(
        frame, [&shop](store::Registry& registry) { return find_shop(registry, shop); });
    return found.ok() && found->source.platform != Platform::kNone;
}

/// Adds to each event how it came from the shop's platform, as far as this store has its input.
Status add_sources(const Frame& frame, LedgerReader& ledger, const ExplainCommand& command,
                   Explanation& order) {
    if (!command.source && !has_platform(frame, order.shop.shop_id)) {
        return Status::success();
    }
    std::map<SequenceNumber, ExplainedEvent*> events;
    for (ExplainedEvent& event : order.events) {
        if (event.node == ledger.head().node) {
            events.emplace(event.trace.seq, &event);
        }
    }
    const auto seqs = mapped(events, [](const auto& event) { return event.first; });
    const Status read = visit_applied(frame, seqs, [&events](const FoundRecord& found) {
        const auto record = decode_record(found.record);
        if (record.ok() && record->meta.source) {
            events.at(found.seq)->source = explain_source(
                *record->meta.source,
                record->meta.bulk ? std::string_view(found.bulk_body) : record->body);
        }
    });
    // Without --source the caller did not ask, and the rest of the answer stands.
    return read.ok() || command.source ? read : Status::success();
}

/// Explains the record of a receipt as text or one JSON object, followed by its order if the ledger
/// has that. Returns kNotFound if there is no such record (any more). Throws LedgerFailure.
Result<std::string> explain_receipt(const Frame& frame, LedgerReader& ledger,
                                    const RecordName& name, const ExplainCommand& command) {
    const auto found = find_record(frame, name, ledger.head().applied_seq);
    const auto record = found.ok() ? decode_record(found->record) : found.error();
    if (!record.ok()) {
        return record.error();
    }
    const RecordMeta& meta = record->meta;
    const std::string_view body = meta.bulk ? std::string_view(found->bulk_body) : record->body;
    const auto order_id = is_of_order(meta.topic) ? order_in(body) : std::nullopt;
    std::optional<Explanation> order;
    if (order_id) {
        auto explained = explain_order(ledger, {meta.account_number, meta.shop_number, *order_id});
        order = explained.ok() ? std::optional(std::move(explained).value()) : std::nullopt;
    }
    if (order) {
        if (Status added = add_sources(frame, ledger, command, *order); !added.ok()) {
            return added.error();
        }
    }
    const Explanation* const known = order ? &*order : nullptr;
    const Outcome outcome = outcome_of(ledger, *found, *record, body, known);
    const std::string& node = ledger.head().node;
    if (command.format != Format::kJson) {
        return text_of(*found, meta, node, outcome, known, command.source);
    }
    return json_of(*found, meta, node, order_id, outcome,
                   known == nullptr ? "null" : order_json(*known, ledger));
}

/// How long a read waits for a lock of the queue that another process has: it can do without.
constexpr std::chrono::milliseconds kLockWait{100};
/// Records of the queue that are read.
constexpr std::size_t kRecordsMax = 100'000;

/// Returns nullptr if this store's queue is not the one that the ledger's snapshot is of, or cannot
/// be opened at once. Requires: a LockLimit.
std::unique_ptr<store::Queue> queue_of(const Frame& frame, LedgerReader& ledger) {
    auto queue = store::Queue::open(frame.paths(), queue_options());
    const bool is_own =
        queue.ok() && (ledger.head().node == (*queue)->uuid() || ledger.head().node.empty());
    return is_own ? std::move(queue).value() : nullptr;
}

/// Counts the events of the order that wait in the lanes or among the next 100,000 records of the
/// queue. Returns 0 if this store's queue cannot be read at once, because another process has its
/// locks, or if the ledger is another machine's.
std::uint64_t count_waiting(const Frame& frame, LedgerReader& ledger, const ShopId& shop,
                            const OrderId& order) {
    const store::LockLimit limit(kLockWait);
    const auto queue = queue_of(frame, ledger);
    if (queue == nullptr) {
        return 0;
    }
    std::set<std::string> found;  // by time of receipt and request
    const auto check = [&](std::string_view bytes) {
        const auto record = decode_record(bytes);
        if (!record.ok() || !is_of_order(record->meta.topic) ||
            record->meta.shop_id != shop.view()) {
            return;
        }
        std::string bulk;
        if (record->meta.bulk) {
            bulk = store::read_bulk(frame.paths(), *record->meta.bulk).value_or({});
        }
        if (order_in(record->meta.bulk ? bulk : record->body) == order) {
            found.insert(record->meta.received_at.to_string() +
                         std::string(record->meta.request_id));
        }
    };
    // The lanes first, so that a record that moves meanwhile is not missed. It is found twice then.
    if (auto lanes = queue->read_lanes(kReadLanesBytes); lanes.ok()) {
        for (const store::LaneRecord& record : *lanes) {
            check(record.bytes);
        }
    }
    const SequenceNumber next{ledger.head().applied_seq.value + 1};
    std::size_t seen = 0;
    static_cast<void>(visit_queue(*queue, next, [&](store::QueuedRecord& record) {
        check(record.bytes);
        return ++seen < kRecordsMax;
    }));
    return found.size();
}

/// Says how many events of the order wait, or returns an empty text.
std::string waiting_words(const Frame& frame, LedgerReader& ledger, const ShopId& shop,
                          const OrderId& order) {
    const std::uint64_t waiting = count_waiting(frame, ledger, shop, order);
    return waiting == 0
               ? ""
               : grouped(waiting) + (waiting == 1 ? " event" : " events") + " of order " +
                     order.str() + " of shop " + shop.str() + (waiting == 1 ? " is" : " are") +
                     " durable and will be applied by the worker; `sluice doctor` "
                     "says whether one runs";
}

Result<std::string> explained_order(const Frame& frame, LedgerReader& ledger,
                                    const ExplainCommand& command, const OrderId& order) {
    const std::string waiting = waiting_words(frame, ledger, *command.shop, order);
    const std::vector<ShopRow> shops = shops_of(ledger, {{}, command.shop});
    if (shops.empty()) {
        return not_found(waiting.empty()
                             ? "shop " + command.shop->str() + " has no applied input yet"
                             : waiting);
    }
    auto explained = explain_order(ledger, {shops.front().account, shops.front().shop, order});
    if (!explained.ok()) {
        return waiting.empty() ? explained.error() : Error{explained.error().code, waiting};
    }
    if (!waiting.empty()) {
        std::fprintf(stderr, "note: %s\n", printable(waiting).c_str());
    }
    if (Status added = add_sources(frame, ledger, command, *explained); !added.ok()) {
        return added.error();
    }
    return command.format == Format::kJson ? order_json(*explained, ledger)
                                           : explanation_text(*explained, command.source);
}

Result<std::string> explanation_of(const Frame& frame, LedgerReader& ledger,
                                   const ExplainCommand& command) {
    if (!command.shop) {
        const auto name = parse_record_name(command.subject);
        auto explained =
            name.ok() ? explain_receipt(frame, ledger, *name, command)
                      : Result<std::string>(Error{name.error().code,
                                                  command.subject + ": " + name.error().message});
        const bool may_be_order = !name.ok() || (!name->receipt && !explained.ok() &&
                                                 explained.error().code == ErrorCode::kNotFound);
        return may_be_order ? Error{explained.error().code,
                                    explained.error().message + "; for an order, add --shop S"}
                            : std::move(explained);
    }
    const auto order = parse_order_id(command.subject);
    return order.ok() ? explained_order(frame, ledger, command, *order)
                      : Result<std::string>(order.error());
}

void write_lines_printable(const std::string& text) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = printable(std::string_view(text).substr(begin, end - begin));
        std::printf("%s\n", line.c_str());
        begin = end + 1;
    }
}

Status run_explain(const Frame& frame, const ExplainCommand& command) {
    tell_standstill(frame);
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        return explanation_of(frame, ledger, command).and_then([&](const std::string& text) {
            if (command.format == Format::kJson) {
                std::printf("%s\n", indented(text, 0).c_str());
            } else {
                write_lines_printable(text);
            }
            return Status::success();
        });
    });
}

}  // namespace

void declare_explain(Subcommand app) {
    auto [explain, command] = add_command(
        app, "explain", "Explain an order, from its events to its journal entries", run_explain);
    add_text(explain, "ORDER", "", command.subject,
             "platform_order_id; without --shop, a receipt as $sluice_receipt shows it")
        .required();
    add_id(explain, "--shop", "S", command.shop, "Shop of the order");
    add_flag(explain, "--source", command.source,
             "Add the values of the shop's platform, and what each became");
    add_ledger(explain, command.ledger);
    add_word<Format>(explain, "--format", command.format,
                     {{"table", Format::kTable}, {"json", Format::kJson}},
                     "Output format (default: table, which is text)");
}

}  // namespace sluice::cli
