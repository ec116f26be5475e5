// Links: created, changed, stopped and removed by commands (LK1).
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/links/destination.hpp"
#include "core/links/published_links.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {
namespace {

Error link_fault(const LinkSet::Row& row, const std::string& what) {
    return {ErrorCode::kConflict,
            (row.line == 0 ? "" : "line " + std::to_string(row.line) + ": ") + what};
}

std::string named(const LinkSet::Row& row) {
    return "link " + row.link.str();
}

/// Returns why a destination cannot be one, or success.
Status check_destination(const LinkSet::Row& row, const std::string& url, bool is_deep) {
    const Result<Destination> to = parse_destination(url);
    if (!to) {
        return link_fault(row, to.error().message);
    }
    if (is_deep && to->ends_in_slash()) {
        return link_fault(row,
                          "the path of a deep link's URL must not end in a slash, because the "
                          "request's path begins with one");
    }
    return Status::success();
}

/// The links that a command is about to store. Each id is read once.
class LinkBook {
public:
    LinkBook(const CommandContext& context, LedgerTxn& txn)
        : context_(context), txn_(txn), programs_(txn) {
        (void)txn.load(head_);
    }

    /// Creates a link, unless one that is equal exists.
    [[nodiscard]] Status create(const LinkSet::Row& row) {
        const LinkRow wanted{row.link,           context_.account,
                             *row.program,       first_id(txn_, context_.account, *row.creator),
                             *row.destination,   *row.deep,
                             LinkState::kActive, context_.source.received_at};
        if (const LinkRow* const stored = find(row.link)) {
            return check_equal(row, *stored, wanted);
        }
        if (Status fits = check_new(row, wanted); !fits) {
            return fits;
        }
        if (++head_.links > kLinksMax) {
            return link_fault(row, "the ledger has " + std::to_string(kLinksMax) +
                                       " links, which is the most: remove some");
        }
        note(wanted);
        return Status::success();
    }

    /// Returns the link of the account, or an error.
    [[nodiscard]] Result<LinkRow> own(const LinkSet::Row& row) {
        const LinkRow* const stored = find(row.link);
        if (stored == nullptr || stored->account != context_.account ||
            stored->state == LinkState::kRemoved) {
            return not_found("account " + context_.account_id.str() + " has no " + named(row));
        }
        return *stored;
    }
    void note(const LinkRow& row) {
        rows_[row.link] = row;
        changed_.push_back(row.link);
    }
    void forget_one() { --head_.links; }

    /// Writes what was noted. Returns the number of links that changed.
    std::size_t write() {
        for (const LinkId& id : changed_) {
            const LinkRow& row = *rows_.at(id);
            txn_.put(row);
            txn_.put(LinkByCreator{row.account, row.creator, row.link});
        }
        if (!changed_.empty()) {
            ++head_.revision;
            txn_.put(head_);
        }
        return changed_.size();
    }

private:
    /// Returns nullptr if the id was never used.
    [[nodiscard]] const LinkRow* find(const LinkId& id) {
        const auto [known, is_new] = rows_.try_emplace(id);
        if (is_new) {
            LinkRow row{.link = id};
            if (txn_.load(row)) {
                known->second = std::move(row);
            }
        }
        return known->second ? &*known->second : nullptr;
    }

    /// Says nothing about a link of another account.
    [[nodiscard]] Status check_equal(const LinkSet::Row& row, const LinkRow& stored,
                                     const LinkRow& wanted) const {
        if (stored.account != context_.account) {
            return link_fault(row, named(row) + " is taken");
        }
        if (stored.state == LinkState::kRemoved) {
            return link_fault(row, named(row) + " was removed: an id is never used again");
        }
        if (stored.program != wanted.program || stored.creator != wanted.creator) {
            return link_fault(row, named(row) + " is of creator " + stored.creator.str() +
                                       " in program " + stored.program.str() +
                                       ", for ever: choose another id");
        }
        if (stored.destination != wanted.destination || stored.deep != wanted.deep) {
            return link_fault(
                row, named(row) + " exists and leads elsewhere: `sluice link set` changes it");
        }
        return Status::success();
    }

    [[nodiscard]] Status check_new(const LinkSet::Row& row, const LinkRow& wanted) {
        const ProgramRow* const program = programs_.find(wanted.program);
        if (program == nullptr || program->program.account != context_.account) {
            return link_fault(row, "account " + context_.account_id.str() + " has no program " +
                                       wanted.program.str());
        }
        if (!is_member(txn_, context_.account, wanted.program, wanted.creator)) {
            return link_fault(row, "creator " + row.creator->str() + " is not in program " +
                                       wanted.program.str());
        }
        return check_destination(row, wanted.destination, wanted.deep);
    }

    const CommandContext& context_;
    LedgerTxn& txn_;
    ProgramsByName programs_;
    LinksHead head_;
    std::map<LinkId, std::optional<LinkRow>> rows_;
    std::vector<LinkId> changed_;
};

Result<Reply> create_links(const LinkSet& command, LinkBook& book) {
    for (const LinkSet::Row& row : command.rows) {
        if (Status created = book.create(row); !created) {
            return created.error();
        }
    }
    const std::size_t changed = book.write();
    if (command.rows.front().line == 0) {
        const std::string name = named(command.rows.front());
        return changed == 0 ? nothing(name + " exists so already") : done(name + " created");
    }
    const std::size_t equal = command.rows.size() - changed;
    const std::string kept =
        equal == 0 ? ""
                   : "; " + counted(equal, "row states", "rows state") + " what is stored already";
    return changed == 0 ? nothing("no link was created" + kept)
                        : done(counted(changed, "link", "links") + " created" + kept);
}

Result<Reply> change_link(const LinkSet::Row& row, LinkBook& book) {
    Result<LinkRow> link = book.own(row);
    if (!link) {
        return link.error();
    }
    const LinkRow before = *link;
    link->destination = row.destination.value_or(before.destination);
    link->deep = row.deep.value_or(before.deep);
    if (Status fits = check_destination(row, link->destination, link->deep); !fits) {
        return fits.error();
    }
    if (link->destination == before.destination && link->deep == before.deep) {
        return nothing(named(row) + " is so already");
    }
    book.note(*link);
    (void)book.write();
    return done(named(row) + " leads to " + link->destination +
                (link->deep ? ", and what follows its id is appended" : ""));
}

Result<Reply> move_link(const LinkSet::Row& row, LinkState to, const char* is, LinkBook& book) {
    Result<LinkRow> link = book.own(row);
    if (!link) {
        return link.error();
    }
    if (link->state == to) {
        return nothing(named(row) + " is " + is + " already");
    }
    link->state = to;
    book.note(*link);
    if (to == LinkState::kRemoved) {
        book.forget_one();
    }
    (void)book.write();
    return done(named(row) + " is " + is);
}

}  // namespace

Result<Reply> set_links(const LinkSet& command, const CommandContext& context,
                        ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (command.rows.empty()) {
        return refused("the file has no links");
    }
    LinkBook book(context, txn);
    const LinkSet::Row& row = command.rows.front();
    switch (command.verb) {
        case LinkVerb::kCreate:
            return create_links(command, book);
        case LinkVerb::kSet:
            return change_link(row, book);
        case LinkVerb::kStop:
            return move_link(row, LinkState::kStopped, "stopped", book);
        case LinkVerb::kStart:
            return move_link(row, LinkState::kActive, "active", book);
        case LinkVerb::kRemove:
            break;
    }
    return move_link(row, LinkState::kRemoved, "removed", book);
}

}  // namespace sluice
