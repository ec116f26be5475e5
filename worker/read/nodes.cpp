// Nodes: how far each has applied its inputs, and which are behind (G12).
#include <algorithm>
#include <map>

#include "worker/read/lists.hpp"

namespace sluice::serve {
namespace {

constexpr std::int64_t kSecondsBehind = 3600;

}  // namespace

std::vector<NodeState> node_states(Read& read) {
    std::vector<NodeState> nodes;
    read.ledger.scan_heads([&](const LedgerHead& head) {
        nodes.push_back({head, head.node == read.worker.node && read.worker.is_behind});
        return true;
    });
    const auto newest =
        std::max_element(nodes.begin(), nodes.end(), [](const NodeState& a, const NodeState& b) {
            return a.head.last_received < b.head.last_received;
        });
    for (NodeState& node : nodes) {
        node.is_behind = node.is_behind || node.head.last_received.plus_seconds(kSecondsBehind) <
                                               newest->head.last_received;
    }
    return nodes;
}

std::vector<reports::Column> node_columns() {
    return {{"node"}, {"number"}, {"last_received"}, {"applied_seq"},  {"entries"},
            {"hash"}, {"behind"}, {"waiting"},       {"worker_state"}, {"worker_version"}};
}

Page list_nodes(Read& read) {
    std::map<std::string, ChainHead> chains;
    read.ledger.scan_chains([&](const NodeChain& chain) {
        if (chain.account == read.grant.account) {
            chains.emplace(chain.node, chain.head);
        }
        return true;
    });
    PageOfAll page(read, {0});
    for (const auto& [head, is_behind] : node_states(read)) {
        const ChainHead& chain = chains[head.node];
        const bool own = head.node == read.worker.node;
        page.add({head.node, head.number, head.last_received.to_string(), head.applied_seq.value,
                  chain.entries, to_hex(chain.hash), is_behind,
                  own ? reports::Json(read.worker.waiting) : reports::Json(),
                  own ? reports::Json(read.worker.state) : reports::Json(),
                  own ? reports::Json(read.worker.version) : reports::Json()});
    }
    return std::move(page).take();
}

}  // namespace sluice::serve
