# SPDX-License-Identifier: MIT
# What running kernels takes: threads; and the headers of HSA, without which there are no devices hsa:N and sim:….
find_package(Threads REQUIRED)
find_path(HSA_INCLUDE_DIR hsa/hsa_ext_amd.h)
if(HSA_INCLUDE_DIR)
  add_library(tilejit_hsa INTERFACE)
  target_include_directories(tilejit_hsa SYSTEM INTERFACE "${HSA_INCLUDE_DIR}")
elseif(TILEJIT_RUNTIME_ONLY OR TILEJIT_PLAYGROUND)
  message(STATUS "hsa/hsa_ext_amd.h was not found (libhsa-runtime-dev): no devices hsa:N, sim:…")
else()
  message(FATAL_ERROR "hsa/hsa_ext_amd.h was not found: install libhsa-runtime-dev")
endif()
