using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>Looks at the methods of a StreamHandler, which run on a shard: they must not block it, nor wait without a limit.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class HandlerAnalyzer : DiagnosticAnalyzer
{
    private static readonly ImmutableHashSet<string> Handlers = ["OnConnected", "OnReceivedAsync", "OnDisconnected"];

    private static readonly ImmutableHashSet<string> Blocking =
    [
        "System.Threading.Thread.Sleep", "System.Threading.Thread.Join", "System.Threading.SpinWait.SpinUntil",
        "System.Threading.Monitor.Wait", "System.Threading.WaitHandle.WaitOne", "System.Threading.WaitHandle.WaitAll",
        "System.Threading.WaitHandle.WaitAny", "System.Threading.SemaphoreSlim.Wait", "System.Threading.ManualResetEventSlim.Wait",
        "System.Threading.CountdownEvent.Wait", "System.Threading.Barrier.SignalAndWait", "System.Threading.Tasks.Task.Wait",
        "System.Threading.Tasks.Task.WaitAll", "System.Threading.Tasks.Task.WaitAny", "System.Console.ReadLine", "System.Console.ReadKey",
        "System.Diagnostics.Process.WaitForExit",
    ];

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.BlockingHandler, Rules.WaitingHandler];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterOperationBlockStartAction(static block =>
        {
            if (block.OwningSymbol is IMethodSymbol { IsOverride: true } method && Handlers.Contains(method.Name)
                && Library.IsHandler(method.ContainingType))
            {
                // A task that is known to be complete does not block.
                bool asksTasks = block.OperationBlocks.SelectMany(static root => root.DescendantsAndSelf())
                    .OfType<IPropertyReferenceOperation>()
                    .Any(static one => one.Property.Name.StartsWith("IsCompleted", StringComparison.Ordinal));
                block.RegisterOperationAction(operation => Check(operation, asksTasks),
                    OperationKind.Invocation, OperationKind.PropertyReference, OperationKind.Await);
            }
        });
    }

    private static void Check(OperationAnalysisContext context, bool asksTasks)
    {
        if (IsElsewhere(context.Operation))
        {
            return;
        }

        switch (context.Operation)
        {
            case IAwaitOperation wait when !HasLimit(wait.Operation):
                context.ReportDiagnostic(Diagnostic.Create(Rules.WaitingHandler, wait.Syntax.GetLocation()));
                break;
            case IInvocationOperation call when Blocks(call, asksTasks):
                Report(call.TargetMethod.ContainingType.Name, call.TargetMethod.Name, call.Syntax);
                break;
            case IPropertyReferenceOperation { Property: { Name: "Result" } result } reference
                when !asksTasks && result.ContainingType.Name is "Task" or "ValueTask"
                    && result.ContainingNamespace.ToDisplayString() is "System.Threading.Tasks":
                Report(result.ContainingType.Name, result.Name, reference.Syntax);
                break;
        }

        void Report(string type, string member, SyntaxNode syntax) =>
            context.ReportDiagnostic(Diagnostic.Create(Rules.BlockingHandler, syntax.GetLocation(), $"{type}.{member}"));
    }

    // In a function that the handler makes: another thread may run it.
    private static bool IsElsewhere(IOperation operation)
    {
        for (IOperation? one = operation.Parent; one is not null; one = one.Parent)
        {
            if (one is IAnonymousFunctionOperation or ILocalFunctionOperation)
            {
                return true;
            }
        }

        return false;
    }

    private static bool Blocks(IInvocationOperation call, bool asksTasks)
    {
        IMethodSymbol method = call.TargetMethod;
        if (Library.Declares(method))
        {
            // The library's blocking calls have a time; TrySend and TryReceive wait only if one is given.
            return call.Arguments.Any(argument => argument.Parameter is { Name: "timeout" }
                && (argument.ArgumentKind == ArgumentKind.Explicit || !method.Name.StartsWith("Try", StringComparison.Ordinal)));
        }

        string type = method.ContainingType.OriginalDefinition.ToDisplayString(SymbolDisplayFormat.CSharpErrorMessageFormat);
        bool isWaiter = method.Name is "GetResult" && method.ContainingNamespace.ToDisplayString() is "System.Runtime.CompilerServices";
        return (isWaiter && !asksTasks) || Blocking.Contains($"{type}.{method.Name}");
    }

    private static bool HasLimit(IOperation operation) => operation.DescendantsAndSelf().OfType<IInvocationOperation>().Any(static call =>
        call.TargetMethod.Name is "WaitAsync" or "Delay" or "WhenAny" || call.Arguments.Any(static argument =>
            argument is { ArgumentKind: ArgumentKind.Explicit, Parameter.Type.Name: "CancellationToken" or "TimeSpan" }));
}
