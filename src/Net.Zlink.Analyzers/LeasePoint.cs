using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>Where a message begins or ends: an operation of a block, counted from 0; the block's condition is its last.</summary>
internal sealed class LeasePoint
{
    private LeasePoint(ILocalSymbol local, BasicBlock block, int index, SyntaxNode syntax, bool isDeclaration = false)
    {
        Local = local;
        Block = block;
        Index = index;
        Location = isDeclaration ? local.Locations[0] : syntax.GetLocation();
    }

    public ILocalSymbol Local { get; }

    public BasicBlock Block { get; }

    public int Index { get; }

    public Location Location { get; }

    public bool IsSent { get; private set; }

    /// <summary>Only where the block's condition is true.</summary>
    public bool IsConditional { get; private set; }

    public static IEnumerable<LeasePoint> Received(ControlFlowGraph graph)
    {
        foreach ((BasicBlock block, int index, IOperation operation, bool isCondition) in Places(graph))
        {
            if (operation is ISimpleAssignmentOperation { Target: ILocalReferenceOperation target } assignment
                && Library.IsLease(target.Local.Type) && ComesFromLibrary(assignment.Value))
            {
                bool isDeclaration = target.IsDeclaration || assignment.IsImplicit;
                yield return new LeasePoint(target.Local, block, index, target.Syntax, isDeclaration);
            }
            else if (operation is IArgumentOperation { Parameter.RefKind: RefKind.Out } argument
                && LocalOf(argument.Value) is { } local && Library.IsLease(local.Type)
                && argument.Parent is IInvocationOperation call && Library.Declares(call.TargetMethod))
            {
                // A result that is kept would have to be followed as well.
                bool isTested = isCondition && ReferenceEquals(call, block.BranchValue);
                if (isTested || call.TargetMethod.ReturnsVoid)
                {
                    bool isDeclaration = argument.Value is IDeclarationExpressionOperation;
                    yield return new LeasePoint(local, block, index, argument.Value.Syntax, isDeclaration)
                    {
                        IsConditional = isTested,
                    };
                }
            }
        }
    }

    public static IEnumerable<LeasePoint> Ended(ControlFlowGraph graph)
    {
        foreach ((BasicBlock block, int index, IOperation operation, bool isCondition) in Places(graph))
        {
            if (operation is not IInvocationOperation call)
            {
                continue;
            }

            if (LeaseUses.DisposedBy(call) is { } disposed && !call.IsImplicit)
            {
                yield return new LeasePoint(disposed, block, index, call.Syntax);
            }
            else if (LeaseUses.SentBy(call) is { } sent)
            {
                bool isTry = call.TargetMethod.Name.StartsWith("Try", StringComparison.Ordinal);
                bool isTested = isCondition && ReferenceEquals(LeaseUses.WithoutConversions(block.BranchValue), call);
                bool isWaited = isTry ? isTested
                    : call.TargetMethod.ReturnsVoid || call.Syntax.Ancestors().Any(static one => one is AwaitExpressionSyntax);
                if (isWaited)
                {
                    yield return new LeasePoint(sent, block, index, call.Syntax) { IsSent = true, IsConditional = isTry };
                }
            }
        }
    }

    private static IEnumerable<(BasicBlock Block, int Index, IOperation Operation, bool IsCondition)> Places(ControlFlowGraph graph)
    {
        foreach (BasicBlock block in graph.Blocks)
        {
            int index = 0;
            foreach (IOperation top in LeasePaths.OperationsOf(block))
            {
                bool isCondition = ReferenceEquals(top, block.BranchValue);
                foreach (IOperation operation in top.DescendantsAndSelf())
                {
                    yield return (block, index, operation, isCondition);
                }

                index++;
            }
        }
    }

    private static ILocalSymbol? LocalOf(IOperation operation) => operation switch
    {
        ILocalReferenceOperation reference => reference.Local,
        IDeclarationExpressionOperation { Expression: ILocalReferenceOperation declared } => declared.Local,
        _ => null,
    };

    private static bool ComesFromLibrary(IOperation value) => value switch
    {
        IAwaitOperation wait => ComesFromLibrary(wait.Operation),
        IConversionOperation conversion => ComesFromLibrary(conversion.Operand),
        IInvocationOperation { TargetMethod.Name: "ConfigureAwait" or "AsTask", Instance: { } source } => ComesFromLibrary(source),
        IInvocationOperation call => Library.Declares(call.TargetMethod),
        IPropertyReferenceOperation { Property.Name: "Current", IsImplicit: true } => true, // Of await foreach.
        _ => false,
    };
}
