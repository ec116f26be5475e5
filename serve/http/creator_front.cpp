#include "serve/http/creator_front.hpp"

#include "core/values/lookup.hpp"
#include "os/clock/clock.hpp"
#include "serve/creators/page_files.hpp"
#include "serve/http/files.hpp"

namespace sluice::serve {
namespace {

constexpr std::string_view kPages = "/c/", kReads = "v1/";

Answer not_admitted() {
    return problem("unauthorized")
        .with("WWW-Authenticate", "Bearer")
        .with("Cache-Control", "no-store");
}

/// Returns the account, decoded, and the rest of `/c/ACCOUNT/rest`, or empty texts for another
/// path.
std::pair<std::string, std::string_view> parts_of(std::string_view path) {
    const std::size_t slash =
        path.starts_with(kPages) ? path.find('/', kPages.size()) : std::string_view::npos;
    if (slash == std::string_view::npos) {
        return {};
    }
    return {decoded_part(path.substr(kPages.size(), slash - kPages.size())),
            path.substr(slash + 1)};
}

/// An SVG file may have scripts, which a browser runs if the file is opened by itself.
Answer logo_file(const PageLogo& logo) {
    return Answer{.type = logo.type, .body = logo.bytes}.with(
        "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
}

/// Adds what every file of the page has.
Answer page_file_answer(const AccountPage& page, Answer answer, const Request& request) {
    const auto add_if_absent = [&answer](const std::string& name, std::string value) {
        if (find_item(answer.headers, name, &std::pair<std::string, std::string>::first) ==
            nullptr) {
            answer.with(name, std::move(value));
        }
    };
    add_if_absent("Content-Security-Policy", page_policy(frame_ancestors(page)));
    add_if_absent("Cross-Origin-Resource-Policy", "same-origin");
    answer.with("Cache-Control", "no-cache");
    tag_answer(answer, request.if_none_match.value_or(""));
    return answer;
}

/// Returns a file of the page of an account, or nothing.
std::optional<Answer> find_page_file(const AccountPage& page, std::string_view rest) {
    const std::string_view name = rest.empty() ? "index.html" : rest;
    if (name == "settings.js") {
        return text_file(name, settings_js(page));
    }
    if (name == "theme.css") {
        return text_file(name, theme_css(page));
    }
    if (name == "logo" && page.logo) {
        return logo_file(*page.logo);
    }
    const StaticFile* const found = find_item(creator_files(), name, &StaticFile::path);
    if (found == nullptr) {
        return std::nullopt;
    }
    Answer answer = text_file(name, std::string(found->bytes));
    if (name == "creators.js") {  // the platform's page loads it, with a digest to check
        answer.with("Access-Control-Allow-Origin", "*");
        answer.with("Cross-Origin-Resource-Policy", "cross-origin");
    }
    return answer;
}

}  // namespace

std::optional<std::int64_t> FindLimits::count(const std::string& account, const std::string& caller,
                                              std::int64_t now_second) {
    constexpr unsigned kOfCreator = 30, kOfAccount = 300;
    constexpr std::size_t kRemembered = 100'000;
    const auto window_at = [now_second](std::map<std::string, Window>& all, const std::string& key,
                                        std::int64_t length) -> Window& {
        const std::int64_t begins = now_second - now_second % length;
        if (all.size() > kRemembered) {
            std::erase_if(all, [begins](const auto& one) { return one.second.begins != begins; });
        }
        Window& window = all[key];
        window = window.begins == begins ? window : Window{begins, 0};
        return window;
    };
    Window& hers = window_at(creators_, caller, kSecondsPerDay);
    Window& all = window_at(accounts_, account, kSecondsPerHour);
    if (hers.count >= kOfCreator) {
        return hers.begins + kSecondsPerDay - now_second;
    }
    if (all.count >= kOfAccount) {
        return all.begins + kSecondsPerHour - now_second;
    }
    ++hers.count;
    ++all.count;
    return std::nullopt;
}

Outcome CreatorFront::admit(const Request& request, bool is_ready) {
    Outcome outcome{"other", {}, {}, Answer{}};
    const auto target = parse_target(request.target);
    if (!target) {
        outcome.result = problem("bad_request");
        return outcome;
    }
    const std::string& path = target->path;
    const auto [account, rest] = parts_of(path);
    const AccountPage* const page = find_value(pages_.accounts, AccountId(account));
    const bool is_read = rest.starts_with(kReads);
    const CreatorPath* const found =
        page != nullptr && is_read ? find_creator_path(rest.substr(kReads.size())) : nullptr;
    std::optional<Answer> file =
        page != nullptr && !is_read ? find_page_file(*page, rest) : std::nullopt;
    if (found == nullptr && !file && !is_own(path)) {
        outcome.result = problem("no_such_path");
        return outcome;
    }
    outcome.path = found != nullptr ? std::string(found->path) : file ? "file" : path;
    if (request.method != "GET" && request.method != "HEAD") {
        outcome.result = problem("method_not_allowed");
    } else if (found != nullptr) {
        admit_path(request, AccountId(account), *found, *target, outcome);
    } else if (file) {
        outcome.account = account;
        outcome.result = page_file_answer(*page, *std::move(file), request);
    } else {
        outcome.result = own_answer(path, is_ready);
    }
    return outcome;
}

void CreatorFront::admit_path(const Request& request, const AccountId& account,
                              const CreatorPath& path, const Target& target, Outcome& outcome) {
    const Timestamp at = now();
    const auto found = tokens_.find(request.authorization, account, at);
    if (!found.ok()) {
        outcome.result = problem("ledger_unavailable");
        return;
    }
    if (const PageRefusal* const refused = std::get_if<PageRefusal>(&*found)) {
        ++refused_[to_string(*refused)];
        outcome.result = not_admitted();
        return;
    }
    const PageCaller& caller = std::get<PageCaller>(*found);
    outcome.caller = "c:" + account.str() + "/" + caller.scope.creator().str();
    outcome.account = account.str();
    outcome.logged = caller.logged;
    Admitted admitted;
    admitted.headers = {{"Cache-Control", "no-store"}};
    const auto answer = [&](Answer refused) {
        outcome.result = with_headers(std::move(refused), admitted);
    };
    if (auto refused = tell_rate(rates_.count(outcome.caller, at.seconds), admitted)) {
        return answer(*std::move(refused));
    }
    std::vector<ParameterError> errors;
    Arguments arguments = check_parameters(path.parameters, target.parameters, at, errors);
    if (!errors.empty()) {
        return answer(parameter_problem(errors));
    }
    if (path.path == "find") {
        if (const auto wait = finds_.count(account.str(), outcome.caller, at.seconds)) {
            return answer(problem("rate_limited").with("Retry-After", std::to_string(*wait)));
        }
    }
    admitted.job.grant.account = caller.scope.account();
    admitted.job.now = at;
    admitted.job.own = [&path, scope = caller.scope, arguments, at, count = foreign_rows_,
                        found = found_,
                        sent = target.path](LedgerReader& ledger, const WorkerPage& worker) {
        try {
            return answer_path(path, ledger, scope,
                               {arguments, at, worker.is_behind, *found, sent, {}});
        } catch (const ForeignRow&) {
            ++*count;
            throw;  // logged and answered as any failure
        }
    };
    outcome.result = std::move(admitted);
}

std::optional<Answer> CreatorFront::refusal(const Request& request, const Admitted& /*admitted*/) {
    const auto target = parse_target(request.target);
    const AccountId account(target ? parts_of(target->path).first : std::string());
    const auto found = tokens_.find(request.authorization, account, now());
    if (!found.ok()) {
        return problem("ledger_unavailable");
    }
    return std::holds_alternative<PageRefusal>(*found) ? std::optional(not_admitted())
                                                       : std::nullopt;
}

/// Writes neither parameter nor token: creator and random bytes lead to the link.
void CreatorFront::note(const Request& request, const Outcome& outcome, unsigned status,
                        std::chrono::microseconds took) {
    ++figures_.requests[{outcome.path, status}];
    log_answer(outcome.logged, request, outcome, status, took);
}

std::string CreatorFront::metrics() {
    std::string text;
    add_head(text, "sluice_creator_requests_total", "counter",
             "Answered requests of creators' pages.");
    for (const auto& [key, count] : figures_.requests) {
        add_sample(text, "sluice_creator_requests_total",
                   {{"path", key.first}, {"status", std::to_string(key.second)}}, count);
    }
    add_head(text, "sluice_creator_refused_total", "counter", "Page tokens that were refused.");
    for (const auto& [reason, count] : refused_) {
        add_sample(text, "sluice_creator_refused_total", {{"reason", reason}}, count);
    }
    add_head(text, "sluice_creator_find_total", "counter", "Answers to where an order is.");
    for (const auto& [cause, count] : found_->all()) {
        add_sample(text, "sluice_creator_find_total", {{"cause", cause}}, count);
    }
    add_head(text, "sluice_creator_foreign_rows_total", "counter",
             "Rows of another creator that were about to be shown.");
    add_sample(text, "sluice_creator_foreign_rows_total", {}, foreign_rows_->load());
    return text;
}

}  // namespace sluice::serve
