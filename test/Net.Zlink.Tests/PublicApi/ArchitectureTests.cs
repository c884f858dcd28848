using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Xunit;

namespace Net.Zlink.Tests.PublicApi;

/// <summary>Which folder of src uses which, held by reading the source (docs/architecture.md).</summary>
public sealed class ArchitectureTests
{
    // A folder, and what it may use beside its own types. What those may use it may use too. "." is the folder of the project.
    private static readonly Dictionary<string, string[]> s_rules = new(StringComparer.Ordinal)
    {
        ["Net.Zlink"] =
        [
            "Flow:", "Protocol:", "Protocol/Stream: Protocol", "Protocol/WebSocket: Protocol", "Protocol/Zmp: Protocol",
            "Buffers: Flow", "Monitoring: Flow", "Options/Transports: Protocol/WebSocket",
            "Transports: Options/Transports Buffers Monitoring", "Transports/Tcp: Transports", "Transports/Ipc: Transports",
            "Transports/Tls: Transports/Tcp", "Transports/WebSocket: Transports/Tls", "Transports/Pipes: Transports",
            "Engine: Transports Protocol/Stream",
            "Sockets/Endpoints: Engine Protocol/Zmp Transports/Ipc Transports/WebSocket", "Sockets/Routing: Sockets/Endpoints",
            "Sockets/Links: Sockets/Routing", "Sockets/Zmp: Sockets/Links", "Sockets/Patterns: Sockets/Zmp", "Sockets: Sockets/Patterns",
            "Errors: Transports", "Options: Sockets Transports/Ipc Transports/WebSocket Errors", "Messages: Options", "Statistics: Options",
            "Stream: Messages Statistics", ".: Stream Transports/Pipes", "Polling: .", "Publishing: .", "Proxying: .",
            "Diagnostics: .",
        ],
        ["Net.Zlink.Services"] =
        [
            "Protocol:", "Model: Protocol", "Common: Protocol", "Options: Model Common",
            "Tracing: Options", "LoadBalancing: Options", "Discovery: Options", "Registration: Options", "Registry: Options",
            "RequestHandling: Tracing", "Gateway: Discovery LoadBalancing Tracing", "Spot: Discovery Registration Tracing",
            ".: Gateway Registry RequestHandling Spot", "Typed: .",
        ],
        ["Net.Zlink.Extensions.Hosting"] =
        [
            "Options:", "Settings: Options", "Contexts: Settings", "Health: Contexts", "Lifetime: Health", "Sockets: Lifetime",
            "Streams: Sockets", "Services: Streams", ".: Services",
        ],
    };

    // What breaks a rule today: the folder, and the type that it should not use. Lines go, none comes.
    private static readonly Dictionary<string, string[]> s_backArrows = new(StringComparer.Ordinal)
    {
        ["Net.Zlink"] = [],
        ["Net.Zlink.Services"] =
        [
            "Common -> Options/DirectoryEndpointOptions", "Common -> Options/DirectoryTrust",
            "Model -> ./SpotNode", "Model -> Gateway/Ejections", "Model -> Gateway/UnreadMessages",
            "Model -> Options/DirectoryTrust", "Model -> Spot/TopicBytes",
            "Options -> Registration/AdvertisedEndpoint", "Options -> Registration/RandomRoutingId",
            "Options -> Registration/RegistryConnection", "Options -> Registry/RegistrationAdmission",
            "Options -> Registry/RegistrationRequest", "Registry -> Gateway/Requests", "RequestHandling -> Gateway/MessageForm",
            "RequestHandling -> Gateway/Requests", "Tracing -> RequestHandling/ServiceRequest",
        ],
        ["Net.Zlink.Extensions.Hosting"] =
        [
            "Contexts -> Health/ContextHealthCheck", "Contexts -> Lifetime/ZlinkHost", "Health -> Services/HostedReceiver",
            "Health -> Sockets/SocketFigures",
        ],
    };

    // Values that all layers have, since the public API names errors, peers, depths, endpoints and TLS by them.
    private static readonly string[] s_sharedValues =
    [
        "./RedactedEndpoint", "Errors/ZlinkError", "Messages/RoutingId", "Options/DuplicateRoutingId", "Statistics/PeerDetails",
        "Statistics/QueueDepth", "Statistics/TlsSession",
    ];

    // Who else may see what is internal in the library. What is shipped beside it uses the public API only.
    private static readonly string[] s_insiders =
    [
        "Net.Zlink.Benchmarks", "Net.Zlink.Conformance.Tests", "Net.Zlink.Fuzzing.Tests", "Net.Zlink.Services.Tests", "Net.Zlink.Tests",
        "Net.Zlink.Tests.Child",
    ];

    public static TheoryData<string> Projects => [.. s_rules.Keys];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Folders_use_only_what_their_rule_allows_and_the_list_of_exceptions_only_shrinks(string project)
    {
        IReadOnlyList<(string Path, string Text)> files = SourceTree.FilesOf(project);
        Dictionary<string, HashSet<string>> mayUse = MayUse(s_rules[project]);
        Assert.Equal(files.Select(static file => FolderOf(file.Path)).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal),
            mayUse.Keys.Order(StringComparer.Ordinal));
        List<string> arrows = BackArrows(files, mayUse);
        string[] faults =
        [
            .. arrows.Except(s_backArrows[project], StringComparer.Ordinal).Select(static arrow => $"\"{arrow}\" breaks a rule"),
            .. s_backArrows[project].Except(arrows, StringComparer.Ordinal)
                .Select(static arrow => $"\"{arrow}\" is gone: take it off the list"),
        ];
        Assert.True(faults.Length == 0, string.Join('\n', faults));
    }

    [Fact]
    public void Every_namespace_of_an_inner_layer_is_its_folder()
    {
        List<string> faults = [];
        foreach ((string path, string text) in SourceTree.Files)
        {
            string folder = FolderOf(path);
            string layer = folder.Split('/')[0];
            string expected = layer is "Flow" or "Protocol" or "Buffers" or "Monitoring" or "Transports" or "Engine" or "Sockets"
                ? $"Net.Zlink.{folder.Replace('/', '.')}" : "Net.Zlink"; // What a user types is one namespace.
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
        Assert.Equal(s_insiders, typeof(ZlinkContext).Assembly.GetCustomAttributes<InternalsVisibleToAttribute>()
            .Select(static insider => insider.AssemblyName).Order(StringComparer.Ordinal), StringComparer.Ordinal);

    [Fact]
    public void No_source_file_is_over_500_lines()
    {
        IEnumerable<string> faults = SourceTree.Files.Select(static f => (f.Path, Lines: f.Text.AsSpan().Count('\n')))
            .Where(static f => f.Lines > 500).Select(static f => $"{f.Path}: {f.Lines}");
        Assert.Empty(faults);
    }

    [Theory]
    [InlineData("High high;", true)]
    [InlineData("Net.Zlink.Sockets.High.Run();", true)]
    [InlineData("using Other = Net.Zlink.Sockets.High;", true)]
    [InlineData("// High", false)]
    [InlineData("/// <see cref=\"High\"/>", false)]
    [InlineData("string text = \"High\";", false)]
    [InlineData("this.High.Run();", false)]
    [InlineData("Higher higher;", false)]
    public void The_reader_of_the_source_sees_what_it_should(string code, bool isArrow)
    {
        (string, string)[] files = [("Low/Low.cs", code), ("High/High.cs", "public sealed class High\n{\n    class Nested;\n}")];
        Assert.Equal(isArrow ? ["Low -> High/High"] : [], BackArrows(files, MayUse(["Low:", "High: Low"])), StringComparer.Ordinal);
        Assert.Empty(BackArrows(files, MayUse(["High:", "Middle: High", "Low: Middle"])));
    }

    private static Dictionary<string, HashSet<string>> MayUse(string[] rules)
    {
        Dictionary<string, HashSet<string>> mayUse = new(StringComparer.Ordinal);
        foreach (string rule in rules)
        {
            // Only what stands before it, so no two folders may use each other.
            string[] words = rule.Split([':', ' '], StringSplitOptions.RemoveEmptyEntries);
            mayUse.Add(words[0], [.. words[1..], .. words[1..].SelectMany(word => mayUse[word])]);
        }

        return mayUse;
    }

    private static List<string> BackArrows(
        IReadOnlyCollection<(string Path, string Text)> files, Dictionary<string, HashSet<string>> mayUse)
    {
        (string Folder, string Code)[] all = [.. files.Select(static file => (FolderOf(file.Path), SourceTree.CodeOf(file.Text)))];
        Dictionary<string, string> folderOf = new(StringComparer.Ordinal);
        foreach ((string folder, string code) in all)
        {
            foreach (string type in OuterTypes(code))
            {
                folderOf[type] = folder;
            }
        }

        return
        [
            .. all.SelectMany(file => Names(file.Code).Where(name => folderOf.TryGetValue(name, out string? used)
                    && !string.Equals(used, file.Folder, StringComparison.Ordinal) && !mayUse[file.Folder].Contains(used))
                .Select(name => (file.Folder, Type: $"{folderOf[name]}/{name}")))
                .Where(static arrow => !s_sharedValues.Contains(arrow.Type, StringComparer.Ordinal))
                .Select(static arrow => $"{arrow.Folder} -> {arrow.Type}").Distinct(StringComparer.Ordinal),
        ];
    }

    private static string FolderOf(string path) => Path.GetDirectoryName(path) is { Length: > 0 } folder ? folder.Replace('\\', '/') : ".";

    private static IEnumerable<string> OuterTypes(string code) =>
        Regex.Matches(
                code,
                @"^(?:[a-z]+\s+)*(?:record\s+struct|record\s+class|class|struct|interface|enum|record|delegate\s+\w+)\s+(?<name>\w+)",
                RegexOptions.ExplicitCapture | RegexOptions.Multiline, TimeSpan.FromSeconds(10))
            .Select(static match => match.Groups["name"].Value);

    private static IEnumerable<string> Names(string code) =>
        Regex.Matches(code, @"(?<!(?<!Zlink(?:\.\w+)*)\.)\b[A-Z]\w*\b", RegexOptions.None, TimeSpan.FromSeconds(10))
            .Select(static match => match.Value)
            .Distinct(StringComparer.Ordinal);
}
