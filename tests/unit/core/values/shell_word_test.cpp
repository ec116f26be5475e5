// A word of a shell's command line is what it was made of, and nothing in it is run.
#include "core/values/shell_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace sluice {
namespace {

/// Returns what bash gives a program as its argument.
std::string as_bash_reads(const std::string& word) {
    const std::string line = "bash -c " + shell_word("printf %s " + word);
    std::FILE* out = ::popen(line.c_str(), "r");
    std::string read;
    std::array<char, 256> buffer{};
    for (std::size_t bytes = 0; (bytes = std::fread(buffer.data(), 1, buffer.size(), out)) > 0;) {
        read.append(buffer.data(), bytes);
    }
    return ::pclose(out) == 0 ? read : "failed";
}

TEST(ShellWord, LeavesAnOrdinaryPathAsItIs) {
    EXPECT_EQ(shell_word("/var/lib/sluice/queue/lanes/00000001.lane"),
              "/var/lib/sluice/queue/lanes/00000001.lane");
}

TEST(ShellWord, IsReadByAShellAsTheTextThatItWasMadeOf) {
    for (const std::string text :
         {"", "a b", "-rf", "it's", "\"double\"", "$(touch /tmp/x)", "`touch /tmp/x`", "a;b&c|d>e",
          "back\\slash", "new\nline", "\x1b[31mred", "\xff\xfe", "gr\xc3\xbc\xc3\x9f", "'\n'\\'"}) {
        EXPECT_EQ(as_bash_reads(shell_word(text)), text) << shell_word(text);
    }
}

TEST(ShellWord, HasNoByteThatATerminalObeys) {
    for (int byte = 1; byte < 256; ++byte) {
        for (const char c : shell_word(std::string(1, static_cast<char>(byte)))) {
            EXPECT_TRUE(c >= ' ' && c <= '~') << byte;
        }
    }
}

}  // namespace
}  // namespace sluice
