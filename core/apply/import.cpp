#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/orders/reply.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/code_book.hpp"

namespace sluice {
namespace {

/// Rows of a file, in its order.
using ImportRows = std::vector<const CreatorImport::Row*>;

/// The outcome of rows. The rows without dates undo no removal (A2).
struct ClaimedRows {
    /// Without dates: the code was removed or has ended. The row does not bring its creator back
    /// either.
    ImportRows codes;
    /// Without dates: the creator was removed from the program. Nothing of the row is imported.
    ImportRows creators;
    std::set<const CreatorImport::Row*> changed;  ///< They change something.
};

Error at_line(std::uint32_t line, const std::string& what) {
    return {ErrorCode::kConflict, "line " + std::to_string(line) + ": " + what};
}

/// Returns the effective date of an input: orders before it are not affected (A2).
Timestamp effective_from_of(const Program& program, const std::optional<Timestamp>& effective_from,
                            const CommandContext& context) {
    return effective_from.value_or(program.default_effective_from(context.source.received_at));
}

/// Codes that an import is about to change, each read once; written when all rows fit.
class CodeBooks {
public:
    explicit CodeBooks(LedgerTxn& txn) : txn_(txn) {}

    CodeBook& of(const Program& program, const Digest256& digest) {
        const auto key = std::pair(program.id.str(), digest);
        const auto found = books_.find(key);
        if (found != books_.end()) {
            return found->second;
        }
        std::vector<CodeRow> rows;
        for (CodeRow& row : txn_.code_owners(program.account, digest)) {
            if (row.program == program.id) {
                rows.push_back(std::move(row));
            }
        }
        return books_
            .try_emplace(key, CodeBook(program.account, program.id, digest, std::move(rows)))
            .first->second;
    }

    void write() {
        for (const auto& [key, book] : books_) {
            for (const CodeRow& row : book.gone()) {
                txn_.erase(row);
            }
            for (const CodeRow& row : book.rows()) {
                txn_.put(row);
            }
        }
    }

private:
    LedgerTxn& txn_;
    std::map<std::pair<std::string, Digest256>, CodeBook> books_;
};

/// Finds the creators that stay removed, because their rows have no dates.
class Removed {
public:
    Removed(const CreatorImport& command, LedgerTxn& txn) : command_(command), txn_(txn) {}

    /// Call it in the order of the file: a row with dates brings its creator back for later rows.
    bool stays(const CreatorImport::Row& row, const Program& program, const CreatorId& creator) {
        if (row.valid_from || row.valid_until || command_.effective_from) {
            rejoins_.emplace(program.id, creator);
            return false;
        }
        const std::optional<Membership> member =
            txn_.membership(program.account, program.id, creator);
        return member && member->removed && !rejoins_.contains({program.id, creator});
    }

private:
    const CreatorImport& command_;
    LedgerTxn& txn_;
    std::set<std::pair<ProgramId, CreatorId>> rejoins_;
};

/// Checks each row against the ledger and the rows before it. Writes nothing unless all rows fit.
Result<ClaimedRows> claim_codes(const CreatorImport& command, const CommandContext& context,
                                ProgramsByName& programs, CodeBooks& books, LedgerTxn& txn) {
    ClaimedRows claimed;
    Removed removed(command, txn);
    for (const CreatorImport::Row& row : command.rows) {
        const ProgramRow* found = programs.find(row.program);
        if (found == nullptr) {
            return at_line(row.line, "there is no program " + row.program.str());
        }
        const Program& program = found->program;
        const CreatorId creator = first_id(txn, program.account, row.creator);
        const bool stays_removed = removed.stays(row, program, creator);
        if (row.code.empty()) {
            if (stays_removed) {
                claimed.creators.push_back(&row);
            }
            continue;
        }
        const CodeClaim claim{creator,
                              row.code,
                              row.valid_from,
                              row.valid_until,
                              context.source.received_at,
                              effective_from_of(program, command.effective_from, context)};
        CodeBook& book = books.of(program, code_digest(row.code));
        if (book.leaves_ended(claim)) {
            claimed.codes.push_back(&row);
        } else if (stays_removed) {
            claimed.creators.push_back(&row);
        } else if (const Result<bool> changes = book.claim(claim); !changes) {
            return at_line(row.line, changes.error().message);
        } else if (*changes) {
            claimed.changed.insert(&row);
        }
    }
    return claimed;
}

enum class Joined { kNo, kRegrouped, kYes };

/// Makes the creator a member of the program, or a member of another group.
Joined join(const CreatorImport& command, const CreatorImport::Row& row, const Program& program,
            const CreatorId& creator, const CommandContext& context, LedgerTxn& txn) {
    std::optional<Membership> member = txn.membership(program.account, program.id, creator);
    const bool joins = !member || member->removed;
    if (joins) {
        member = Membership{
            .account = program.account,
            .program = program.id,
            .creator = creator,
            .changed_by = context.source.seq,
            .effective_from = effective_from_of(program, command.effective_from, context)};
    }
    const bool regroups = row.group && !row.group->empty() && *row.group != member->group;
    if (regroups) {
        member->group = *row.group;
    }
    if (joins || regroups) {
        txn.put(*member);
    }
    return joins ? Joined::kYes : regroups ? Joined::kRegrouped : Joined::kNo;
}

/// Returns the rows that are imported, in the order of the file. A row whose code stays removed
/// changes members only: those before the import, and those that a row before it brings.
ImportRows imported_rows(const CreatorImport& command, const ClaimedRows& undated,
                         ProgramsByName& programs, LedgerReader& ledger) {
    const auto is_among = [](const ImportRows& rows, const CreatorImport::Row& row) {
        return std::binary_search(rows.begin(), rows.end(), &row);
    };
    ImportRows imported;
    std::set<std::pair<ProgramId, CreatorId>> joining;
    for (const CreatorImport::Row& row : command.rows) {
        const Program& program = programs.find(row.program)->program;
        const CreatorId creator = first_id(ledger, program.account, row.creator);
        const bool needs_member = is_among(undated.codes, row);
        if (is_among(undated.creators, row) ||
            (needs_member && !joining.contains({program.id, creator}) &&
             !is_member(ledger, program.account, program.id, creator))) {
            continue;
        }
        joining.emplace(program.id, creator);
        imported.push_back(&row);
    }
    return imported;
}

/// Sets the payee of a profile that is stored, with its memo entry and history (controls K1).
/// The caller writes the profile.
void change_payee(CreatorRow& profile, const std::string& payee, const CommandContext& context,
                  LedgerTxn& txn) {
    if (profile.payee == payee) {
        return;
    }
    PayeeChange change{profile.account,           profile.creator, context.source.received_at,
                       context.source.command_id, profile.payee,   payee,
                       context.actor(),           context.reason()};
    if (PayeeChange before = change; txn.load(before)) {  // an earlier row of the same import
        change.old_payee = before.old_payee;
    }
    txn.put(change);
    post_memo(txn, context, profile.account, JournalReason::kMemoPayeeChanged,
              to_hex(payee_digest(profile.payee)) + " " + to_hex(payee_digest(payee)),
              profile.creator);
    profile.payee = payee;
    profile.payee_since = context.source.received_at;
    profile.payee_changed = true;
}

/// Returns whether the profile changed.
bool update_profile(const CreatorImport::Row& row, AccountNumber account, const CreatorId& creator,
                    const CommandContext& context, LedgerTxn& txn) {
    CreatorRow profile{account, creator, {}, {}, {}};
    const bool known = txn.load(profile);
    const CreatorRow before = profile;
    if (row.name && !row.name->empty()) {
        profile.name = *row.name;
    }
    if (row.payee && !row.payee->empty() && known) {
        change_payee(profile, *row.payee, context, txn);
    } else if (row.payee && !row.payee->empty()) {
        profile.payee = *row.payee;
        profile.payee_since = context.source.received_at;
    }
    const bool changes = !known || profile.name != before.name || profile.payee != before.payee;
    if (changes) {
        txn.put(profile);
    }
    return changes;
}

/// Which of a row's fields a list names.
enum class Named : std::uint8_t { kCode, kCreator, kBoth };

std::string name_of(const CreatorImport::Row& row, Named named) {
    return named == Named::kCode                          ? row.code
           : named == Named::kCreator || row.code.empty() ? row.creator.str()
                                                          : row.creator.str() + " " + row.code;
}

/// Returns `; <what>: line 3 BEN, line 4 ann SAVE`, or nothing if there are no rows.
std::string list_text(const ImportRows& rows, Named named, const std::string& what) {
    constexpr std::size_t kShownMax = 20;
    if (rows.empty()) {
        return {};
    }
    std::string text = "; " + what + ": ";
    for (std::size_t i = 0; i < std::min(rows.size(), kShownMax); ++i) {
        text += (i == 0 ? "line " : ", line ") + std::to_string(rows[i]->line) + " " +
                name_of(*rows[i], named);
    }
    return rows.size() > kShownMax
               ? text + " and " + std::to_string(rows.size() - kShownMax) + " more"
               : text;
}

/// Says how many rows changed something, and lists those that did not.
Reply import_reply(const CreatorImport& command, const ClaimedRows& claimed) {
    ImportRows unchanged;
    const auto is_among = [](const ImportRows& rows, const CreatorImport::Row& row) {
        return std::binary_search(rows.begin(), rows.end(), &row);
    };
    for (const CreatorImport::Row& row : command.rows) {
        if (!claimed.changed.contains(&row) && !is_among(claimed.codes, row) &&
            !is_among(claimed.creators, row)) {
            unchanged.push_back(&row);
        }
    }
    const bool has_code =
        std::ranges::any_of(unchanged, [](const auto* row) { return !row->code.empty(); });
    const std::size_t imported = claimed.changed.size();
    const std::string text =
        (imported == 0 ? "no change: no row was" : counted(imported, "row", "rows")) + " imported" +
        list_text(claimed.codes, Named::kCode,
                  counted(claimed.codes.size(),
                          "code that was removed or has ended stays so without dates",
                          "codes that were removed or have ended stay so without dates")) +
        list_text(claimed.creators, Named::kCreator,
                  counted(claimed.creators.size(),
                          "row of a creator who was removed stays out without dates",
                          "rows of creators who were removed stay out without dates")) +
        list_text(unchanged, Named::kBoth,
                  counted(unchanged.size(), "row states what is stored already",
                          "rows state what is stored already")) +
        (command.effective_from && has_code
             ? "; --effective-from dates new codes only: valid_from dates a code that is stored"
             : "");
    return done(text);
}

/// Ends codes of the creator; with `digest` this one alone. Returns whether one of them ends
/// earlier than before.
bool end_codes(const Program& program, const CreatorId& creator, Timestamp at,
               const std::optional<Digest256>& digest, LedgerTxn& txn) {
    std::set<Digest256> digests;
    if (digest) {
        digests.insert(*digest);
    } else {
        txn.scan_codes(program.account, program.id, [&](const CodeRow& row) {
            if (row.creator == creator) {
                digests.insert(row.digest);
            }
        });
    }
    CodeBooks books(txn);
    bool ends = false;
    for (const Digest256& code : digests) {
        ends = books.of(program, code).end(creator, at) || ends;
    }
    books.write();
    return ends;
}

bool owns_code(const Program& program, const CreatorId& creator, const Digest256& digest,
               LedgerTxn& txn) {
    const std::vector<CodeRow> rows = txn.code_owners(program.account, digest);
    return std::ranges::any_of(rows, [&](const CodeRow& row) {
        return row.program == program.id && row.creator == creator;
    });
}

}  // namespace

Result<Reply> import_creators(const CreatorImport& command, const CommandContext& context,
                              ProgramCache& /*programs*/, LedgerTxn& txn) {
    ProgramsByName programs(txn);
    CodeBooks books(txn);
    Result<ClaimedRows> claimed = claim_codes(command, context, programs, books, txn);
    if (!claimed) {
        return claimed.error();
    }
    const ImportRows rows = imported_rows(command, *claimed, programs, txn);
    books.write();
    std::vector<WaitKey> keys;
    std::set<AccountNumber> joined;
    for (const CreatorImport::Row* const row : rows) {
        const Program& program = programs.find(row->program)->program;
        const CreatorId creator = first_id(txn, program.account, row->creator);
        const Joined how = join(command, *row, program, creator, context, txn);
        if (how == Joined::kYes) {
            joined.insert(program.account);
        }
        if (update_profile(*row, program.account, creator, context, txn) || how != Joined::kNo) {
            claimed->changed.insert(row);
        }
        if (!row->code.empty()) {
            keys.push_back({program.account, WaitKind::kCode, code_digest(row->code)});
        }
    }
    leave_work(keys, context, txn);
    for (const AccountNumber account : joined) {  // stored clicks of the new members count now
        leave_account_work(account, context, txn);
    }
    return import_reply(command, *claimed);
}

Result<Reply> remove_creator(const CreatorRemove& command, const CommandContext& context,
                             ProgramCache& /*programs*/, LedgerTxn& txn) {
    const std::optional<ProgramRow> row = txn.program(command.program);
    if (!row || (context.account.value != 0 && row->program.account != context.account)) {
        return not_found("there is no program " + command.program.str());
    }
    const Program& program = row->program;
    const CreatorId creator = first_id(txn, program.account, command.creator);
    std::optional<Membership> member = txn.membership(program.account, program.id, creator);
    if (!member || member->removed) {
        return not_found("creator " + command.creator.str() + " is not in program " +
                         program.id.str());
    }
    const Timestamp at = command.at.value_or(context.source.received_at);
    if (command.code) {
        const Digest256 digest = code_digest(*command.code);
        if (!owns_code(program, creator, digest, txn)) {
            return not_found("creator " + command.creator.str() + " has no code " + *command.code +
                             " in program " + program.id.str());
        }
        return end_codes(program, creator, at, digest, txn)
                   ? done("code " + *command.code + " removed from " + at.to_string() + " on")
                   : done("no change: code " + *command.code + " ended before " + at.to_string());
    }
    (void)end_codes(program, creator, at, std::nullopt, txn);
    member->removed = true;
    member->changed_by = context.source.seq;
    txn.put(*member);
    return done("creator " + command.creator.str() + " removed from program " + program.id.str());
}

Result<Reply> set_creator(const CreatorSet& command, const CommandContext& context,
                          ProgramCache& /*programs*/, LedgerTxn& txn) {
    const CreatorId creator = first_id(txn, context.account, command.creator);
    CreatorRow profile{context.account, creator, {}, {}, {}};
    if (!txn.load(profile)) {
        return not_found("account " + context.account_id.str() + " has no creator " +
                         command.creator.str());
    }
    bool changes = (command.name && *command.name != profile.name) ||
                   (command.payee && *command.payee != profile.payee);
    if (command.group) {
        const ProgramId program = command.program.value_or(ProgramId());
        std::optional<Membership> member = txn.membership(context.account, program, creator);
        if (!member || member->removed) {
            return refused("creator " + command.creator.str() + " is not in program " +
                           program.str());
        }
        changes = changes || member->group != *command.group;
        member->group = *command.group;
        txn.put(*member);
    }
    if (!changes) {
        return done("no change: creator " + command.creator.str() + " is so already");
    }
    profile.name = command.name.value_or(profile.name);
    change_payee(profile, command.payee.value_or(profile.payee), context, txn);
    txn.put(profile);
    return done("creator " + command.creator.str() + " set");
}

Result<Reply> rename_creator(const CreatorRename& command, const CommandContext& context,
                             ProgramCache& /*programs*/, LedgerTxn& txn) {
    const CreatorId first = first_id(txn, context.account, command.creator);
    CreatorRow profile{context.account, first, {}, {}, {}};
    if (!txn.load(profile)) {
        return not_found("account " + context.account_id.str() + " has no creator " +
                         command.creator.str());
    }
    if ((profile.shown_as.empty() ? first : profile.shown_as) == command.new_name) {
        return nothing("creator " + first.str() + " is called " + command.new_name.str() +
                       " already");
    }
    CreatorRow other{context.account, command.new_name, {}, {}, {}};
    CreatorAlias alias{context.account, command.new_name, {}};
    if (txn.load(other) || txn.load(alias)) {
        return refused("creator id " + command.new_name.str() + " was used in account " +
                       context.account_id.str() + " before");
    }
    txn.put(CreatorAlias{context.account, command.new_name, first});
    profile.shown_as = command.new_name;
    txn.put(profile);
    ++txn.mutable_head().programs_revision;  // rules may name the creator by any id
    post_memo(txn, context, context.account, JournalReason::kMemoRenamed, command.new_name.view(),
              first);
    return done("creator " + command.creator.str() + " is called " + command.new_name.str());
}

}  // namespace sluice
