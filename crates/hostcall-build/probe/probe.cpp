// What `--instrument` adds to a module: a pass for LLVM's `opt`, as a plug-in.
//
// It runs when a module is optimised, so that what it counts is what is left. Before each load, store and atomic
// operation on memory that others can see it puts a call of
//
//   void __hostcall_probe_access(ptr address, i32 what, ptr site)
//
// and, where it is asked to, `__hostcall_probe_step` at the beginning of kernels, blocks and loops, and
// `__hostcall_probe_begin` and `_end` around barriers and kernels. `hostcall-device` has these functions (`probe.rs`).
// A site is a global that the host finds by its name and numbers: `hostcall_abi::stream::site` has its layout.
//
// Whose code is what the debug information says, instruction by instruction, whatever they were inlined into. An access
// is where the innermost function that is not Rust's library has it. Code of `hostcall_*` is left alone, and so is code
// of which there is no debug information: what a toolchain brings ready-made. The debug information is gone when the
// pass has run.

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

using namespace llvm;

namespace {

// `hostcall_abi::stream::AccessKind`, and in `what` above it the space (3 bits), the bytes (11) and a number of the
// call (16), by which the simulator tells lanes apart that have parted.
enum Kind : unsigned { Atomic = 0, Read = 1, Write = 2, ReadWrite = 3 };
constexpr unsigned SpaceShift = 2, BytesShift = 5, CallShift = 16, MostBytes = (1u << 11) - 1;
// `hostcall_abi::stream::Step`.
enum StepKind : unsigned { KernelEntry = 0, Block = 1, LoopHead = 2 };

struct Wanted {
  bool Accesses = false, Blocks = false, Loops = false, Barriers = false;
  StringSet<> Kernels; // none: all
};

// Whose code a function or an inlined part of one is.
enum class Owner { Library, Runtime, Program };

Owner ownerOfName(StringRef Crate) {
  if (Crate == "core" || Crate == "alloc" || Crate == "std" || Crate == "compiler_builtins" || Crate == "hashbrown" || Crate == "libm")
    return Owner::Library;
  // `hostcall_device`, `hostcall_abi`, `hostcall_std`; a user's crate may have such a name, too, but for these.
  if (Crate == "hostcall_device" || Crate == "hostcall_abi" || Crate == "hostcall_std" || Crate == "hostcall")
    return Owner::Runtime;
  return Owner::Program;
}

// The crate that a function was compiled in: the name of its unit is `FILE/@/CRATE.HASH-cgu.N`.
StringRef crateOfUnit(const DISubprogram *Sub) {
  const DICompileUnit *Unit = Sub->getUnit();
  if (!Unit) return {};
  StringRef Name = Unit->getFilename();
  size_t At = Name.find("/@/");
  return At == StringRef::npos ? StringRef() : Name.substr(At + 3).split('.').first;
}

const DIScope *outerScope(const DIScope *Scope) {
  return Scope ? Scope->getScope() : nullptr;
}

// The crate whose source a function is in: its outermost namespace.
Owner ownerOf(const DISubprogram *Sub) {
  const DIScope *Root = nullptr;
  for (const DIScope *At = outerScope(Sub); At; At = outerScope(At))
    if (isa<DINamespace>(At)) Root = At;
  if (Root) return ownerOfName(Root->getName());
  return ownerOfName(crateOfUnit(Sub));
}

// `crate::module::function`.
std::string pathOf(const DISubprogram *Sub) {
  SmallVector<StringRef, 8> Parts{Sub->getName()};
  for (const DIScope *At = outerScope(Sub); At; At = outerScope(At))
    if (!At->getName().empty() && !isa<DIFile>(At)) Parts.push_back(At->getName());
  std::string Path;
  for (StringRef Part : reverse(Parts)) (Path += Path.empty() ? "" : "::") += Part;
  return Path;
}

// A place in the source.
struct Place {
  std::string File, Function;
  unsigned Line = 0, Column = 0;
};

class Probe {
public:
  Probe(Module &M, const Wanted &W) : M(M), W(W), C(M.getContext()), DL(M.getDataLayout()), T(M.getTargetTriple()) {
    Ptr = PointerType::get(C, 0);
    I32 = Type::getInt32Ty(C);
    I64 = Type::getInt64Ty(C);
    Void = Type::getVoidTy(C);
  }

  // What is missing, or nothing.
  std::string run() {
    SmallVector<Function *, 16> Chosen;
    StringSet<> Found;
    for (Function &F : M) {
      StringRef Name = kernelName(F);
      if (Name.empty()) continue;
      Kernels.insert(&F);
      if (W.Kernels.empty() || W.Kernels.contains(Name)) Chosen.push_back(&F);
      Found.insert(Name);
    }
    for (const auto &Name : W.Kernels)
      if (!Found.contains(Name.getKey())) return ("there is no kernel `" + Name.getKey() + "` in the module").str();
    SetVector<Function *> All;
    if (W.Kernels.empty()) {
      for (Function &F : M)
        if (!F.isDeclaration()) All.insert(&F);
    } else {
      // Other kernels call the same functions, and are not to change by a byte: the chosen ones get their own.
      ownFunctions(Chosen, All);
    }
    for (Function *F : All) instrument(*F);
    return {};
  }

  unsigned accesses() const { return Accesses; }
  unsigned steps() const { return Steps; }
  unsigned sites() const { return Sites.size(); }

private:
  Module &M;
  const Wanted &W;
  LLVMContext &C;
  const DataLayout &DL;
  Triple T;
  PointerType *Ptr;
  IntegerType *I32, *I64;
  Type *Void;
  SmallPtrSet<const Function *, 16> Kernels;
  std::map<std::tuple<std::string, std::string, unsigned, unsigned>, Constant *> Sites;
  unsigned Accesses = 0, Steps = 0, Calls = 0;

  static constexpr StringRef SimKernel = "__hostcall_sim_kernel_";

  // The name of a kernel, as the host knows it; nothing: it is none.
  static StringRef kernelName(const Function &F) {
    if (F.isDeclaration()) return {};
    if (F.getCallingConv() == CallingConv::PTX_Kernel || F.getCallingConv() == CallingConv::AMDGPU_KERNEL) return F.getName();
    return F.getName().starts_with(SimKernel) ? F.getName().drop_front(SimKernel.size()) : StringRef();
  }

  // Whether nothing is to be added to a function, whatever is in it.
  static bool isLeftAlone(const Function &F) {
    return F.hasFnAttribute(Attribute::Naked) || F.getName().starts_with("__hostcall_probe");
  }

  // The functions in which there is code of the program, or that call such functions.
  SmallPtrSet<const Function *, 32> leadingToProgram() const {
    SmallPtrSet<const Function *, 32> Found;
    Place P;
    for (const Function &F : M)
      if (!isLeftAlone(F) && any_of(instructions(F), [&](const Instruction &I) { return placeOf(I.getDebugLoc(), F, P); })) Found.insert(&F);
    for (bool More = true; More;) {
      More = false;
      for (const Function &F : M) {
        if (Found.contains(&F) || isLeftAlone(F)) continue;
        auto Leads = [&](const Instruction &I) {
          auto *Call = dyn_cast<CallBase>(&I);
          return Call && Found.contains(Call->getCalledFunction());
        };
        if (any_of(instructions(F), Leads)) More = Found.insert(&F).second;
      }
    }
    return Found;
  }

  void ownFunctions(ArrayRef<Function *> Chosen, SetVector<Function *> &All) {
    SmallVector<Function *, 32> Open(Chosen.begin(), Chosen.end());
    for (Function *F : Chosen) All.insert(F);
    DenseMap<Function *, Function *> Own;
    auto Leading = leadingToProgram();
    while (!Open.empty()) {
      Function *F = Open.pop_back_val();
      for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallBase>(&I);
        Function *To = Call ? Call->getCalledFunction() : nullptr;
        if (!To || To->isDeclaration() || Kernels.contains(To) || !Leading.contains(To)) continue;
        Function *&Mine = Own[To];
        if (!Mine) {
          ValueToValueMapTy Map;
          Mine = CloneFunction(To, Map);
          Mine->setName(To->getName() + "$probed");
          Mine->setLinkage(GlobalValue::InternalLinkage);
          Mine->setVisibility(GlobalValue::DefaultVisibility);
          Mine->setComdat(nullptr);
          All.insert(Mine);
          Open.push_back(Mine);
        }
        Call->setCalledFunction(Mine);
      }
    }
  }

  // Where an instruction is for whoever reads the program; false: it is not the program's.
  bool placeOf(const DebugLoc &Loc, const Function &F, Place &P) const {
    const DISubprogram *Own = F.getSubprogram();
    const DILocation *At = Loc.get();
    // The compiler's own, or moved: it is where what it was inlined into is, or the function's.
    while (At && At->getLine() == 0) At = At->getInlinedAt();
    if (!At) return placeOfFunction(F, P);
    const DILocation *Last = At;
    for (; At; At = At->getInlinedAt()) {
      Last = At;
      Owner Whose = ownerOf(At->getScope()->getSubprogram());
      if (Whose == Owner::Runtime) return false;
      if (Whose == Owner::Program) return placeAt(At->getScope(), At->getLine(), At->getColumn(), P);
    }
    // Generic code of the library is whose crate it was made for.
    if (ownerOfName(crateOfUnit(Own ? Own : Last->getScope()->getSubprogram())) != Owner::Program) return false;
    return placeAt(Last->getScope(), Last->getLine(), Last->getColumn(), P);
  }

  // Where a function begins, if it is the program's.
  static bool placeOfFunction(const Function &F, Place &P) {
    const DISubprogram *Sub = F.getSubprogram();
    return Sub && ownerOf(Sub) == Owner::Program && placeAt(Sub, Sub->getLine(), 0, P);
  }

  static bool placeAt(const DIScope *Scope, unsigned Line, unsigned Column, Place &P) {
    const auto *Sub = isa<DISubprogram>(Scope) ? cast<DISubprogram>(Scope) : cast<DILocalScope>(Scope)->getSubprogram();
    StringRef File = Scope->getFilename();
    P = {File.str(), pathOf(Sub), Line, Column};
    return true;
  }

  // The word of a place, which the host finds and numbers.
  Constant *site(const Place &P) {
    Constant *&Known = Sites[{P.File, P.Function, P.Line, P.Column}];
    if (Known) return Known;
    StringRef File = StringRef(P.File).take_back(4096), Function = StringRef(P.Function).take_front(4096);
    std::string Text = (File + Function).str();
    Text.resize((Text.size() + 3) / 4 * 4);
    auto *I16 = Type::getInt16Ty(C);
    auto Word = [&](unsigned N) { return ConstantInt::get(I32, N); };
    auto Half = [&](unsigned N) { return ConstantInt::get(I16, N); };
    Constant *Lengths = ConstantArray::get(ArrayType::get(I16, 4), {Half(File.size()), Half(Function.size()), Half(0), Half(0)});
    Constant *Bytes = ConstantDataArray::getString(C, Text, false);
    Constant *Value = ConstantStruct::getAnon({Word(0), Word(P.Line), Word(P.Column), Word(0), Lengths, Bytes});
    auto *G = new GlobalVariable(M, Value->getType(), false, GlobalValue::ExternalLinkage, Value,
                                 "__HOSTCALL_SITE__probe_" + Twine(Sites.size()), nullptr, GlobalValue::NotThreadLocal,
                                 DL.getDefaultGlobalsAddressSpace());
    G->setAlignment(Align(4));
    // What is to be found in a code object must be protected.
    if (T.isAMDGPU()) G->setVisibility(GlobalValue::ProtectedVisibility);
    Known = G->getType() == Ptr ? cast<Constant>(G) : ConstantExpr::getAddrSpaceCast(G, Ptr);
    return Known;
  }

  FunctionCallee function(StringRef Name, Type *Result, ArrayRef<Type *> Parameters) {
    FunctionCallee Callee = M.getOrInsertFunction(Name, FunctionType::get(Result, Parameters, false));
    if (auto *F = dyn_cast<Function>(Callee.getCallee())) {
      F->addFnAttr(Attribute::Convergent);
      F->addFnAttr(Attribute::NoUnwind);
      F->addFnAttr(Attribute::NoInline);
    }
    return Callee;
  }

  CallInst *call(IRBuilder<> &B, FunctionCallee Callee, ArrayRef<Value *> Arguments) {
    CallInst *Call = B.CreateCall(Callee, Arguments);
    Call->addFnAttr(Attribute::Convergent);
    return Call;
  }

  unsigned nextCall() { return (Calls++ & 0xffff) << CallShift; }

  // The number of a space in messages, if it is one whose accesses count; `Flat`: it shows when it runs.
  std::optional<unsigned> space(unsigned AddressSpace) const {
    if (!T.isGPU()) return AddressSpace == 0 ? std::optional<unsigned>(0) : std::nullopt;
    switch (AddressSpace) {
    case 0: return 0;
    case 1: return 1;
    case 3: return 3;
    default: return std::nullopt; // constants, stacks, parameters, buffers
    }
  }

  // Whether a pointer is to a stack, or to what the launch passed, whatever path it came by.
  bool isOwn(const Value *Pointer, const Function &F) const {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, 16);
    return !Objects.empty() && all_of(Objects, [&](const Value *Object) {
      if (isa<AllocaInst>(Object)) return true;
      auto *A = dyn_cast<Argument>(Object);
      if (!A) return false;
      // The simulator's kernels find their parameters in memory.
      return A->hasByValAttr() || (!T.isGPU() && !kernelName(F).empty());
    });
  }

  void access(Instruction *I, Value *Pointer, uint64_t Bytes, Kind K) {
    Function &F = *I->getFunction();
    auto Space = space(Pointer->getType()->getPointerAddressSpace());
    Place P;
    if (!Space || Bytes == 0 || isOwn(Pointer, F) || !placeOf(I->getDebugLoc(), F, P)) return;
    IRBuilder<> B(I);
    unsigned What = K | *Space << SpaceShift | (unsigned)std::min<uint64_t>(Bytes, MostBytes) << BytesShift | nextCall();
    Value *Address = Pointer->getType() == Ptr ? Pointer : B.CreateAddrSpaceCast(Pointer, Ptr);
    call(B, function("__hostcall_probe_access", Void, {Ptr, I32, Ptr}), {Address, ConstantInt::get(I32, What), site(P)});
    Accesses++;
  }

  // A copy or fill, of as many bytes as it shows when it runs.
  void range(Instruction *I, Value *Pointer, Value *Bytes, Kind K) {
    Function &F = *I->getFunction();
    auto Space = space(Pointer->getType()->getPointerAddressSpace());
    Place P;
    if (!Space || isOwn(Pointer, F) || !placeOf(I->getDebugLoc(), F, P)) return;
    IRBuilder<> B(I);
    Value *Address = Pointer->getType() == Ptr ? Pointer : B.CreateAddrSpaceCast(Pointer, Ptr);
    Value *Length = B.CreateZExtOrTrunc(Bytes, I64);
    call(B, function("__hostcall_probe_range", Void, {Ptr, I64, I32, Ptr}),
         {Address, Length, ConstantInt::get(I32, K | *Space << SpaceShift | nextCall()), site(P)});
    Accesses++;
  }

  void accesses(ArrayRef<Instruction *> All) {
    auto Size = [&](Type *Ty) { return DL.getTypeStoreSize(Ty).getKnownMinValue(); };
    for (Instruction *I : All) {
      if (auto *L = dyn_cast<LoadInst>(I)) {
        access(I, L->getPointerOperand(), Size(L->getType()), Read);
      } else if (auto *S = dyn_cast<StoreInst>(I)) {
        access(I, S->getPointerOperand(), Size(S->getValueOperand()->getType()), Write);
      } else if (auto *R = dyn_cast<AtomicRMWInst>(I)) {
        access(I, R->getPointerOperand(), Size(R->getType()), Atomic);
      } else if (auto *X = dyn_cast<AtomicCmpXchgInst>(I)) {
        access(I, X->getPointerOperand(), Size(X->getCompareOperand()->getType()), Atomic);
      } else if (auto *Copy = dyn_cast<AnyMemTransferInst>(I)) {
        range(I, Copy->getRawSource(), Copy->getLength(), Read);
        range(I, Copy->getRawDest(), Copy->getLength(), Write);
      } else if (auto *Fill = dyn_cast<AnyMemSetInst>(I)) {
        range(I, Fill->getRawDest(), Fill->getLength(), Write);
      } else if (auto *Call = dyn_cast<IntrinsicInst>(I)) {
        intrinsic(Call);
      }
    }
  }

  // Loads of NVIDIA's that are no instructions of LLVM's: by the read-only cache, and those that a wave makes together.
  void intrinsic(IntrinsicInst *Call) {
    switch (Call->getIntrinsicID()) {
    case Intrinsic::nvvm_ldu_global_f:
    case Intrinsic::nvvm_ldu_global_i:
    case Intrinsic::nvvm_ldu_global_p:
      access(Call, Call->getArgOperand(0), DL.getTypeStoreSize(Call->getType()).getKnownMinValue(), Read);
      break;
    default: break;
    }
  }

  // Whether a call is of a barrier of a workgroup.
  static bool isBarrier(const CallBase *Call) {
    const Function *To = Call->getCalledFunction();
    if (!To) return false;
    StringRef Name = To->getName();
    return Name.starts_with("llvm.nvvm.barrier") || Name == "llvm.amdgcn.s.barrier" || Name == "llvm.amdgcn.s.barrier.wait" ||
           Name == "__hostcall_barrier";
  }

  void step(Instruction *Before, const Place &P, StepKind K, unsigned Number) {
    IRBuilder<> B(Before);
    call(B, function("__hostcall_probe_step", Void, {I32, I32, Ptr}),
         {ConstantInt::get(I32, K | nextCall()), ConstantInt::get(I32, Number), site(P)});
    Steps++;
  }

  // The first place in a block that is the program's.
  bool placeOfBlock(BasicBlock &Block, Place &P) const {
    for (Instruction &I : Block)
      if (I.getDebugLoc() && I.getDebugLoc().getLine() != 0 && placeOf(I.getDebugLoc(), *Block.getParent(), P)) return true;
    return false;
  }

  // Where a kernel begins: that of a program with std where its first code is.
  bool placeOfKernel(Function &F, Place &P) const {
    return placeOfFunction(F, P) || any_of(F, [&](BasicBlock &Block) { return placeOfBlock(Block, P); });
  }

  void instrument(Function &F) {
    if (isLeftAlone(F)) return;
    SmallVector<Instruction *, 64> Touching;
    SmallVector<CallBase *, 8> Barriers;
    SmallVector<ReturnInst *, 4> Ends;
    for (Instruction &I : instructions(F)) {
      if (auto *Call = dyn_cast<CallBase>(&I); Call && isBarrier(Call)) Barriers.push_back(Call);
      else if (I.mayReadOrWriteMemory()) Touching.push_back(&I);
      if (auto *Return = dyn_cast<ReturnInst>(&I)) Ends.push_back(Return);
    }
    // Before anything is added: where blocks and loops begin.
    MapVector<BasicBlock *, std::pair<StepKind, Place>> Steps;
    bool IsKernel = Kernels.contains(&F);
    if (W.Blocks || W.Loops) {
      DominatorTree Tree(F);
      LoopInfo Loops(Tree);
      for (BasicBlock &Block : F) {
        bool Entry = IsKernel && &Block == &F.getEntryBlock(), Head = Loops.isLoopHeader(&Block);
        if (!(W.Blocks || Entry || Head) || isa<UnreachableInst>(Block.getTerminator())) continue;
        Place P;
        if (!(Entry ? placeOfKernel(F, P) : placeOfBlock(Block, P))) continue;
        Steps.insert({&Block, {Entry ? KernelEntry : Head ? LoopHead : StepKind::Block, P}});
      }
    }
    if (W.Accesses) accesses(Touching);
    unsigned Number = 0;
    for (auto &[Block, What] : Steps) step(&*Block->getFirstNonPHIOrDbgOrAlloca(), What.second, What.first, Number++);
    if (W.Barriers) barriers(Barriers);
    Place P;
    if (IsKernel && (W.Blocks || W.Loops) && placeOfKernel(F, P)) {
      IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      Value *Start = call(B, function("__hostcall_probe_begin", I64, {}), {});
      for (ReturnInst *Return : Ends) {
        IRBuilder<> AtEnd(Return);
        call(AtEnd, function("__hostcall_probe_end", Void, {I64, I32, Ptr}), {Start, ConstantInt::get(I32, nextCall()), site(P)});
      }
    }
  }

  void barriers(ArrayRef<CallBase *> All) {
    for (CallBase *Barrier : All) {
      // Who waits is the program, though the instruction is the runtime's.
      Place P;
      const DILocation *At = Barrier->getDebugLoc().get();
      while (At && ownerOf(At->getScope()->getSubprogram()) != Owner::Program) At = At->getInlinedAt();
      if (!At) continue;
      placeAt(At->getScope(), At->getLine(), At->getColumn(), P);
      IRBuilder<> B(Barrier);
      Value *Start = call(B, function("__hostcall_probe_begin", I64, {}), {});
      IRBuilder<> Behind(Barrier->getNextNode());
      call(Behind, function("__hostcall_probe_end", Void, {I64, I32, Ptr}), {Start, ConstantInt::get(I32, 1 | nextCall()), site(P)});
    }
  }
};

struct ProbePass : PassInfoMixin<ProbePass> {
  Wanted W;
  explicit ProbePass(Wanted W) : W(std::move(W)) {}
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    Probe P(M, W);
    std::string Missing = P.run();
    if (!Missing.empty()) {
      errs() << "hostcall-probe: " << Missing << "\n";
      exit(1);
    }
    StripDebugInfo(M);
    errs() << "hostcall-probe: " << P.accesses() << " accesses, " << P.steps() << " steps, " << P.sites() << " sites\n";
    return PreservedAnalyses::none();
  }
};

// `hostcall-probe<access;blocks;loops;barriers;kernel=NAME>`.
bool parse(StringRef Name, Wanted &W) {
  if (!Name.consume_front("hostcall-probe<") || !Name.consume_back(">")) return false;
  SmallVector<StringRef, 8> Words;
  Name.split(Words, ';');
  for (StringRef Word : Words) {
    if (Word == "access") W.Accesses = true;
    else if (Word == "blocks") W.Blocks = true;
    else if (Word == "loops") W.Loops = true;
    else if (Word == "barriers") W.Barriers = true;
    else if (Word.consume_front("kernel=")) W.Kernels.insert(Word);
    else return false;
  }
  return true;
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "hostcall-probe", "1", [](PassBuilder &PB) {
            PB.registerPipelineParsingCallback(
                [](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
                  Wanted W;
                  if (!parse(Name, W)) return false;
                  MPM.addPass(ProbePass(std::move(W)));
                  return true;
                });
          }};
}
