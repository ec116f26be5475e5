#include "serve/http/front.hpp"

#include <algorithm>

#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "serve/http/files.hpp"
#include "serve/read/http.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

constexpr std::string_view kApi = "/v1/";

Answer unauthorized(Door door) {
    Answer answer = problem("unauthorized");
    if (door == Door::kTokens) {
        answer.with("WWW-Authenticate", "Bearer");
    }
    return answer;
}

Answer lacks_scope(Door door, unsigned scope) {
    const std::string name = cli::scope_names(scope).front();
    Answer answer = problem("scope", "needs the scope " + name);
    if (door == Door::kTokens) {
        answer.with("WWW-Authenticate",
                    "Bearer error=\"insufficient_scope\", scope=\"" + name + "\"");
    }
    return answer;
}

/// Returns the grant that the parameter `account` names, the only one, or nullptr.
const Grant* grant_of(const Caller& caller,
                      const std::vector<std::pair<std::string, std::string>>& parameters) {
    const auto* const named =
        find_item(parameters, "account", &std::pair<std::string, std::string>::first);
    if (named == nullptr) {
        return caller.grants.size() == 1 ? &caller.grants.front() : nullptr;
    }
    return find_item(caller.grants, named->second,
                     [](const Grant& grant) { return grant.account_id.str(); });
}

bool is_cross_site(const Request& request) {
    return request.door == Door::kPeople && request.fetch_site.has_value() &&
           *request.fetch_site != "same-origin" && *request.fetch_site != "none";
}

/// Returns the caller without the local parts of e-mail addresses, which logs never hold:
/// `u:g***@acme.example`.
std::string logged_caller(const std::string& caller) {
    constexpr std::size_t kPrefix = 2;  // of Caller::key()
    const auto is_of_address = [](char c) {
        return is_ascii_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
               std::string_view("!#$%&'*+-/?^_`{|}~.").find(c) != std::string_view::npos;
    };
    std::string shown;
    std::size_t from = 0;
    for (std::size_t at = caller.find('@'); at != std::string::npos;
         at = caller.find('@', at + 1)) {
        std::size_t begin = at;
        while (begin > std::max(from, kPrefix) && is_of_address(caller[begin - 1])) {
            --begin;
        }
        shown += caller.substr(from, begin - from);
        shown += begin < at ? caller.substr(begin, 1) + "***" : "";
        from = at;
    }
    return cli::printable(shown + caller.substr(from));
}

}  // namespace

Outcome Front::admit(const Request& request, bool is_ready) {
    Outcome outcome{"other", {}, {}, Answer{}};
    const auto target = parse_target(request.target);
    if (!target) {
        outcome.result = problem("bad_request");
        return outcome;
    }
    const std::string& path = target->path;
    const Resource* const resource = resource_of(request, path);
    const StaticFile* const file = find_file(path);
    if (resource == nullptr && file == nullptr && !is_own(path) && path != "/v1/openapi.json" &&
        path != "/ui") {
        outcome.result = problem("no_such_path");
        return outcome;
    }
    outcome.path = path;
    if (request.method != "GET" && request.method != "HEAD") {
        outcome.result = problem("method_not_allowed");
    } else if (resource != nullptr) {
        admit_resource(request, *resource, target->parameters, outcome);
    } else if (file != nullptr) {
        outcome.result = file_answer(*file, request.if_none_match.value_or(""));
    } else if (path == "/ui") {
        Answer moved = text_answer("The page is at /ui/.\n");
        moved.status = 308;
        outcome.result = moved.with("Location", "/ui/");
    } else if (path == "/v1/openapi.json") {
        Answer answer{.body = openapi_json()};
        tag_answer(answer, request.if_none_match.value_or(""));
        outcome.result = std::move(answer);
    } else {
        outcome.result = own_answer(path, is_ready);
    }
    return outcome;
}

const Resource* Front::resource_of(const Request& request, std::string_view path) const {
    const Resource* const found =
        path.starts_with(kApi) ? find_resource(path.substr(kApi.size())) : nullptr;
    const bool is_served =
        found != nullptr && (!found->has(kMakesLink) || (pages_ && request.door == Door::kTokens));
    return is_served ? found : nullptr;
}

void Front::admit_resource(const Request& request, const Resource& resource,
                           const std::vector<std::pair<std::string, std::string>>& parameters,
                           Outcome& outcome) {
    const Timestamp at = now();
    auto found = callers_.find(request, at);
    if (!found.ok()) {
        outcome.result = problem("ledger_unavailable");
        return;
    }
    if (!*found) {
        outcome.result = unauthorized(request.door);
        return;
    }
    Caller caller = **std::move(found);
    outcome.caller = caller.key();
    Admitted admitted;
    RateWindows& rates = resource.has(kMakesLink) ? link_rates_ : rates_;
    admitted.headers = {
        {"Cache-Control", resource.has(kMakesLink) ? "no-store" : "private, no-cache"},
        {"Vary", "Authorization, Cookie"}};
    const auto answer = [&](Answer refused) {
        outcome.result = with_headers(std::move(refused), admitted);
    };
    if (auto refused = tell_rate(rates.count(caller.key(), at.seconds), admitted)) {
        return answer(*std::move(refused));
    }
    if (caller.grants.empty()) {
        return answer(problem("no_account"));
    }
    const Grant* const grant = grant_of(caller, parameters);
    // The scope comes before the account: a caller that has it in no account gets 403.
    const auto has_scope = [&resource](const Grant& one) {
        return resource.scope == 0 || (one.scopes & resource.scope) != 0;
    };
    const bool may =
        grant != nullptr ? has_scope(*grant) : std::ranges::any_of(caller.grants, has_scope);
    if (!may) {
        return answer(lacks_scope(request.door, resource.scope));
    }
    if (is_cross_site(request)) {
        return answer(problem("cross_site"));
    }
    std::vector<ParameterError> errors;
    Arguments arguments = check_parameters(parameters_of(resource), parameters, at, errors);
    if (!resource.has(kNoAccount) && grant == nullptr && caller.grants.size() > 1 &&
        !arguments.has("account") &&
        find_item(errors, "account", &ParameterError::parameter) == nullptr) {
        errors.push_back({"account", "required: the user has several accounts"});
    }
    if (!errors.empty()) {
        return answer(parameter_problem(errors));
    }
    if (!resource.has(kNoAccount) && grant == nullptr) {
        return answer(problem("not_found"));
    }
    const auto address =
        resource.has(kMakesLink) ? pages_->address_of(grant->account_id) : std::nullopt;
    if (resource.has(kMakesLink) && !address) {
        return answer(problem("not_found", "the account's creators have no page here"));
    }
    outcome.account = grant == nullptr ? "" : grant->account_id.str();
    admitted.job = {&resource,
                    std::move(caller),
                    grant == nullptr ? Grant{} : *grant,
                    std::move(arguments),
                    at,
                    request.if_none_match.value_or(""),
                    nullptr};
    if (address) {
        admitted.job.links.reset(
            new PageLinks{*address, PageSigner(bearer_of(*request.authorization))});
    }
    outcome.result = std::move(admitted);
}

std::optional<Answer> Front::refusal(const Request& request, const Admitted& admitted) {
    const auto found = callers_.find(request, now());
    if (!found.ok()) {
        return problem("ledger_unavailable");
    }
    if (!*found) {
        return unauthorized(request.door);
    }
    const auto& grants = (*found)->grants;
    const bool still_has = admitted.job.resource->has(kNoAccount) ||
                           std::ranges::any_of(grants, [&](const Grant& grant) {
                               return grant.account == admitted.job.grant.account &&
                                      grant.scopes == admitted.job.grant.scopes;
                           });
    return still_has ? std::nullopt
                     : std::optional(
                           problem("no_account", "the account or role was taken away meanwhile"));
}

std::string Front::metrics() {
    return metrics_text(figures_, silence_, paths_);
}

void Front::note(const Request& request, const Outcome& outcome, unsigned status,
                 std::chrono::microseconds took) {
    ++figures_.requests[{outcome.path, status}];
    ++figures_.answered[outcome.path];
    figures_.microseconds[outcome.path] += static_cast<std::uint64_t>(took.count());
    log_answer(logged_caller(outcome.caller), request, outcome, status, took, outcome.logged);
}

}  // namespace sluice::serve
