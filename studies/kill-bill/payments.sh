#!/usr/bin/env bash
# `payments.sh PORT` prints how many payments Kill Bill says that it has, asked by its own pages.
set -euo pipefail

exec 3<>"/dev/tcp/127.0.0.1/$1"
printf '%s\r\n' "GET /1.0/kb/payments/pagination?limit=1 HTTP/1.1" "Host: 127.0.0.1" "Authorization: Basic YWRtaW46cGFzc3dvcmQ=" \
    "X-Killbill-ApiKey: bakeoff" "X-Killbill-ApiSecret: bakeoff-secret" "Connection: close" "" >&3
sed -n 's/^X-Killbill-Pagination-TotalNbRecords: \([0-9]*\).*/\1/p' <&3
