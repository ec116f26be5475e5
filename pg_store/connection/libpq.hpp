// libpq, loaded when the first URL of a PostgreSQL ledger is read. Internal to pg_store.
#pragma once

#include <libpq-fe.h>

#include "os/libraries/lazy_library.hpp"

namespace sluice::pg {

inline constinit const LazyLibrary kLibpq{"libpq.so.5", "libpq5"};

// libpq documents these functions.
#define SLUICE_LIBPQ(name)                                        \
    inline constinit const LazyFunction<decltype(&::name)> name { \
        kLibpq, #name                                             \
    }
SLUICE_LIBPQ(PQbackendPID);
SLUICE_LIBPQ(PQcancel);
SLUICE_LIBPQ(PQclear);
SLUICE_LIBPQ(PQcmdStatus);
SLUICE_LIBPQ(PQcmdTuples);
SLUICE_LIBPQ(PQconnectPoll);
SLUICE_LIBPQ(PQconnectStartParams);
SLUICE_LIBPQ(PQconnectionNeedsPassword);
SLUICE_LIBPQ(PQconninfo);
SLUICE_LIBPQ(PQconninfoFree);
SLUICE_LIBPQ(PQconninfoParse);
SLUICE_LIBPQ(PQconsumeInput);
SLUICE_LIBPQ(PQenterPipelineMode);
SLUICE_LIBPQ(PQerrorMessage);
SLUICE_LIBPQ(PQexitPipelineMode);
SLUICE_LIBPQ(PQfinish);
SLUICE_LIBPQ(PQflush);
SLUICE_LIBPQ(PQfname);
SLUICE_LIBPQ(PQfreeCancel);
SLUICE_LIBPQ(PQgetCancel);
SLUICE_LIBPQ(PQgetResult);
SLUICE_LIBPQ(PQgetisnull);
SLUICE_LIBPQ(PQgetlength);
SLUICE_LIBPQ(PQgetvalue);
SLUICE_LIBPQ(PQisBusy);
SLUICE_LIBPQ(PQnfields);
SLUICE_LIBPQ(PQntuples);
SLUICE_LIBPQ(PQpipelineSync);
SLUICE_LIBPQ(PQputCopyData);
SLUICE_LIBPQ(PQputCopyEnd);
SLUICE_LIBPQ(PQresultErrorField);
SLUICE_LIBPQ(PQresultErrorMessage);
SLUICE_LIBPQ(PQresultStatus);
SLUICE_LIBPQ(PQsendPrepare);
SLUICE_LIBPQ(PQsendQuery);
SLUICE_LIBPQ(PQsendQueryParams);
SLUICE_LIBPQ(PQsendQueryPrepared);
SLUICE_LIBPQ(PQsetErrorVerbosity);
SLUICE_LIBPQ(PQsetNoticeReceiver);
SLUICE_LIBPQ(PQsetnonblocking);
SLUICE_LIBPQ(PQsocket);
SLUICE_LIBPQ(PQstatus);
SLUICE_LIBPQ(PQtransactionStatus);
#undef SLUICE_LIBPQ

}  // namespace sluice::pg
