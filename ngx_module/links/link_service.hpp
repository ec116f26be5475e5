// Link service: what the handler of links uses in one process.
#pragma once

#include "ngx_module/links/click_buffer.hpp"
#include "ngx_module/links/link_table.hpp"

namespace sluice::ngx {

class LinkService {
public:
    LinkService(LinkTable& links, ClickBuffer& clicks, MetricsBlock& shared_metrics) noexcept
        : table(links), buffer(clicks), metrics(shared_metrics) {}

    LinkTable& table;
    ClickBuffer& buffer;
    MetricsBlock& metrics;
};

}  // namespace sluice::ngx
