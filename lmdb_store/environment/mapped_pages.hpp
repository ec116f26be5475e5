// Mapped pages: lets go of what a long walk through an environment has mapped into this process.
//
// LMDB maps its whole file. The kernel counts every page that was read as memory of the process
// until another program needs the memory. So a report over millions of rows would look as if it
// held them all, and a limit on the process's memory would end it. The pages stay in the page
// cache; reading them again costs a page fault.
#pragma once

#include <filesystem>

namespace sluice::store {

/// Drops the pages of read-only shared mappings of this file. Any pointer into them stays valid.
/// Does nothing where /proc cannot be read. Any thread.
void release_mapped_pages(const std::filesystem::path& file);

}  // namespace sluice::store
