using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Net.Zlink.Analyzers;

/// <summary>What a reference to a message does with it.</summary>
internal enum LeaseUse
{
    Reads,

    Disposes,

    /// <summary>Another message takes its place.</summary>
    Assigns,

    /// <summary>It goes where it is not followed: stored, returned, sent, or passed on.</summary>
    HandsOn,
}

internal static class LeaseUses
{
    public static LeaseUse Of(ILocalReferenceOperation reference) => reference.Parent switch
    {
        IInvocationOperation call when ReferenceEquals(call.Instance, reference) =>
            call.TargetMethod.Name is nameof(IDisposable.Dispose) ? LeaseUse.Disposes : LeaseUse.Reads,
        IPropertyReferenceOperation property when ReferenceEquals(property.Instance, reference) => LeaseUse.Reads,
        ISimpleAssignmentOperation assignment when ReferenceEquals(assignment.Target, reference) => LeaseUse.Assigns,
        IDeclarationExpressionOperation => LeaseUse.Assigns,
        IArgumentOperation { Parameter.RefKind: RefKind.Out } => LeaseUse.Assigns,
        // It looks up the peer that sent the message.
        IArgumentOperation { Parent: IInvocationOperation { TargetMethod.Name: "To" } call } when Library.Declares(call.TargetMethod) =>
            LeaseUse.Reads,
        _ => LeaseUse.HandsOn,
    };

    public static ILocalSymbol? DisposedBy(IInvocationOperation call) =>
        call is { TargetMethod.Name: nameof(IDisposable.Dispose), Arguments.Length: 0 }
            && WithoutConversions(call.Instance) is ILocalReferenceOperation local && Library.IsLease(local.Local.Type)
            ? local.Local : null;

    public static ILocalSymbol? SentBy(IInvocationOperation call) =>
        Library.Declares(call.TargetMethod) && call.TargetMethod.Name is "Send" or "SendAsync" or "TrySend"
            ? call.Arguments.Select(static one => WithoutConversions(one.Value)).OfType<ILocalReferenceOperation>()
                .Select(static one => one.Local).FirstOrDefault(static one => Library.IsLease(one.Type))
            : null;

    /// <summary>With a conversion to bool: a SendResult is tested by one.</summary>
    public static IOperation? WithoutConversions(IOperation? operation)
    {
        while (operation is IConversionOperation conversion)
        {
            operation = conversion.Operand;
        }

        return operation;
    }

    public static bool IsDeclaredWithUsing(ILocalSymbol local, CancellationToken cancellation) =>
        local.DeclaringSyntaxReferences.Select(reference => reference.GetSyntax(cancellation)).Any(static node =>
            node.Parent?.Parent is LocalDeclarationStatementSyntax statement && statement.UsingKeyword.IsKind(SyntaxKind.UsingKeyword)
            || node.Parent?.Parent is UsingStatementSyntax);
}
