using System.Collections;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Xml.Linq;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Options;

/// <summary>What options say of themselves, and what docs/options.md says of them: none may be missing, and both say the same about when a
/// change counts.</summary>
public sealed class OptionDocsTests
{
    // How a property says when a change counts, and the word for it in the table.
    private static readonly (string Word, string Sentence)[] Times =
    [
        ("live", "Acts at once"),
        ("new", "or endpoints made afterwards"),
        ("made", "Read when the socket is made"),
    ];

    private static readonly XElement[] Members =
        [.. XDocument.Load(Path.Combine(AppContext.BaseDirectory, "Net.Zlink.xml")).Descendants("member")];

    private static readonly string[] Lines = File.ReadAllLines(Path.Combine(SourceTree.Root, "docs", "options.md"));

    private static readonly string[] Paragraphs = string.Join('\n', Lines).Split("\n\n");

    [Fact]
    public void Every_option_of_a_socket_says_when_a_change_counts()
    {
        IEnumerable<string> silent = OptionsOfSockets()
            .Where(static p => !Times.Any(t => DocOf(p).Contains(t.Sentence, StringComparison.Ordinal))).Select(static p => NameOf(p));
        Assert.Empty(silent);
    }

    [Fact]
    public void The_table_for_people_says_the_same_about_when_a_change_counts()
    {
        foreach (PropertyInfo property in OptionsOfSockets().Where(static p => !IsGroup(p)))
        {
            string doc = DocOf(property);
            string when = WhenInTable(property);
            foreach ((string word, string sentence) in Times)
            {
                bool isInTable = when.Split(' ', ',', ';', ':', '.').Contains(word, StringComparer.Ordinal);
                Assert.True(isInTable == doc.Contains(sentence, StringComparison.Ordinal),
                    $"{NameOf(property)}: the table says '{when}', the property '{doc}'");
            }
        }
    }

    [Fact]
    public void Every_option_is_in_the_file_for_people()
    {
        int contexts = Array.IndexOf(Lines, "## Contexts");
        string sockets = string.Join('\n', Lines[..contexts]);
        IEnumerable<string> missing = OptionTypes().SelectMany(static type => Settable(type).Where(static p => !IsGroup(p)))
            .Where(property =>
        {
            Type type = property.DeclaringType!;
            string place = type == typeof(ZlinkContextOptions) ? string.Join('\n', Lines[contexts..])
                : type == typeof(BufferPoolOptions) || type == typeof(StreamConnectOptions)
                    ? Assert.Single(Paragraphs, p => p.Contains($"`{type.Name}`", StringComparison.Ordinal))
                : sockets;
            return !place.Contains($"`{TableNameOf(property)}`", StringComparison.Ordinal);
        }).Select(static p => NameOf(p));
        Assert.Empty(missing);
    }

    [Fact]
    public void The_reader_of_options_sees_plain_ones_inherited_texts_sets_and_groups()
    {
        string[] names = [.. OptionsOfSockets().Select(static p => NameOf(p))];
        Assert.Contains("SocketOptions.Linger", names, StringComparer.Ordinal);
        Assert.Contains("SocketOptions.Tls", names, StringComparer.Ordinal);
        Assert.Contains("WebSocketTransportOptions.AllowedPaths", names, StringComparer.Ordinal);
        Assert.Contains("TlsOptions.Validation", names, StringComparer.Ordinal);
        Assert.Contains("at its high-water mark nothing is sent", DocOf(typeof(XPubOptions).GetProperty(nameof(XPubOptions.NoDrop))!),
            StringComparison.Ordinal);
        Assert.Contains(OptionTypes(), static t => t == typeof(BufferPoolOptions));
    }

    private static IEnumerable<Type> OptionTypes() =>
        typeof(ZlinkContext).Assembly.GetExportedTypes()
            .Where(static t => t.Name.EndsWith("Options", StringComparison.Ordinal) && !(t.IsAbstract && t.IsSealed));

    // The others are fixed where they are handed over.
    private static IEnumerable<PropertyInfo> OptionsOfSockets() =>
        OptionTypes().Where(static t => t.IsSubclassOf(typeof(SocketOptions)) || t == typeof(SocketOptions) || t == typeof(TlsOptions)
            || t == typeof(WebSocketTransportOptions)).SelectMany(static t => Settable(t));

    private static IEnumerable<PropertyInfo> Settable(Type type) =>
        type.GetProperties(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly)
            .Where(static p => p.SetMethod is { IsPublic: true } || IsGroup(p)
                || (p.PropertyType != typeof(string) && p.PropertyType.IsAssignableTo(typeof(IEnumerable))))
            .Where(static p => !p.IsDefined(typeof(CompilerGeneratedAttribute)));

    private static bool IsGroup(PropertyInfo property) => property.PropertyType == typeof(TlsOptions)
        || property.PropertyType == typeof(WebSocketTransportOptions);

    private static string NameOf(PropertyInfo property) => $"{property.DeclaringType!.Name}.{property.Name}";

    private static string TableNameOf(PropertyInfo property) =>
        property.DeclaringType == typeof(TlsOptions) ? $"Tls.{property.Name}" : property.DeclaringType == typeof(WebSocketTransportOptions)
            ? $"WebSocket.{property.Name}" : property.Name;

    /// <summary>The cell about it: the last one of the table of native options, the last but one of those that are only here.</summary>
    private static string WhenInTable(PropertyInfo property)
    {
        foreach (string line in Lines[..Array.IndexOf(Lines, "## Contexts")])
        {
            string[] cells = [.. line.Trim('|').Split('|').Select(static cell => cell.Trim())];
            (int name, int when) = cells.Length switch { 7 => (2, 6), 5 => (0, 3), _ => (-1, -1) };
            if (name >= 0 && cells[name].Contains($"`{TableNameOf(property)}`", StringComparison.Ordinal))
            {
                return cells[when];
            }
        }

        Assert.Fail($"{NameOf(property)} has no row");
        return "";
    }

    private static string DocOf(PropertyInfo property) => DocOf($"P:{property.DeclaringType!.FullName}.{property.Name}");

    private static string DocOf(string id)
    {
        XElement member = Assert.Single(Members, m => string.Equals(m.Attribute("name")!.Value, id, StringComparison.Ordinal));
        return member.Element("inheritdoc")?.Attribute("cref") is { } source ? DocOf(source.Value)
            : string.Join(' ', member.Element("summary")!.Value.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
    }
}
