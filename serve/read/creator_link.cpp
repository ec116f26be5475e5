// The link to a creator's page, which a platform's backend asks for.
#include "core/protocol/page_token.hpp"
#include "core/rules/account.hpp"
#include "os/random/random_bytes.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {

Answer make_creator_link(Read& read) {
    constexpr std::uint64_t kMinutes = 15, kSecondsPerMinute = 60;
    constexpr std::size_t kRandomBytes = 8;
    const CreatorId creator = creator_of(read).value();
    const auto seconds =
        static_cast<std::int64_t>(read.arguments.number("minutes", kMinutes) * kSecondsPerMinute);
    const PageToken token{TokenId(read.caller.name), creator, read.now.seconds,
                          read.now.seconds + seconds, random_hex(kRandomBytes)};
    const std::string text = read.links->signer.sign(token);
    Answer answer;
    answer.body =
        reports::Json{{"url", read.links->address + "#" + text},
                      {"token", text},
                      {"expires_at", Timestamp{token.expires, 0}.to_string()},
                      {"creator_id", shown_id(read.ledger, read.grant.account, creator).str()}}
            .compact();
    answer.logged = creator.str() + "/" + token.random;
    return answer;
}

}  // namespace sluice::serve
