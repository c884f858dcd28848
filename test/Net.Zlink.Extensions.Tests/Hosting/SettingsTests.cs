using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Which source counts, and which shapes and units a value may have.</summary>
public sealed class SettingsTests
{
    private const string Origins = "Sockets:jobs:Options:WebSocket:AllowedOrigins";

    [Fact]
    public async Task A_text_in_the_place_of_a_list_is_its_one_entry_and_takes_the_place_of_the_list_in_code()
    {
        await using var host = new HostFixture(
            (Origins, "https://a"), ("Sockets:jobs:Options:WebSocket:AllowedPaths", "/jobs"),
            ("Sockets:jobs:Options:WebSocket:SubProtocols", "v1"), ("Registry:Peers", "inproc://other"),
            ("Sockets:jobs:Options:WebSocket:RequestFields:Authorization", "Bearer 1"), ("Sockets:jobs:Bind", "inproc://jobs"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs").Configure(static options => options.WebSocket.AllowedOrigins.Add("https://b"));
        host.Services.AddZlinkRegistry("inproc://lists", "inproc://registry", static options => options.Peers = ["inproc://peer"]);
        await host.StartAsync();
        WebSocketTransportOptions options = host.Get<RouterSocket>("jobs").Options.WebSocket;
        string[] all = [.. options.AllowedOrigins, .. options.AllowedPaths, .. options.SubProtocols, .. options.RequestFields.Values];
        Assert.Equal(["https://a", "/jobs", "v1", "Bearer 1"], all, StringComparer.Ordinal);
        await host.StopAsync();
    }

    public static TheoryData<string, (string, string)[], (string, string)[], string[]> Sources => new()
    {
        { "Bind", [("", "inproc://a")], [(":0", "inproc://b"), (":1", "inproc://c")], ["inproc://b", "inproc://c"] },
        { "Bind", [(":0", "inproc://a"), (":1", "inproc://b")], [("", "inproc://c")], ["inproc://c"] },
        { "Bind", [("", "inproc://a")], [("", "inproc://b")], ["inproc://b"] },
        { "Bind", [(":0", "inproc://a"), (":1", "inproc://b")], [(":0", "inproc://c")], ["inproc://c", "inproc://b"] },
        { "Options:WebSocket:AllowedOrigins", [("", "https://a")], [(":0", "https://b")], ["https://b"] },
        { "Options:WebSocket:AllowedOrigins", [(":0", "https://a")], [("", "https://b")], ["https://b"] },
    };

    [Theory]
    [MemberData(nameof(Sources))]
    public void A_later_source_takes_the_place_of_an_earlier_one_whatever_their_shapes(
        string key, (string, string)[] earlier, (string, string)[] later, string[] expected)
    {
        var manager = new ConfigurationManager();
        manager.AddInMemoryCollection(At(earlier)).AddInMemoryCollection(At(later));
        IConfiguration chained = new ConfigurationBuilder().AddConfiguration(manager).Build();
        foreach (IConfiguration ofHost in new[] { manager, chained })
        {
            Assert.Equal(expected, SettingSources.Read(ofHost.GetSection("Zlink"), ofHost)[key].Texts()!, StringComparer.Ordinal);
        }

        IEnumerable<KeyValuePair<string, string?>> At((string Key, string Text)[] entries) =>
            entries.Select(entry => KeyValuePair.Create<string, string?>($"Zlink:{key}{entry.Key}", entry.Text));
    }

    [Fact]
    public void A_text_and_a_list_of_which_nothing_says_which_came_later_are_both_named()
    {
        IConfiguration inOneSource = new ConfigurationBuilder()
            .AddInMemoryCollection([new("Zlink:Bind", "a"), new("Zlink:Bind:0", "b")]).Build();
        IConfiguration other = new ConfigurationBuilder().AddInMemoryCollection([new("Zlink:Bind", "a")])
            .AddInMemoryCollection([new("Zlink:Bind:0", "b")]).Build();
        Action[] reads =
        [
            () => SettingSources.Read(inOneSource.GetSection("Zlink"), inOneSource),
            () => SettingSources.Read(other.GetSection("Zlink"), inOneSource), // Not of the host, and a section hides its sources.
        ];
        Assert.All(reads, static read => Assert.StartsWith(
            "Zlink:Bind and Zlink:Bind:0 are both set", Assert.Throws<ZlinkSettingException>(read).Message, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Null_is_no_limit_and_the_word_of_a_later_source_counts()
    {
        await using var host = new HostFixture(("Sockets:jobs:Options:SendHighWaterMark", "7"));
        using var json = new MemoryStream("""
            { "Zlink": { "Sockets": { "jobs": { "Bind": [ "inproc://jobs" ], "Options": { "SendHighWaterMark": null, "Tls": {} } } } } }
            """u8.ToArray());
        ((IConfigurationBuilder)host.Configuration).AddJsonStream(json);
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs");
        await host.StartAsync();
        Assert.Null(host.Get<RouterSocket>("jobs").Options.SendHighWaterMark);
    }

    [Theory]
    [InlineData("Options:HeartbeatInterval", "5", "write 00:00:05 for 5 seconds")]
    [InlineData("Options:HeartbeatInterval", "30", "write 00:00:30 for 30 seconds")]
    [InlineData("Options:HeartbeatInterval", "0.25", "write 00:00:00.2500000 for 0.25 seconds")]
    [InlineData("Options:SendTimeout", "-1", "write -00:00:00.001 forever")]
    [InlineData("Options:HeartbeatInterval", "24:00:00", "write 24.00:00:00 for 24 days")]
    [InlineData("Options:HeartbeatInterval", "5s", "takes a time such as 00:00:05, not \"5s\"")]
    [InlineData("Options:HeartbeatInterval", "", "takes a time such as 00:00:05, not \"\"")]
    [InlineData("Options:SendHighWaterMark", "many", "takes a whole number in its range, not \"many\"")]
    [InlineData("Options:SendHighWaterMark", "9999999999", "takes a whole number in its range")]
    [InlineData("Options:Mandatory", "yes", "takes true or false, not \"yes\"")]
    [InlineData("Options:OnDuplicateRoutingId", "Share it", "takes ReplaceSilent, Refuse, Replace, Share")]
    [InlineData("Options:RoutingId", "", "takes 1 to 255 bytes")]
    [InlineData("Options:SendHighWaterMark:0", "1", "takes one value, not a list or a section", "Options:SendHighWaterMark")]
    [InlineData("Options:Tls", "ca.pem", "takes a section, not one value. Its keys are: CaFile, CertificateFile")]
    [InlineData("Options:Tls:Server:AllowRenegotiation", "true", "is not a setting", "Options:Tls:Server")]
    [InlineData("Options:WebSocket:AllowedOrigins", "", "takes texts that are not empty")]
    [InlineData("Options:WebSocket:RequestFields", "Cookie", "takes a section")]
    [InlineData("Options:WebSocket:AllowedOrigins:0:x", "https://a", "takes one value", "Options:WebSocket:AllowedOrigins:0")]
    [InlineData("Bind", "", "takes texts that are not empty")]
    [InlineData("Health:UnreadMessages", "5", "takes a section, not one value. Its keys are: Degraded, Unhealthy.")]
    public async Task A_value_of_the_wrong_shape_or_without_its_unit_is_refused_with_its_key_in_the_users_words(
        string key, string value, string said, string? named = null)
    {
        await using var host = new HostFixture(($"Sockets:jobs:{key}", value));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkRouter("jobs");
        string message = (await Assert.ThrowsAsync<ZlinkSettingException>(host.StartAsync)).Message;
        Assert.StartsWith($"Zlink:Sockets:jobs:{named ?? key}", message, StringComparison.Ordinal);
        Assert.Contains(said, message, StringComparison.Ordinal);
        Assert.DoesNotContain("(Parameter", message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Settings_of_parts_that_a_program_does_not_register_are_in_its_log_and_do_not_end_it()
    {
        await using var host = new HostFixture(
            ("Clients:rates:Connect", "inproc://rates"), ("Receivers:quotes:Bind", "inproc://quotes"), ("Registry:MaxEntries", "many"),
            ("Streams:tcp://127.0.0.1:*:Options:Backlog", "9"));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkClient("quotes", "inproc://quotes");
        host.Services.AddZlinkStream("tcp://127.0.0.1:*");
        await host.StartAsync();
        Assert.Equal(9, host.Get<StreamSocket>("tcp://127.0.0.1:*").Options.Backlog);
        string[] unused = [.. host.Log.Where(static line => line.Id.Id == 12).Select(static line => line.Message)];
        Assert.Equal(
            [
                "Zlink:Receivers:quotes is not used, because this program does not register it; under Receivers it registers nothing",
                "Zlink:Clients:rates is not used, because this program does not register it; under Clients it registers quotes",
                "Zlink:Registry is not used, because this program does not register it; under Registry it registers nothing",
            ],
            unused, StringComparer.Ordinal);
        await host.StopAsync();
    }

    [Fact]
    public void Every_group_of_options_that_has_keys_can_be_set_by_the_configuration()
    {
        Type[] parts =
        [
            typeof(ZlinkContextOptions), typeof(RouterOptions), typeof(StreamOptions), typeof(ServiceGatewayOptions),
            typeof(ServiceReceiverOptions), typeof(ServiceRegistryOptions), typeof(SpotNodeOptions), typeof(SocketHealthOptions),
        ];
        IEnumerable<string> missing =
            from part in parts
            from property in part.GetProperties()
            where property.PropertyType.Namespace!.StartsWith("Net.Zlink", StringComparison.Ordinal)
                && property.PropertyType.Name.EndsWith("Options", StringComparison.Ordinal)
                && !SettingType.Find(part)!.Keys.Contains(property.Name, StringComparer.Ordinal)
            select $"{part.Name}.{property.Name}";
        Assert.Empty(missing);
    }
}
