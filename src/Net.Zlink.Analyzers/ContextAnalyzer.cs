using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>Finds a ZlinkContext that its method makes, keeps for itself, and does not dispose.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class ContextAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.ContextNotDisposed];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterOperationAction(Check, OperationKind.ObjectCreation);
    }

    private static void Check(OperationAnalysisContext context)
    {
        var creation = (IObjectCreationOperation)context.Operation;
        if (Library.IsContext(creation.Type) && IsLost(creation))
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.ContextNotDisposed, creation.Syntax.GetLocation()));
        }
    }

    private static bool IsLost(IObjectCreationOperation creation) => creation.Parent switch
    {
        IExpressionStatementOperation => true,
        IInvocationOperation call => ReferenceEquals(call.Instance, creation),
        IVariableInitializerOperation { Parent: IVariableDeclaratorOperation declared } =>
            !LeaseUses.IsDeclaredWithUsing(declared.Symbol, CancellationToken.None) && !IsEnded(declared),
        _ => false,
    };

    private static bool IsEnded(IVariableDeclaratorOperation declared)
    {
        IOperation root = declared;
        while (root.Parent is { } parent)
        {
            root = parent;
        }

        return root.Descendants().OfType<ILocalReferenceOperation>()
            .Any(one => SymbolEqualityComparer.Default.Equals(one.Local, declared.Symbol) && EndsOrHandsOn(one));
    }

    private static bool EndsOrHandsOn(ILocalReferenceOperation reference) => reference.Parent switch
    {
        IInvocationOperation call when ReferenceEquals(call.Instance, reference) =>
            call.TargetMethod.Name is "Dispose" or "DisposeAsync" or "ShutdownAsync",
        IPropertyReferenceOperation property => !ReferenceEquals(property.Instance, reference),
        // The library's own objects use a context and do not own it.
        IArgumentOperation { Parameter.ContainingSymbol: { } called } => !Library.Declares(called),
        _ => true,
    };
}
