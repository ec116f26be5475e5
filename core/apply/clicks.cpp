#include "core/apply/clicks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/orders/clicks.hpp"
#include "core/orders/reply.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

/// Returns the number of inputs that all nodes have applied, this one included. It orders inputs
/// whichever node they came through, and is the sequence number as long as there is one node.
SequenceNumber inputs_up_to(SequenceNumber seq, LedgerTxn& txn) {
    std::uint64_t inputs = seq.value;
    txn.scan_heads([&](const LedgerHead& head) {
        inputs += head.node == txn.head().node ? 0 : head.applied_seq.value;
    });
    return {inputs};
}

const Program* find_program(const std::vector<ProgramRow>& rows, const ProgramId& id) {
    const ProgramRow* const found =
        find_where(rows, [&id](const ProgramRow& row) { return row.program.id == id; });
    return found == nullptr ? nullptr : &found->program;
}

/// Returns the receipt before which clicks are deleted.
Timestamp delete_before(const std::vector<ProgramRow>& programs, Timestamp received_at) {
    std::int64_t days = kClickDaysMin;
    for (const ProgramRow& row : programs) {
        days = std::max(days, row.program.window_days + kClickDaysAfterWindow);
    }
    return received_at.plus_days(-days);
}

/// Program and creator of a click.
struct Owner {
    ProgramId program;
    CreatorId creator;
};

/// The links that a record names, each read once.
class LinksOfRecord {
public:
    LinksOfRecord(AccountNumber account, LedgerTxn& txn) : account_(account), txn_(txn) {}

    /// Returns nothing if the account has no such link, as after a restore. A link that was stopped
    /// or removed meanwhile still tells whose click it was.
    std::optional<Owner> find(const LinkId& id) {
        const auto [known, is_new] = owners_.try_emplace(id);
        if (is_new) {
            LinkRow row{.link = id};
            if (txn_.load(row) && row.account == account_) {
                known->second = Owner{row.program, row.creator};
            }
        }
        return known->second;
    }

private:
    AccountNumber account_;
    LedgerTxn& txn_;
    std::map<LinkId, std::optional<Owner>> owners_;
};

}  // namespace

void apply_clicks(const ClickRecord& record, const CommandContext& context, ProgramCache& cache,
                  LedgerTxn& txn) {
    const std::vector<ProgramRow>& programs = cache.programs(txn, context.account);
    const Timestamp received_at = context.source.received_at;
    const SequenceNumber rank = inputs_up_to(context.source.seq, txn);
    LinksOfRecord links(context.account, txn);
    std::vector<WaitKey> keys;
    std::uint32_t number = 0;
    Totals& totals = txn.mutable_head().totals;
    for (const RecordedClick& row : record.rows) {
        const std::uint32_t place = number++;
        const std::optional<Owner> owner =
            record.source == ClickSource::kLink
                ? links.find(row.link)
                : std::optional(Owner{row.program, first_id(txn, context.account, row.creator)});
        if (!owner) {
            ++totals.clicks_without_link;
            continue;
        }
        const Program* const program = find_program(programs, owner->program);
        const StoredClick stored =
            store_click({context.account, row.device, owner->program, row.occurred_at,
                         owner->creator, rank, place,
                         program != nullptr ? program->default_effective_from(received_at)
                                            : received_at.plus_days(-kLateDaysDefault),
                         record.source, row.link, received_at},
                        txn);
        ++(stored.is_new ? totals.clicks_stored : totals.clicks_known);
        totals.clicks_expired += stored.deleted;
        keys.push_back({context.account, WaitKind::kAnon, row.device});
    }
    totals.clicks_expired += delete_clicks(context.account, delete_before(programs, received_at),
                                           2 * record.rows.size(), txn);
    leave_work(keys, context, txn);
}

Result<Reply> import_clicks(const ClickImport& command, const CommandContext& context,
                            ProgramCache& /*programs*/, LedgerTxn& txn) {
    ProgramsByName programs(txn);
    for (const ClickImport::Row& row : command.rows) {
        if (programs.find(row.program) == nullptr) {
            return conflict("line " + std::to_string(row.line) + ": there is no program " +
                            row.program.str());
        }
    }
    std::vector<WaitKey> keys;
    const SequenceNumber rank = inputs_up_to(context.source.seq, txn);
    const Timestamp received_at = context.source.received_at;
    std::uint32_t number = 0;
    std::map<std::pair<ProgramId, Digest256>, std::vector<Click>> clicks;
    for (const ClickImport::Row& row : command.rows) {
        const Program& program = programs.find(row.program)->program;
        const Click click{
            program.account,
            row.device,
            program.id,
            row.occurred_at,
            first_id(txn, program.account, row.creator),
            rank,
            number++,
            command.effective_from.value_or(program.default_effective_from(received_at)),
            ClickSource::kImport,
            LinkId(),
            received_at};
        const auto [stored, is_first] = clicks.try_emplace({program.id, row.device});
        if (is_first) {
            stored->second = clicks_beside(click, txn);
        }
        import_click(click, stored->second, txn);
        keys.push_back({program.account, WaitKind::kAnon, row.device});
    }
    leave_work(keys, context, txn);
    return done(counted(command.rows.size(), "click", "clicks") + " imported");
}

}  // namespace sluice
