using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Net.Zlink.Extensions.Tests.Docs;

/// <summary>Compiles blocks, all at once: the statements of a block become a method of its page's class, members become members of that
/// class, and types stand beside it. They see the libraries as an application does, without what is internal.</summary>
internal static class BlockCompiler
{
    // What a project has without saying so. A block with usings of its own is a whole program and gets no more than these.
    private const string ImplicitUsings = """
        using System; using System.Collections.Generic; using System.IO; using System.Linq; using System.Net.Http; using System.Threading;
        using System.Threading.Tasks;
        """;

    private const string Usings = ImplicitUsings + """
        using System.Buffers; using System.Buffers.Binary; using System.Collections.Concurrent; using System.Diagnostics.Metrics;
        using System.Runtime.InteropServices; using System.Text; using System.Text.Json.Serialization;
        using Microsoft.Extensions.DependencyInjection; using Microsoft.Extensions.Hosting; using Microsoft.Extensions.Logging;
        using Microsoft.Extensions.ServiceDiscovery; using MemoryPack; using NATS.Client.Core; using OpenTelemetry.Metrics;
        using OpenTelemetry.Trace; using Polly; using Polly.CircuitBreaker; using Polly.Hedging; using Polly.Retry; using Xunit;
        using Net.Zlink; using Net.Zlink.Buffers; using Net.Zlink.Monitoring; using Net.Zlink.Porting; using Net.Zlink.Services;
        using Net.Zlink.Extensions.Hosting; using Net.Zlink.Extensions.Nats;
        using Net.Zlink.Extensions.OpenTelemetry; using Net.Zlink.Extensions.ServiceDiscovery;
        """;

    // Names that nobody sets, and packages that were built with lower versions of the framework.
    private static readonly HashSet<string> Unreported = new(StringComparer.Ordinal) { "CS0169", "CS0649", "CS8618", "CS1701", "CS1702" };

    private static readonly CSharpParseOptions Parsing = new(LanguageVersion.CSharp14);

    /// <summary>What is wrong, each as page(line): id: message.</summary>
    public static string[] Compile(IReadOnlyCollection<CodeBlock> blocks, IReadOnlyDictionary<string, Ambient> ambient)
    {
        string[] pages = [.. blocks.Select(static block => block.Page).Distinct(StringComparer.Ordinal)];
        List<string> faults = [];
        List<SyntaxTree> trees = [.. pages.Where(ambient.ContainsKey).Select((page, at) =>
            Tree(Usings, NamespaceOf(pages, page), Lines(ambient[page].Names, 1, page), Lines(ambient[page].Types, 1, page)))];
        foreach (CodeBlock block in blocks)
        {
            trees.Add(TreeOf(block, $"Block{trees.Count}", NamespaceOf(pages, block.Page), faults));
        }

        var compilation = CSharpCompilation.Create("Docs", trees, References(),
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
        faults.AddRange(compilation.GetDiagnostics()
            .Where(static one => one.Severity >= DiagnosticSeverity.Warning && !Unreported.Contains(one.Id))
            .Select(static one => (Span: one.Location.GetMappedLineSpan(), one.Id, Text: one.GetMessage(null)))
            .Select(static one => $"{one.Span.Path}({one.Span.StartLinePosition.Line + 1}): {one.Id}: {one.Text}"));
        return [.. faults];
    }

    private static string NamespaceOf(string[] pages, string page) => $"Page{Array.IndexOf(pages, page)}";

    private static SyntaxTree TreeOf(CodeBlock block, string method, string space, List<string> faults)
    {
        CompilationUnitSyntax unit = SyntaxFactory.ParseCompilationUnit(block.Code, options: Parsing);
        string usings = unit.Usings.Count == 0 ? Usings : ImplicitUsings + Part(block, unit.Usings);
        MemberDeclarationSyntax[] types = [.. unit.Members.OfType<BaseTypeDeclarationSyntax>()];
        MemberDeclarationSyntax[] others = [.. unit.Members.Except(types)];
        if (others.Length > 0 && IsMembers(block.Code))
        {
            return Tree(usings, space, Lines(block.Code, block.Line, block.File), "");
        }

        if (types.Length > 0 && others.Any(one => one.SpanStart > types[0].SpanStart))
        {
            faults.Add($"{block.File}({block.Line}): statements of a program stand before its types");
        }

        return Tree(usings, space, others.Length == 0 ? "" : Method(block, method, others), Part(block, types));
    }

    // A field or a method with its accessibility: in a program neither would parse.
    private static bool IsMembers(string code) =>
        SyntaxFactory.ParseCompilationUnit($"class C {{ {code} }}", options: Parsing) is { Members: [ClassDeclarationSyntax type] } unit
        && !unit.ContainsDiagnostics && type.Members.Any(static member => member.Modifiers.Any(SyntaxKind.PublicKeyword)
            || member.Modifiers.Any(SyntaxKind.PrivateKeyword));

    private static string Method(CodeBlock block, string name, MemberDeclarationSyntax[] statements)
    {
        bool waits = statements.Any(static one => one.DescendantTokens().Any(static token => token.IsKind(SyntaxKind.AwaitKeyword)));
        bool returns = statements.Any(static one => one is GlobalStatementSyntax { Statement: ReturnStatementSyntax });
        string result = (waits, returns) switch
        {
            (true, true) => "async Task<int>",
            (true, false) => "async Task",
            (false, true) => "int",
            _ => "void",
        };
        return $"{result} {name}(string[] args)\n{{\n{Part(block, statements)}\n}}\n";
    }

    private static string Part(CodeBlock block, IReadOnlyList<SyntaxNode> nodes) => nodes.Count == 0 ? ""
        : string.Concat(nodes.Select(node => Lines(node.ToFullString(), block.Line + LineOf(node), block.File)));

    private static int LineOf(SyntaxNode node) => node.SyntaxTree.GetLineSpan(node.FullSpan).StartLinePosition.Line;

    // The compiler then speaks of the page and its line.
    private static string Lines(string code, int line, string file) => $"\n#line {line} \"{file}\"\n{code}\n#line default\n";

    private static SyntaxTree Tree(string usings, string space, string members, string types) => CSharpSyntaxTree.ParseText(
        $"{usings}\nnamespace {space};\n{types}\npartial class Page\n{{\n{members}\n}}\n", Parsing, encoding: Encoding.UTF8);

    // The assemblies of this process: the framework, the libraries, and the packages that the pages name.
    private static IEnumerable<PortableExecutableReference> References() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => !path.EndsWith("Tests.dll", StringComparison.Ordinal))
            .Select(static path => MetadataReference.CreateFromFile(path));
}
