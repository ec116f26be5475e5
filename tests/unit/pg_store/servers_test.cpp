// Which servers a URL means, and what they say when they refuse.
#include "pg_store/connection/servers.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pg_store/connection/error.hpp"

namespace sluice::pg {
namespace {

Servers servers(const std::string& text) {
    return servers_of(*Url::parse(text)).value();
}

std::string value(const Parameters& parameters, std::string_view keyword) {
    for (const auto& [key, found] : parameters) {
        if (key == keyword) {
            return found;
        }
    }
    return "-";
}

TEST(Servers, EachHostHasItsPort) {
    const Servers found = servers("postgres://sluice@db1:5433,db2,[::1]:5434/x?sslmode=require");
    ASSERT_EQ(found.all.size(), 3u);
    EXPECT_EQ(found.all[0].host, "db1");
    EXPECT_EQ(found.all[0].port, "5433");
    EXPECT_EQ(found.all[1].host, "db2");
    EXPECT_EQ(found.all[2].host, "::1");
    EXPECT_EQ(found.all[2].port, "5434");
    const Parameters first = parameters_of(found, found.all[0]);
    EXPECT_EQ(value(first, "host"), "db1");
    EXPECT_EQ(value(first, "dbname"), "x");
    EXPECT_EQ(value(first, "sslmode"), "require");
    EXPECT_EQ(value(first, "client_encoding"), "UTF8");
}

TEST(Servers, OnePortIsEveryHosts) {
    const Servers found = servers("postgres://db1,db2/x?port=6432");
    ASSERT_EQ(found.all.size(), 2u);
    EXPECT_EQ(found.all[1].port, "6432");
}

TEST(Servers, AddressesAndNamesBelongTogether) {
    const Servers found = servers("postgres://db1,db2/x?hostaddr=10.0.0.1,10.0.0.2");
    ASSERT_EQ(found.all.size(), 2u);
    EXPECT_EQ(found.all[1].host, "db2");
    EXPECT_EQ(found.all[1].address, "10.0.0.2");
    EXPECT_EQ(shown(found.all[1]), "server at \"db2\" (10.0.0.2), port 5432");
    const auto wrong = servers_of(*Url::parse("postgres://db1,db2/x?hostaddr=10.0.0.1"));
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, ErrorCode::kInvalid);
}

TEST(Servers, ANameMeansAllItsAddresses) {
    const auto found = addresses_of({"localhost", "", "5432"});
    ASSERT_TRUE(found.ok());
    ASSERT_FALSE(found->empty());
    for (const Server& address : *found) {
        EXPECT_EQ(address.host, "localhost");
        EXPECT_TRUE(address.address == "127.0.0.1" || address.address == "::1") << address.address;
    }
    EXPECT_EQ(addresses_of({"10.0.0.1", "", ""})->front().address, "");
    EXPECT_EQ(addresses_of({"/run/postgresql", "", ""})->front().address, "");
    EXPECT_EQ(addresses_of({"no-such-host.invalid", "", ""}).error().code, ErrorCode::kIo);
}

TEST(Servers, PatienceIsForEachAddress) {
    EXPECT_EQ(servers("postgres://db/x").patience.count(), 5);
    EXPECT_EQ(servers("postgres://db/x?connect_timeout=2").patience.count(), 2);
    EXPECT_EQ(servers("postgres://db/x?connect_timeout=0").patience.count(), 5);
    EXPECT_EQ(servers("postgres://db/x?connect_timeout=900").patience.count(), 25);
}

TEST(Servers, AServiceFileCounts) {
    const auto file =
        std::filesystem::temp_directory_path() / ("sluice-service-" + std::to_string(::getpid()));
    std::ofstream(file) << "[fleet]\nhost=db1,db2\nkeepalives_idle=7\nconnect_timeout=3\n"
                           "target_session_attrs=standby\n";
    ::setenv("PGSERVICEFILE", file.c_str(), 1);
    const Servers found = servers("postgres:///x?service=fleet");
    const auto missing = servers_of(*Url::parse("postgres:///x?service=missing"));
    ::unsetenv("PGSERVICEFILE");
    std::filesystem::remove(file);
    ASSERT_EQ(found.all.size(), 2u);
    EXPECT_EQ(found.all[1].host, "db2");
    EXPECT_EQ(found.patience.count(), 3);
    EXPECT_EQ(found.wanted, "standby");
    EXPECT_EQ(value(found.common, "keepalives_idle"), "-") << "libpq takes it from the service";
    EXPECT_EQ(value(found.common, "tcp_user_timeout"), "15000");
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("\"missing\" not found"), std::string::npos)
        << missing.error().message;
}

TEST(Refusal, TheStateDecides) {
    const Error wrong = refusal(
        "connection to server at \"10.0.0.1\", port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"sluice\"\nLOCATION:  auth_failed, auth.c:335\n");
    EXPECT_EQ(wrong.code, ErrorCode::kPermission);
    EXPECT_EQ(wrong.message,
              "PostgreSQL: connection to server at \"10.0.0.1\", port 5432 failed: password "
              "authentication failed for user \"sluice\" (SQLSTATE 28P01)");
    EXPECT_EQ(refusal("x failed: FATAL:  3D000: database \"y\" does not exist").code,
              ErrorCode::kNotFound);
    EXPECT_EQ(refusal("x failed: FATAL:  57P03: the database system is starting up").code,
              ErrorCode::kIo);
    EXPECT_EQ(refusal("x failed: Connection refused\n\tIs the server running?").code,
              ErrorCode::kIo);
    EXPECT_EQ(refusal(nullptr).code, ErrorCode::kIo);
    EXPECT_EQ(refusal(":  28P01").code, ErrorCode::kIo);
    EXPECT_EQ(refusal(":  28P01: ").code, ErrorCode::kPermission);
}

}  // namespace
}  // namespace sluice::pg
