using System.Collections.Immutable;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Net.Zlink.Analyzers;
using Xunit;

namespace Net.Zlink.Extensions.Tests.Docs;

/// <summary>Compiles blocks, those of a page at once: the statements of a block become a method of its page's class, members become members
/// of that class, and types stand beside it. They see the libraries as an application does, without what is internal.</summary>
internal static class BlockCompiler
{
    // What a project has without saying so. A block with usings of its own is a whole program and gets no more than these.
    private const string ImplicitUsings = """
        using System; using System.Collections.Generic; using System.IO; using System.Linq; using System.Net.Http; using System.Threading;
        using System.Threading.Tasks;
        """;

    // What a template's kind of project has besides.
    private const string WebUsings = ImplicitUsings + """
        using Microsoft.AspNetCore.Builder; using Microsoft.AspNetCore.Hosting; using Microsoft.AspNetCore.Http;
        using Microsoft.AspNetCore.Routing; using Microsoft.Extensions.Configuration; using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting; using Microsoft.Extensions.Logging;
        """;

    private const string Usings = ImplicitUsings + """
        using System.Buffers; using System.Buffers.Binary; using System.Collections.Concurrent; using System.Diagnostics.Metrics;
        using System.Runtime.InteropServices; using System.Text; using System.Text.Json.Serialization;
        using Microsoft.Extensions.DependencyInjection; using Microsoft.Extensions.Hosting; using Microsoft.Extensions.Logging;
        using Microsoft.Extensions.ServiceDiscovery; using MemoryPack; using NATS.Client.Core; using OpenTelemetry.Metrics;
        using OpenTelemetry.Trace; using Polly; using Polly.CircuitBreaker; using Polly.Hedging; using Polly.Registry;
        using Polly.Retry; using Xunit; using Microsoft.AspNetCore.Connections;
        using Net.Zlink; using Net.Zlink.Buffers; using Net.Zlink.Monitoring; using Net.Zlink.Porting; using Net.Zlink.Services;
        using Microsoft.AspNetCore.Builder; using Net.Zlink.AspNetCore;
        using Net.Zlink.Extensions.Connections; using Net.Zlink.Extensions.Hosting; using Net.Zlink.Extensions.Nats;
        using Net.Zlink.Extensions.OpenTelemetry; using Net.Zlink.Extensions.ServiceDiscovery;
        """;

    // Names that nobody sets, and packages that were built with lower versions of the framework.
    private static readonly HashSet<string> Unreported = new(StringComparer.Ordinal) { "CS0169", "CS0649", "CS8618", "CS1701", "CS1702" };

    private static readonly CSharpParseOptions Parsing = new(LanguageVersion.CSharp14);

    /// <summary>What is wrong, each as page(line): id: message.</summary>
    public static async Task<string[]> CompileAsync(IEnumerable<CodeBlock> blocks, IReadOnlyDictionary<string, Ambient> ambient)
    {
        List<string> faults = [];
        var empty = CSharpCompilation.Create("Docs", [], References(),
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
        GeneratorDriver generators = CSharpGeneratorDriver.Create([JsonGenerator()], parseOptions: Parsing);
        foreach (IGrouping<string, CodeBlock> page in blocks.GroupBy(static block => block.Page, StringComparer.Ordinal))
        {
            (string names, string types) = ambient.TryGetValue(page.Key, out Ambient? has) ? (has.Names, has.Types) : ("", "");
            string place = $"Ambient.cs, {page.Key}";
            SyntaxTree given = Tree(Usings, Lines(names, 1, place), Lines(types, 1, place));
            _ = generators.RunGeneratorsAndUpdateCompilation(
                empty.AddSyntaxTrees([given, .. page.Select((block, at) => TreeOf(block, $"Block{at}", faults))]),
                out Compilation compilation, out ImmutableArray<Diagnostic> ofGenerators);
            // What an application gets with the package must not speak of the pages' own code.
            ImmutableArray<Diagnostic> ofAnalyzers = await compilation
                .WithAnalyzers([new LeaseAnalyzer(), new HandlerAnalyzer(), new ContextAnalyzer()])
                .GetAnalyzerDiagnosticsAsync(TestContext.Current.CancellationToken);
            faults.AddRange(compilation.GetDiagnostics().Concat(ofGenerators).Concat(ofAnalyzers)
                .Where(static one => one.Severity >= DiagnosticSeverity.Warning && !Unreported.Contains(one.Id))
                .Select(static one => (Span: one.Location.GetMappedLineSpan(), one.Id, Text: one.GetMessage(null)))
                .Select(static one => $"{one.Span.Path}({one.Span.StartLinePosition.Line + 1}): {one.Id}: {one.Text}"));
        }

        return [.. faults.Distinct(StringComparer.Ordinal)];
    }

    private static SyntaxTree TreeOf(CodeBlock block, string method, List<string> faults)
    {
        CompilationUnitSyntax unit = SyntaxFactory.ParseCompilationUnit(block.Code, options: Parsing);
        bool isWeb = block.File.StartsWith("templates/", StringComparison.Ordinal)
            && !block.File.Contains("/tests/", StringComparison.Ordinal);
        string implicitUsings = isWeb ? WebUsings : ImplicitUsings;
        if (unit.Members is [BaseNamespaceDeclarationSyntax])
        {
            return Tree(implicitUsings + Lines(block.Code, block.Line, block.File));
        }

        string usings = unit.Usings.Count == 0 ? Usings : implicitUsings + Part(block, unit.Usings);
        MemberDeclarationSyntax[] types = [.. unit.Members.OfType<BaseTypeDeclarationSyntax>()];
        MemberDeclarationSyntax[] others = [.. unit.Members.Except(types)];
        if (others.Length > 0 && IsMembers(block.Code))
        {
            return Tree(usings, Lines(block.Code, block.Line, block.File), "");
        }

        if (types.Length > 0 && others.Any(one => one.SpanStart > types[0].SpanStart))
        {
            faults.Add($"{block.File}({block.Line}): statements of a program stand before its types");
        }

        return Tree(usings, others.Length == 0 ? "" : Method(block, method, others), Part(block, types));
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

    private static SyntaxTree Tree(string usings, string members, string types) =>
        Tree($"{usings}\nnamespace Reader;\n{types}\npartial class Page\n{{\n{members}\n}}\n");

    private static SyntaxTree Tree(string code) =>
        CSharpSyntaxTree.ParseText($"#line 1 \"usings\"\n{code}", Parsing, encoding: Encoding.UTF8);

    // Writes the other half of a JsonSerializerContext, in a reader's project as here. It comes with the SDK.
    private static ISourceGenerator JsonGenerator()
    {
        string shared = RuntimeEnvironment.GetRuntimeDirectory(); // dotnet/shared/Microsoft.NETCore.App/10.0.0/
        string packs = Path.GetFullPath(Path.Combine(shared, "../../../packs/Microsoft.NETCore.App.Ref"));
        string file = Directory.EnumerateFiles(packs, "System.Text.Json.SourceGeneration.dll", SearchOption.AllDirectories)
            .Max(StringComparer.Ordinal)!;
        Type type = Assembly.LoadFrom(file).GetType("System.Text.Json.SourceGeneration.JsonSourceGenerator", throwOnError: true)!;
        return ((IIncrementalGenerator)Activator.CreateInstance(type)!).AsSourceGenerator();
    }

    // The assemblies of this process: the framework, the libraries, and the packages that the pages name.
    private static IEnumerable<PortableExecutableReference> References() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => !path.EndsWith("Tests.dll", StringComparison.Ordinal))
            .Select(static path => MetadataReference.CreateFromFile(path));
}
