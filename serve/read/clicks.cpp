// Clicks.
#include "core/reports/clicks.hpp"

#include <utility>

#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

reports::ClicksBy by_of(const Arguments& arguments) {
    return arguments.is("by", "month")     ? reports::ClicksBy::kMonth
           : arguments.is("by", "link")    ? reports::ClicksBy::kLink
           : arguments.is("by", "creator") ? reports::ClicksBy::kCreator
                                           : reports::ClicksBy::kDay;
}

}  // namespace

Page list_clicks(Read& read) {
    constexpr std::size_t kPeriod = 0, kProgram = 1, kCreator = 2, kLink = 3, kCurrency = 8;
    reports::ClickListing listing{read.grant.account};
    const auto program = program_of(read);
    listing.program = program ? std::optional(program->program.id) : std::nullopt;
    listing.creator = creator_of(read);
    listing.link = read.arguments.id<LinkId>("link");
    listing.from = read.arguments.time("from");
    listing.to = read.arguments.time("to");
    listing.by = by_of(read.arguments);
    listing.unmatched = read.arguments.flag("unmatched").value_or(false);
    listing.has_amounts = read.sees_ledger();
    PageOfAll page(read, {kPeriod, kProgram, kCreator, kLink, kCurrency});
    reports::write_clicks(read.ledger, listing, page);
    return std::move(page).take();
}

}  // namespace sluice::serve
