/* SPDX-License-Identifier: MIT */
// The passes that make IR cheaper, as LLVM's pass builder reads them, and those from IR to machine code, from which
// LLVM's C API does not let anyone choose. LLVM's target lists the latter for code of any kind; those that are not
// wanted are left out as they come. Analyses that a later pass needs LLVM adds by itself. With internal checks, names
// that no pass has are an error.
//
// What passes have found out of a module is forgotten when they have run on it; passes to machine code do so
// themselves (llc -compile-twice holds LLVM to that). Printers of assembly do not: they say once in which section
// they begin. So they are set up each time, but for PTX, which has no sections.
#include "llvm/passes.h"
#include "llvm/selection.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Pass.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace {

// Whether a function does without a pass.
bool is_idle_in(const llvm::Function &function, llvm::StringRef pass) {
  llvm::SmallVector<llvm::StringRef, 8> idle;
  function.getFnAttribute(TJ_IDLE_IN_FUNCTION).getValueAsString().split(idle, ',');
  return std::find(idle.begin(), idle.end(), pass) != idle.end();
}

// --- IR to IR ---

bool should_optimize(llvm::StringRef pass, llvm::Any unit) {
  const auto *function = llvm::any_cast<const llvm::Function *>(&unit);
  return function == nullptr || !is_idle_in(**function, pass);
}

class Optimizer {
public:
  explicit Optimizer(llvm::TargetMachine *target)
      : builder_(target, llvm::PipelineTuningOptions(), std::nullopt, &callbacks_) {
    callbacks_.registerShouldRunOptionalPassCallback(should_optimize);
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  bool read(const char *pipeline) {
    llvm::Error error = builder_.parsePassPipeline(passes_, pipeline);
    bool is_read = !error;
    llvm::consumeError(std::move(error));
    return is_read;
  }

  void run(llvm::Module &module) {
    passes_.run(module, modules_);
    modules_.clear();
    components_.clear();
    functions_.clear();
    loops_.clear();
  }

private:
  llvm::PassInstrumentationCallbacks callbacks_;
  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::ModulePassManager passes_;
};

// --- IR to machine code ---

// LLVM asks it before each pass that code is right without, and names the function: "function (NAME)".
class Gate : public llvm::OptPassGate {
public:
  explicit Gate(llvm::Module &module) : module_(module) {
    module_.getContext().setOptPassGate(*this);
  }

  ~Gate() override {
    module_.getContext().setOptPassGate(llvm::getGlobalPassGate());
  }

  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef place) const override {
    const llvm::Function *function = module_.getFunction(place.split('(').second.split(')').first);
    return function == nullptr || !is_idle_in(*function, pass);
  }

  bool isEnabled() const override {
    return true;
  }

private:
  llvm::Module &module_;
};

class ChoosyPassManager : public llvm::legacy::PassManager {
public:
  explicit ChoosyPassManager(bool ends_copies) : ends_copies_(ends_copies) {
  }

  void leave_out(const char *const idle[]) {
    for (; idle != nullptr && *idle != nullptr; idle++)
      is_met_[*idle] = false;
  }

  void add(llvm::Pass *pass) override {
    llvm::StringRef name = pass->getPassName();
    unsigned number = ++added_[name];
    if (!is_idle(name.str()) && !is_idle(name.str() + " #" + std::to_string(number))) {
      add_with_neighbours(pass);
      return;
    }
    delete pass;
  }

  bool has_met_all() const {
    return std::all_of(is_met_.begin(), is_met_.end(), [](const auto &idle) { return idle.second; });
  }

private:
  bool is_idle(const std::string &name) {
    auto idle = is_met_.find(name);
    if (idle == is_met_.end())
      return false;
    idle->second = true;
    return true;
  }

  void add_with_neighbours(llvm::Pass *pass) {
    llvm::StringRef name = pass->getPassName();
    if (name == "IRTranslator")
      PassManager::add(tilejit::create_choice_of_selection());
    PassManager::add(pass);
    if (name == "Finalize ISel and expand pseudo-instructions" && ends_copies_)
      PassManager::add(tilejit::create_end_of_copies());
  }

  bool ends_copies_;
  llvm::StringMap<bool> is_met_;
  llvm::StringMap<unsigned> added_;
};

#ifdef TJ_DEBUG
const bool checks_names = true;
#else
const bool checks_names = false;
#endif

// How instructions of a module's functions are selected: all block by block; some by GlobalISel, which leaves to the
// other selection what it cannot select; or all by it, without numbers of a launch.
enum Selection { IN_BLOCKS, WHOLE, FIXED, SELECTION_COUNT };

Selection selection_of(const llvm::Module &module) {
  bool is_whole = false, is_fixed = true;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::Attribute attribute = function.getFnAttribute(TJ_SELECTED_WHOLE);
    is_whole = is_whole || attribute.isValid();
    is_fixed = is_fixed && attribute.isValid() && attribute.getValueAsString() == TJ_FIXED;
  }
  return !is_whole ? IN_BLOCKS : is_fixed ? FIXED : WHOLE;
}

class Generator {
public:
  Generator(llvm::TargetMachine *target, const tj_idle_passes &idle, Selection selection, llvm::CodeGenFileType type)
      : stream_(code_), passes_(target->getTargetTriple().isAMDGCN()) {
    passes_.leave_out(idle.always);
    if (selection != IN_BLOCKS)
      passes_.leave_out(idle.in_whole);
    if (selection == FIXED)
      passes_.leave_out(idle.in_fixed);
    is_usable_ =
        !target->addPassesToEmitFile(passes_, stream_, nullptr, type) && (!checks_names || passes_.has_met_all());
  }

  LLVMMemoryBufferRef run(llvm::Module &module) {
    if (!is_usable_)
      return nullptr;
    code_.clear();
    Gate gate(module);
    passes_.run(module);
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(code_.data(), code_.size(), "");
  }

private:
  llvm::SmallVector<char, 0> code_;
  llvm::raw_svector_ostream stream_;
  ChoosyPassManager passes_;
  bool is_usable_;
};

} // namespace

struct tj_passes {
  llvm::TargetMachine *target;
  tj_idle_passes idle;
  Optimizer optimizer;
  std::unique_ptr<Generator> generator[2][SELECTION_COUNT]; // by LLVMCodeGenFileType; null: not asked for yet
};

namespace {

tj_passes *create(LLVMTargetMachineRef machine, const char *pipeline, const tj_idle_passes *idle) {
  auto *target = reinterpret_cast<llvm::TargetMachine *>(machine);
  auto passes = std::unique_ptr<tj_passes>(new tj_passes{target, *idle, Optimizer(target), {}});
  return passes->optimizer.read(pipeline) ? passes.release() : nullptr;
}

void optimize(tj_passes *passes, LLVMModuleRef module) {
  passes->optimizer.run(*llvm::unwrap(module));
}

bool forgets_modules(const llvm::TargetMachine &target, llvm::CodeGenFileType type) {
  return type == llvm::CodeGenFileType::ObjectFile || target.getTargetTriple().isNVPTX();
}

bool generate(tj_passes *passes, LLVMModuleRef module, LLVMCodeGenFileType output, LLVMMemoryBufferRef *buffer) {
  auto type = output == LLVMObjectFile ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  Selection selection = selection_of(*llvm::unwrap(module));
  passes->target->setGlobalISel(selection != IN_BLOCKS);
  passes->target->setGlobalISelAbort(llvm::GlobalISelAbortMode::Disable);
  auto &generator = passes->generator[output][selection];
  if (generator == nullptr || !forgets_modules(*passes->target, type))
    generator = std::make_unique<Generator>(passes->target, passes->idle, selection, type);
  *buffer = generator->run(*llvm::unwrap(module));
  return *buffer != nullptr;
}

void dispose(tj_passes *passes) {
  delete passes;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tj_pass_functions tj_pass_functions_of_llvm;
const tj_pass_functions tj_pass_functions_of_llvm = {create, optimize, generate, dispose};
