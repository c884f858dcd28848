using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Net.Zlink.Analyzers;

/// <summary>Declares a message with using, and a context with await using where the method can wait.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp)]
[Shared]
public sealed class AddUsingFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = [Rules.NotDisposedId, Rules.ContextNotDisposedId];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        SyntaxNode root = (await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false))!;
        foreach (Diagnostic diagnostic in context.Diagnostics)
        {
            SyntaxNode node = root.FindNode(diagnostic.Location.SourceSpan);
            var statement = node.FirstAncestorOrSelf<LocalDeclarationStatementSyntax>();
            if (statement is not { Declaration.Variables.Count: 1 } || statement.UsingKeyword.IsKind(SyntaxKind.UsingKeyword))
            {
                continue;
            }

            bool waits = diagnostic.Id is Rules.ContextNotDisposedId && CanWait(statement);
            string title = waits ? "Declare it with await using" : "Declare it with using";
            Document changed = context.Document.WithSyntaxRoot(root.ReplaceNode(statement, WithUsing(statement, waits)));
            context.RegisterCodeFix(CodeAction.Create(title, _ => Task.FromResult(changed), title), diagnostic);
        }
    }

    private static LocalDeclarationStatementSyntax WithUsing(LocalDeclarationStatementSyntax statement, bool waits)
    {
        LocalDeclarationStatementSyntax changed = statement.WithoutLeadingTrivia()
            .WithUsingKeyword(SyntaxFactory.Token(SyntaxKind.UsingKeyword).WithTrailingTrivia(SyntaxFactory.Space));
        changed = waits
            ? changed.WithAwaitKeyword(SyntaxFactory.Token(SyntaxKind.AwaitKeyword).WithTrailingTrivia(SyntaxFactory.Space)) : changed;
        return changed.WithLeadingTrivia(statement.GetLeadingTrivia());
    }

    private static bool CanWait(SyntaxNode node)
    {
        foreach (SyntaxNode one in node.Ancestors())
        {
            switch (one)
            {
                case AnonymousFunctionExpressionSyntax function:
                    return function.AsyncKeyword.IsKind(SyntaxKind.AsyncKeyword);
                case LocalFunctionStatementSyntax local:
                    return local.Modifiers.Any(SyntaxKind.AsyncKeyword);
                case BaseMethodDeclarationSyntax method:
                    return method.Modifiers.Any(SyntaxKind.AsyncKeyword);
                case AccessorDeclarationSyntax:
                    return false;
                case GlobalStatementSyntax:
                    return true;
            }
        }

        return false;
    }
}
