/* SPDX-License-Identifier: MIT */
#include "llvm/selection.h"

#include "llvm/passes.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>

#include <iterator>

namespace {

// --- which functions ---

class ChoiceOfSelection : public llvm::MachineFunctionPass {
public:
  static char id;

  ChoiceOfSelection() : MachineFunctionPass(id) {
  }

  llvm::StringRef getPassName() const override {
    return "Choice of instruction selection";
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    if (!function.getFunction().hasFnAttribute(TJ_SELECTED_WHOLE))
      function.getProperties().setFailedISel();
    return false;
  }
};

char ChoiceOfSelection::id;

// --- copies ---

// Of gfx9, instructions of three operands have no room for a constant; each reads one register of the wave at most.
// The integers that any operand may be take no room.
bool is_inline(int64_t constant) {
  return constant >= -16 && constant <= 64;
}

class Copies : public llvm::MachineFunctionPass {
public:
  static char id;

  Copies() : MachineFunctionPass(id) {
  }

  llvm::StringRef getPassName() const override {
    return "Copies of instruction selection";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    is_whole_ = function.getProperties().hasSelected();
    registers_ = &function.getRegInfo();
    target_ = function.getSubtarget().getRegisterInfo();
    instructions_ = function.getSubtarget().getInstrInfo();
    bool has_changed = false;
    for (llvm::MachineBasicBlock &block : function) {
      for (llvm::MachineInstr &instruction : llvm::make_early_inc_range(block))
        has_changed |= instruction.isCopy() && end(instruction);
    }
    return has_changed;
  }

private:
  bool end(llvm::MachineInstr &copy) {
    return end_long_constant(copy) || (is_whole_ && (end_constant(copy) || end_return(copy)));
  }

  bool is_scalar(llvm::Register reg) const {
    const llvm::TargetRegisterClass *its_class = registers_->getRegClassOrNull(reg);
    return its_class == nullptr || !target_->isDivergentRegClass(its_class);
  }

  // What a virtual register is a copy of, if that is a scalar; otherwise none.
  llvm::Register copied_scalar(const llvm::MachineInstr *copy) const {
    bool is_copy = copy != nullptr && copy->isCopy() && copy->getOperand(0).getReg().isVirtual();
    llvm::Register source = is_copy ? copy->getOperand(1).getReg() : llvm::Register();
    return source.isVirtual() && is_scalar(source) ? source : llvm::Register();
  }

  // What moves a constant that the instruction copies whole; otherwise null.
  const llvm::MachineInstr *copied_move(const llvm::MachineInstr &copy) const {
    llvm::Register source = copied_scalar(&copy);
    if (!source.isValid() || copy.getOperand(1).getSubReg() != 0 || copy.getOperand(0).getSubReg() != 0)
      return nullptr;
    const llvm::MachineInstr *move = registers_->getVRegDef(source);
    bool is_constant = move != nullptr && move->isMoveImmediate() && move->getOperand(1).isImm();
    return is_constant ? move : nullptr;
  }

  // The scalar register of a constant that the instruction copies to one of lanes; otherwise none.
  llvm::Register copied_constant(const llvm::MachineInstr &copy) const {
    const llvm::MachineInstr *move = copied_move(copy);
    bool is_ended =
        move != nullptr && !is_scalar(copy.getOperand(0).getReg()) && !is_inline(move->getOperand(1).getImm());
    return is_ended ? move->getOperand(0).getReg() : llvm::Register();
  }

  // Whether the operand reads the wave's registers, or will when copies are folded. The mask of lanes and modes,
  // which are reserved, do not count.
  bool reads_scalar(const llvm::MachineOperand &operand) const {
    llvm::Register reg = operand.getReg();
    if (reg.isPhysical())
      return !operand.isImplicit() || !registers_->isReserved(reg.asMCReg());
    return is_scalar(reg) || copied_scalar(registers_->getVRegDef(reg)).isValid();
  }

  bool may_be(const llvm::MachineInstr &user, unsigned index, llvm::Register constant) const {
    if (index >= user.getDesc().getNumOperands() || user.getOperand(index).getSubReg() != 0)
      return false;
    const llvm::TargetRegisterClass *taken = instructions_->getRegClass(user.getDesc(), index);
    return taken != nullptr && taken->hasSubClassEq(registers_->getRegClass(constant));
  }

  // Whether the operand may be the constant's scalar register: the instruction reads no other, and it once.
  bool takes(const llvm::MachineOperand &place, llvm::Register constant) const {
    const llvm::MachineInstr &user = *place.getParent();
    if (user.isCopyLike() || user.isPHI() || user.isRegSequence() ||
        !may_be(user, user.getOperandNo(&place), constant))
      return false;
    for (const llvm::MachineOperand &operand : user.operands()) {
      bool is_read = operand.isReg() && operand.readsReg() && operand.getReg().isValid();
      if (is_read && &operand != &place && reads_scalar(operand))
        return false;
    }
    return true;
  }

  // Has users of a constant's copy take the constant, as far as they do.
  bool end_constant(llvm::MachineInstr &copy) {
    llvm::Register constant = copied_constant(copy), copied = copy.getOperand(0).getReg();
    if (!constant.isValid())
      return false;
    bool has_changed = false;
    for (llvm::MachineOperand &place : llvm::make_early_inc_range(registers_->use_nodbg_operands(copied))) {
      if (!takes(place, constant))
        continue;
      place.setReg(constant);
      has_changed = true;
    }
    if (registers_->use_nodbg_empty(copied))
      copy.eraseFromParent();
    return has_changed;
  }

  // A copy among scalars of a constant of 64 bits: the peephole optimizer would make it a move of so many bits, which
  // no instruction has room for.
  bool end_long_constant(llvm::MachineInstr &copy) {
    const llvm::MachineInstr *move = copied_move(copy);
    llvm::Register copied = copy.getOperand(0).getReg();
    if (move == nullptr || !is_scalar(copied) || llvm::isInt<32>(move->getOperand(1).getImm()))
      return false;
    llvm::Register constant = move->getOperand(0).getReg();
    const llvm::TargetRegisterClass *its_class = registers_->getRegClassOrNull(copied);
    if (its_class == nullptr || registers_->constrainRegClass(constant, its_class) == nullptr)
      return false;
    registers_->replaceRegWith(copied, constant);
    registers_->clearKillFlags(constant);
    copy.eraseFromParent();
    return true;
  }

  bool is_kept(const llvm::MachineInstr &from, const llvm::MachineInstr &to, llvm::Register reg) const {
    for (auto each = std::next(from.getIterator()); each != to.getIterator(); ++each) {
      if (each->modifiesRegister(reg, target_))
        return false;
    }
    return true;
  }

  // A copy back to the register that the value came from, and has been in since: carries that are added at once.
  bool end_return(llvm::MachineInstr &copy) {
    llvm::Register back = copy.getOperand(0).getReg(), value = copy.getOperand(1).getReg();
    if (!back.isPhysical() || !value.isVirtual())
      return false;
    llvm::MachineInstr *first = registers_->getVRegDef(value);
    bool returns = first != nullptr && first->isCopy() && first->getOperand(1).getReg() == back &&
                   first->getParent() == copy.getParent() && is_kept(*first, copy, back);
    if (!returns)
      return false;
    copy.eraseFromParent();
    if (registers_->use_nodbg_empty(value))
      first->eraseFromParent();
    return true;
  }

  bool is_whole_ = false;
  llvm::MachineRegisterInfo *registers_ = nullptr;
  const llvm::TargetRegisterInfo *target_ = nullptr;
  const llvm::TargetInstrInfo *instructions_ = nullptr;
};

char Copies::id;

} // namespace

llvm::Pass *tilejit::create_choice_of_selection() {
  return new ChoiceOfSelection;
}

llvm::Pass *tilejit::create_end_of_copies() {
  return new Copies;
}
