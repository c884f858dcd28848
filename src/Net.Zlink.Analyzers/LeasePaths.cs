using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>Walks the paths of one method from a point on.</summary>
internal sealed class LeasePaths(ControlFlowGraph graph)
{
    public static IEnumerable<IOperation> OperationsOf(BasicBlock block) =>
        block.BranchValue is { } condition ? block.Operations.Append(condition) : block.Operations;

    /// <summary>A path reaches the method's end, or the next message for the same variable, without an end of this one.</summary>
    public bool LeavesOpen(LeasePoint received)
    {
        bool isOpen = false;
        Walk(received, reference =>
        {
            LeaseUse use = LeaseUses.Of(reference);
            isOpen |= use == LeaseUse.Assigns;
            return use == LeaseUse.Reads;
        }, () => isOpen = true);
        return isOpen;
    }

    public IReadOnlyCollection<IOperation> UsesAfter(LeasePoint ended)
    {
        var uses = new HashSet<IOperation>();
        Walk(ended, reference =>
        {
            LeaseUse use = LeaseUses.Of(reference);
            bool isUse = use is LeaseUse.Reads or LeaseUse.HandsOn && !IsOfUsing(reference);
            if (isUse)
            {
                uses.Add(reference);
            }

            return !isUse && use != LeaseUse.Assigns;
        }, static () => { });
        return uses;
    }

    // The Dispose at the end of a using has no syntax of its own.
    private static bool IsOfUsing(ILocalReferenceOperation reference) => reference.IsImplicit || reference.Parent is { IsImplicit: true };

    private void Walk(LeasePoint from, Func<ILocalReferenceOperation, bool> continues, Action atExit)
    {
        var seen = new HashSet<BasicBlock>();
        var next = new Stack<BasicBlock>();
        if (Passes(from.Block, from.Index + 1))
        {
            Follow(from.Block, from.IsConditional);
        }

        while (next.Count > 0)
        {
            BasicBlock block = next.Pop();
            if (Passes(block, 0))
            {
                Follow(block, onlyTrue: false);
            }
        }

        bool Passes(BasicBlock block, int first) => OperationsOf(block).Skip(first).SelectMany(static one => one.DescendantsAndSelf())
            .OfType<ILocalReferenceOperation>().Where(one => SymbolEqualityComparer.Default.Equals(one.Local, from.Local)).All(continues);

        void Follow(BasicBlock block, bool onlyTrue)
        {
            bool trueIsConditional = block.ConditionKind == ControlFlowConditionKind.WhenTrue;
            Take(block.ConditionalSuccessor, isWanted: !onlyTrue || trueIsConditional);
            Take(block.FallThroughSuccessor, isWanted: !onlyTrue || !trueIsConditional);
        }

        void Take(ControlFlowBranch? branch, bool isWanted)
        {
            bool ends = branch?.Semantics is ControlFlowBranchSemantics.Regular or ControlFlowBranchSemantics.Return;
            if (branch is null || !isWanted || !ends || !branch.FinallyRegions.All(PassesRegion) || branch.Destination is not { } target)
            {
                return;
            }

            if (target.Kind == BasicBlockKind.Exit)
            {
                atExit();
            }
            else if (seen.Add(target))
            {
                next.Push(target);
            }
        }

        bool PassesRegion(ControlFlowRegion region) =>
            Enumerable.Range(region.FirstBlockOrdinal, region.LastBlockOrdinal - region.FirstBlockOrdinal + 1)
                .All(ordinal => Passes(graph.Blocks[ordinal], 0));
    }
}
