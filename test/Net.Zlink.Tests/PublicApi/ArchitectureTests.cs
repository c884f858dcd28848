using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Xunit;

namespace Net.Zlink.Tests.PublicApi;

/// <summary>The arrows of docs/architecture.md, held by reading the source.</summary>
public sealed class ArchitectureTests
{
    // What each folder may use. The root may use all.
    private static readonly Dictionary<string, string[]> MayUse = new(StringComparer.Ordinal)
    {
        ["Flow"] = [],
        ["Protocol"] = [],
        ["Buffers"] = ["Flow"],
        ["Monitoring"] = ["Flow"],
        ["Transports"] = ["Protocol", "Buffers", "Monitoring", "Flow"],
        ["Engine"] = ["Transports", "Protocol", "Buffers", "Monitoring", "Flow"],
        ["Sockets"] = ["Engine", "Transports", "Protocol", "Buffers", "Monitoring", "Flow"],
    };

    // What a user types is one namespace, so that one using is enough. Its files stand by subject all the same, and count as the root's.
    private static readonly HashSet<string> Subjects =
        new(["Messages", "Options", "Polling", "Proxying", "Publishing", "Statistics", "Stream"], StringComparer.Ordinal);

    // Values without behaviour, whose names are also those of members in the layers: a check by name cannot tell the two apart.
    private static readonly string[] SharedValues = ["RoutingId", "QueueDepth"];

    // Who else may see what is internal in the library. What is shipped beside it uses the public API only.
    private static readonly string[] Insiders =
    [
        "Net.Zlink.Benchmarks", "Net.Zlink.Conformance.Tests", "Net.Zlink.Services.Tests", "Net.Zlink.Tests", "Net.Zlink.Tests.Child",
    ];

    [Fact]
    public void Layers_use_only_the_layers_below_them()
    {
        List<string> faults = [];
        foreach ((string path, string text) in SourceTree.Files)
        {
            string layer = LayerOf(path);
            if (layer.Length > 0)
            {
                faults.AddRange(UsedLayers(text).Where(used => !string.Equals(used, layer, StringComparison.Ordinal)
                    && !MayUse[layer].Contains(used, StringComparer.Ordinal))
                    .Select(used => $"{path} is of {layer} and uses {used}"));
            }
        }

        Assert.True(faults.Count == 0, string.Join('\n', faults));
    }

    [Fact]
    public void No_layer_uses_a_type_of_the_root()
    {
        HashSet<string> rootTypes = [.. SourceTree.Files.Where(static f => LayerOf(f.Path).Length == 0)
            .SelectMany(static f => DeclaredTypes(f.Text))];
        Assert.Contains("ZlinkContext", rootTypes);
        List<string> faults = [];
        rootTypes.ExceptWith(SharedValues);
        foreach (IGrouping<string, (string Path, string Text)> layer in SourceTree.Files.GroupBy(
            static f => LayerOf(f.Path), StringComparer.Ordinal).Where(static layer => layer.Key.Length > 0))
        {
            HashSet<string> own = [.. layer.SelectMany(static f => DeclaredTypes(f.Text))];
            faults.AddRange(layer.SelectMany(f => Identifiers(f.Text).Where(name => rootTypes.Contains(name) && !own.Contains(name))
                .Select(name => $"{f.Path} uses {name} of the root")));
        }

        Assert.True(faults.Count == 0, string.Join('\n', faults));
    }

    [Fact]
    public void Every_folder_is_a_layer_with_a_rule_and_every_namespace_is_its_folder()
    {
        List<string> faults = [];
        foreach ((string path, string text) in SourceTree.Files)
        {
            if (LayerOf(path).Length > 0 && !MayUse.ContainsKey(LayerOf(path)))
            {
                faults.Add($"{path}: there is no rule for the folder {LayerOf(path)}");
            }

            string folder = Path.GetDirectoryName(path)!.Replace('\\', '/').Replace('/', '.');
            string expected = LayerOf(path).Length == 0 ? "Net.Zlink" : $"Net.Zlink.{folder}";
            string actual = Regex.Match(text, @"^namespace (?<name>[\w.]+);", RegexOptions.Multiline, TimeSpan.FromSeconds(10))
                .Groups["name"].Value;
            if (actual.Length > 0 && !string.Equals(actual, expected, StringComparison.Ordinal))
            {
                faults.Add($"{path}: its namespace is {actual}");
            }
        }

        Assert.True(faults.Count == 0, string.Join('\n', faults));
    }

    [Fact]
    public void Services_hosting_and_porting_use_the_public_API_of_the_library_only() =>
        Assert.Equal(Insiders, typeof(ZlinkContext).Assembly.GetCustomAttributes<InternalsVisibleToAttribute>()
            .Select(static insider => insider.AssemblyName).Order(StringComparer.Ordinal), StringComparer.Ordinal);

    [Fact]
    public void No_source_file_is_over_500_lines()
    {
        IEnumerable<string> faults = SourceTree.Files.Select(static f => (f.Path, Lines: f.Text.AsSpan().Count('\n')))
            .Where(static f => f.Lines > 500).Select(static f => $"{f.Path}: {f.Lines}");
        Assert.Empty(faults);
    }

    [Theory]
    [InlineData("using Net.Zlink.Engine;", "Engine")]
    [InlineData("using Loop = Net.Zlink.Engine.ShardLoop;", "Engine")]
    [InlineData("x = Transports.Tcp.TcpEndpoint.Format(y);", "Transports")]
    [InlineData("global::Net.Zlink.Sockets.StreamHub hub;", "Sockets")]
    [InlineData("// using Net.Zlink.Engine;", null)]
    [InlineData("/// <see cref=\"Engine.ShardLoop\"/>", null)]
    [InlineData("string text = \"Engine.ShardLoop\";", null)]
    [InlineData("this.Engine.Run();", null)]
    [InlineData("using System.Buffers;", null)]
    [InlineData("System.Buffers.ArrayPool<byte> pool;", null)]
    public void The_reader_of_the_source_sees_what_it_should(string code, string? layer) =>
        Assert.Equal(layer is null ? [] : [layer], UsedLayers(code), StringComparer.Ordinal);

    private static string LayerOf(string path)
    {
        string folder = path.Contains('/', StringComparison.Ordinal) ? path[..path.IndexOf('/', StringComparison.Ordinal)] : "";
        return Subjects.Contains(folder) ? "" : folder;
    }

    private static IEnumerable<string> UsedLayers(string text) =>
        Regex.Matches(
                SourceTree.CodeOf(text), $@"(?:Net\.Zlink\.|(?<![\w.]))(?<layer>{string.Join('|', MayUse.Keys)})(?=[.;])",
                RegexOptions.ExplicitCapture, TimeSpan.FromSeconds(10))
            .Select(static match => match.Groups["layer"].Value)
            .Distinct(StringComparer.Ordinal);

    private static IEnumerable<string> DeclaredTypes(string text) =>
        Regex.Matches(
                SourceTree.CodeOf(text),
                @"\b(record\s+struct|record\s+class|class|struct|interface|enum|record|delegate\s+\w+)\s+(?<name>\w+)",
                RegexOptions.ExplicitCapture, TimeSpan.FromSeconds(10))
            .Select(static match => match.Groups["name"].Value);

    private static IEnumerable<string> Identifiers(string text) =>
        Regex.Matches(SourceTree.CodeOf(text), @"(?<!(?<!Zlink)\.)\b[A-Z]\w*\b", RegexOptions.None, TimeSpan.FromSeconds(10))
            .Select(static match => match.Value)
            .Distinct(StringComparer.Ordinal);
}
