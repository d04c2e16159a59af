#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a test on a device: run_on.sh DEVICE TILEJIT TEST. Where tilejit lists no such device, the test is skipped (77).
"$2" devices | grep -q "^$1 " || {
  echo "there is no device $1"
  exit 77
}
TILEJIT_TEST_DEVICE=$1 CK_DEFAULT_TIMEOUT=500 exec "$3"
