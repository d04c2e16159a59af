/* SPDX-License-Identifier: MIT */
// The passes from IR to machine code, from which LLVM's C API does not let anyone choose. LLVM's target lists them
// for code of any kind; those that are not wanted are left out as they come. Analyses that a later pass needs LLVM
// adds by itself. With internal checks, names that no pass has are an error.
#include "llvm/machine_passes.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>

namespace {

class ChoosyPassManager : public llvm::legacy::PassManager {
public:
  explicit ChoosyPassManager(const char *const idle[]) {
    for (; idle != nullptr && *idle != nullptr; idle++)
      is_met_[*idle] = false;
  }

  void add(llvm::Pass *pass) override {
    auto idle = is_met_.find(pass->getPassName());
    if (idle == is_met_.end()) {
      PassManager::add(pass);
      return;
    }
    idle->second = true;
    delete pass;
  }

  bool has_met_all() const {
    return std::all_of(is_met_.begin(), is_met_.end(), [](const auto &idle) { return idle.second; });
  }

private:
  llvm::StringMap<bool> is_met_;
};

#ifdef TJ_DEBUG
const bool checks_names = true;
#else
const bool checks_names = false;
#endif

} // namespace

extern "C" __attribute__((visibility("default"))) bool
tj_run_machine_passes(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *const idle[],
                      LLVMCodeGenFileType output, LLVMMemoryBufferRef *buffer) {
  auto *target = reinterpret_cast<llvm::TargetMachine *>(machine);
  auto type = output == LLVMObjectFile ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  ChoosyPassManager passes(idle);
  if (target->addPassesToEmitFile(passes, stream, nullptr, type) || (checks_names && !passes.has_met_all()))
    return false;
  passes.run(*llvm::unwrap(module));
  *buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(code.data(), code.size(), "");
  return true;
}
