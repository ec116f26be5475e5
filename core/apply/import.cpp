#include "core/apply/import.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/apply/retry_work.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {
namespace {

Error at_line(std::uint32_t line, const std::string& what) {
    return {ErrorCode::kConflict, "line " + std::to_string(line) + ": " + what};
}

/// "1 touch", "2 touches": what a person reads.
std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// Programs that the rows of an import name, each read once.
class ProgramsByName {
public:
    explicit ProgramsByName(LedgerTxn& txn) : txn_(txn) {}

    const ProgramRow* find(const ProgramId& id) {
        const auto [found, added] = rows_.try_emplace(id.str());
        if (added) {
            found->second = txn_.program(id);
        }
        return found->second ? &*found->second : nullptr;
    }

private:
    LedgerTxn& txn_;
    std::map<std::string, std::optional<ProgramRow>> rows_;
};

std::optional<CodeRow> owner_of(LedgerTxn& txn, const Program& program, const Digest256& code) {
    for (CodeRow& row : txn.code_owners(program.account, code)) {
        if (row.program == program.id) {
            return std::move(row);
        }
    }
    return std::nullopt;
}

// ---- Programs ---------------------------------------------------------------------------------

Status check_programs(const ProgramApply& command, LedgerTxn& txn) {
    std::set<std::string_view> seen;
    for (const Program& program : command.programs) {
        if (!seen.insert(program.id.view()).second) {
            return Error{ErrorCode::kConflict,
                         "program " + program.id.str() + " is in the file twice"};
        }
        const std::optional<ProgramRow> stored = txn.program(program.id);
        if (stored && stored->program.account != program.account) {
            return Error{ErrorCode::kConflict, "program " + program.id.str() +
                                                   " belongs to account " +
                                                   stored->program.account_id.str()};
        }
    }
    return {};
}

/// @return true if it was new or differs from what is stored.
bool store_program(const Program& program, const CommandContext& context, LedgerTxn& txn) {
    const std::optional<ProgramRow> stored = txn.program(program.id);
    if (stored && stored->program == program) {
        return false;
    }
    txn.put_program({program, stored ? stored->version + 1 : 1, context.seq, context.received_at});
    ++txn.mutable_head().programs_revision;
    return true;
}

// ---- Creators ---------------------------------------------------------------------------------

/// Every row against the ledger and against the rows before it: nothing is written before all fit.
Status check_creators(const CreatorImport& command, ProgramsByName& programs, LedgerTxn& txn) {
    std::map<std::pair<std::string_view, std::string>, const CreatorImport::Row*> in_file;
    for (const CreatorImport::Row& row : command.rows) {
        const ProgramRow* program = programs.find(row.program);
        if (program == nullptr) {
            return at_line(row.line, "there is no program " + row.program.str());
        }
        if (row.code.empty()) {
            continue;
        }
        const std::optional<CodeRow> owner = owner_of(txn, program->program, code_digest(row.code));
        const auto [first, added] =
            in_file.try_emplace({row.program.view(), fold_code(row.code)}, &row);
        const CreatorId& holder = owner ? owner->creator : first->second->creator;
        if (holder != row.creator) {
            return at_line(row.line, "code " + row.code + " belongs to creator " + holder.str() +
                                         " in program " + row.program.str());
        }
    }
    return {};
}

/// @return true if the creator was not in the program before.
bool join(const Program& program, const CreatorId& creator, const CommandContext& context,
          LedgerTxn& txn) {
    const std::optional<Membership> stored = txn.membership(program.account, program.id, creator);
    if (stored && !stored->removed) {
        return false;
    }
    txn.put(Membership{program.account, program.id, creator, false, context.seq});
    return true;
}

std::vector<CodeRow> codes_of(LedgerTxn& txn, const Program& program, const CreatorId& creator) {
    std::vector<CodeRow> codes;
    txn.scan_codes(program.account, program.id, [&](const CodeRow& row) {
        if (row.creator == creator) {
            codes.push_back(row);
        }
        return true;
    });
    return codes;
}

Result<std::string> remove_code(const CreatorRemove& command, const Program& program,
                                LedgerTxn& txn) {
    const std::optional<CodeRow> owner = owner_of(txn, program, code_digest(*command.code));
    if (!owner || owner->creator != command.creator) {
        return Error{ErrorCode::kNotFound, "creator " + command.creator.str() + " has no code " +
                                               *command.code + " in program " + program.id.str()};
    }
    txn.erase(*owner);
    return "code " + *command.code + " removed";
}

}  // namespace

Result<std::string> apply_programs(const ProgramApply& command, const CommandContext& context,
                                   LedgerTxn& txn) {
    if (Status fits = check_programs(command, txn); !fits) {
        return fits.error();
    }
    std::size_t changed = 0;
    std::set<AccountNumber> accounts;
    for (const Program& program : command.programs) {
        if (store_program(program, context, txn)) {
            ++changed;
        }
        accounts.insert(program.account);
    }
    for (const AccountNumber account : accounts) {
        leave_account_work(account, context, txn);
    }
    return counted(command.programs.size(), "program", "programs") + " applied, " +
           std::to_string(changed) + " changed";
}

Result<std::string> import_creators(const CreatorImport& command, const CommandContext& context,
                                    LedgerTxn& txn) {
    ProgramsByName programs(txn);
    if (Status fits = check_creators(command, programs, txn); !fits) {
        return fits.error();
    }
    std::set<WaitKey> keys;
    std::set<AccountNumber> joined;
    for (const CreatorImport::Row& row : command.rows) {
        const Program& program = programs.find(row.program)->program;
        if (join(program, row.creator, context, txn)) {
            joined.insert(program.account);
        }
        if (row.code.empty()) {
            continue;
        }
        const Digest256 digest = code_digest(row.code);
        if (!owner_of(txn, program, digest)) {
            txn.put(CodeRow{program.account, program.id, digest, row.code, row.creator});
        }
        keys.insert({program.account, WaitKind::kCode, digest});
    }
    leave_work(keys, context, txn);
    for (const AccountNumber account : joined) {  // Touches that are there already count now.
        leave_account_work(account, context, txn);
    }
    return counted(command.rows.size(), "row", "rows") + " imported";
}

Result<std::string> remove_creator(const CreatorRemove& command, const CommandContext& context,
                                   LedgerTxn& txn) {
    const std::optional<ProgramRow> row = txn.program(command.program);
    if (!row) {
        return Error{ErrorCode::kNotFound, "there is no program " + command.program.str()};
    }
    const Program& program = row->program;
    const std::optional<Membership> member =
        txn.membership(program.account, program.id, command.creator);
    if (!member || member->removed) {
        return Error{ErrorCode::kNotFound,
                     "creator " + command.creator.str() + " is not in program " + program.id.str()};
    }
    if (command.code) {
        return remove_code(command, program, txn);
    }
    for (const CodeRow& code : codes_of(txn, program, command.creator)) {
        txn.erase(code);
    }
    txn.put(Membership{program.account, program.id, command.creator, true, context.seq});
    return "creator " + command.creator.str() + " removed from program " + program.id.str();
}

Result<std::string> import_touches(const TouchImport& command, const CommandContext& context,
                                   LedgerTxn& txn) {
    ProgramsByName programs(txn);
    for (const TouchImport::Row& row : command.rows) {
        if (programs.find(row.program) == nullptr) {
            return at_line(row.line, "there is no program " + row.program.str());
        }
    }
    std::set<WaitKey> keys;
    std::uint32_t number = 0;
    for (const TouchImport::Row& row : command.rows) {
        const Program& program = programs.find(row.program)->program;
        const Digest256 anon = anon_digest(row.anon.view());
        txn.put(Touch{program.account, anon, program.id, row.occurred_at, row.creator, context.seq,
                      number++});
        keys.insert({program.account, WaitKind::kAnon, anon});
    }
    leave_work(keys, context, txn);
    return counted(command.rows.size(), "touch", "touches") + " imported";
}

}  // namespace sluice
