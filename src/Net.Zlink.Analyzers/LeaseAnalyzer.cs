using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>Follows each received message through its method: on every path it must end once, and not be used afterwards.</summary>
/// <remarks>
/// What it cannot follow is not reported: a message that is stored, returned, captured, or passed to a method. Paths of exceptions are not
/// followed either, because the garbage collector takes what they leave.
/// </remarks>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class LeaseAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.NotDisposed, Rules.UsedAfterEnd];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterOperationBlockAction(static block =>
        {
            foreach (IOperation root in block.OperationBlocks)
            {
                if (root.Descendants().Any(static one => one is ILocalReferenceOperation local && Library.IsLease(local.Local.Type)
                    || one is IVariableDeclaratorOperation declared && Library.IsLease(declared.Symbol.Type)))
                {
                    Check(block.GetControlFlowGraph(root), block);
                }
            }
        });
    }

    private static void Check(ControlFlowGraph graph, OperationBlockAnalysisContext context)
    {
        var captured = new HashSet<ILocalSymbol>(SymbolEqualityComparer.Default);
        foreach (IMethodSymbol local in graph.LocalFunctions)
        {
            ControlFlowGraph inner = graph.GetLocalFunctionControlFlowGraph(local, context.CancellationToken);
            captured.UnionWith(Locals(inner));
            Check(inner, context);
        }

        foreach (IFlowAnonymousFunctionOperation lambda in Operations(graph).OfType<IFlowAnonymousFunctionOperation>())
        {
            ControlFlowGraph inner = graph.GetAnonymousFunctionControlFlowGraph(lambda, context.CancellationToken);
            captured.UnionWith(Locals(inner));
            Check(inner, context);
        }

        var paths = new LeasePaths(graph);
        foreach (LeasePoint received in LeasePoint.Received(graph).Where(one => !captured.Contains(one.Local)))
        {
            if (!LeaseUses.IsDeclaredWithUsing(received.Local, context.CancellationToken) && paths.LeavesOpen(received))
            {
                context.ReportDiagnostic(Diagnostic.Create(Rules.NotDisposed, received.Location, received.Local.Name));
            }
        }

        foreach (LeasePoint ended in LeasePoint.Ended(graph).Where(one => !captured.Contains(one.Local)))
        {
            foreach (IOperation use in paths.UsesAfter(ended))
            {
                context.ReportDiagnostic(Diagnostic.Create(Rules.UsedAfterEnd, use.Syntax.GetLocation(), ended.Local.Name,
                    ended.IsSent ? "sent" : "disposed"));
            }
        }
    }

    private static IEnumerable<ILocalSymbol> Locals(ControlFlowGraph graph) =>
        Operations(graph).OfType<ILocalReferenceOperation>().Select(static one => one.Local)
            .Concat(graph.LocalFunctions.SelectMany(local => Locals(graph.GetLocalFunctionControlFlowGraph(local))))
            .Concat(Operations(graph).OfType<IFlowAnonymousFunctionOperation>()
                .SelectMany(lambda => Locals(graph.GetAnonymousFunctionControlFlowGraph(lambda))));

    private static IEnumerable<IOperation> Operations(ControlFlowGraph graph) =>
        graph.Blocks.SelectMany(static block => LeasePaths.OperationsOf(block)).SelectMany(static one => one.DescendantsAndSelf());
}
