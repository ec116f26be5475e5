#include "core/apply/command.hpp"

#include <variant>

#include "core/apply/adjust.hpp"
#include "core/apply/forget.hpp"
#include "core/apply/import.hpp"
#include "core/apply/payout.hpp"

namespace sluice {

Result<std::string> apply_command(const Command& command, const CommandContext& context,
                                  const Replay& replay, LedgerTxn& txn) {
    struct Visit {
        const CommandContext& context;
        const Replay& replay;
        LedgerTxn& txn;
        Result<std::string> operator()(const ProgramApply& c) const {
            return apply_programs(c, context, txn);
        }
        Result<std::string> operator()(const CreatorImport& c) const {
            return import_creators(c, context, txn);
        }
        Result<std::string> operator()(const CreatorRemove& c) const {
            return remove_creator(c, context, txn);
        }
        Result<std::string> operator()(const TouchImport& c) const {
            return import_touches(c, context, txn);
        }
        Result<std::string> operator()(const PayoutClose& c) const {
            return close_payout(c, context, txn);
        }
        Result<std::string> operator()(const Adjust& c) const {
            return adjust_order(c, context, txn);
        }
        Result<std::string> operator()(const DeadReplay& c) const { return replay(c); }
        Result<std::string> operator()(const Forget& c) const {
            return forget_customer(c, context, txn);
        }
    };
    return std::visit(Visit{context, replay, txn}, command);
}

}  // namespace sluice
