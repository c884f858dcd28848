using Microsoft.Extensions.Configuration;
using Xunit;

namespace Net.Zlink.Binding.Tests;

/// <summary>The options of sockets are bound from configuration, by the source generator and by reflection alike.</summary>
public sealed class OptionBindingTests
{
    // A method group is no call, so the generator does not replace it.
    private static readonly Action<IConfiguration, object?> BindByReflection = ConfigurationBinder.Bind;

    private static readonly Action<IConfiguration, object?, Action<BinderOptions>?> BindStrictlyByReflection = ConfigurationBinder.Bind;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Numbers_times_switches_texts_sets_and_groups_are_bound(bool generated)
    {
        var options = new DealerOptions();
        IConfiguration configuration = Of(
            ("SendHighWaterMark", "500"), ("SendByteLimit", "1000000"), ("HeartbeatInterval", "00:00:01"),
                ("HeartbeatTimeout", "00:00:03"), ("Immediate", "true"), ("BindToDevice", "lo"),
            ("KeepAlive", "true"), ("KeepAliveIdle", "00:01:00"), ("Tls:CaFile", "ca.pem"), ("Tls:RequireClientCertificate", "true"),
                ("WebSocket:AllowedPaths:0", "/chat"));
        Bind(generated, configuration, options);
        Assert.Equal((500, 1_000_000L, true, "lo"),
            (options.SendHighWaterMark, options.SendByteLimit, options.Immediate, options.BindToDevice));
        Assert.Equal((TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(3), TimeSpan.FromMinutes(1)),
            (options.HeartbeatInterval, options.HeartbeatTimeout, options.KeepAliveIdle));
        Assert.Equal(("ca.pem", true), (options.Tls.CaFile, options.Tls.RequireClientCertificate));
        Assert.Equal(["/chat"], options.WebSocket.AllowedPaths, StringComparer.Ordinal);
    }

    [Theory]
    [InlineData(true, "server-1", "server-1")]
    [InlineData(false, "server-1", "server-1")]
    [InlineData(true, "0x00ff", "0x00ff")]
    [InlineData(false, "0x00ff", "0x00ff")]
    public void A_routing_id_is_bound_from_its_text(bool generated, string text, string expected)
    {
        var options = new DealerOptions();
        Bind(generated, Of(("RoutingId", text)), options);
        Assert.Equal(expected, options.RoutingId.ToString());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_key_that_is_not_there_changes_nothing(bool generated)
    {
        var options = new DealerOptions();
        RoutingId before = options.RoutingId.Copy();
        Bind(generated, Of(("Immediate", "true")), options);
        Assert.Equal(before, options.RoutingId);
        Assert.Equal((300_000, null, null), (options.SendHighWaterMark, options.MaxMessageSize, options.KeepAlive));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Times_that_are_not_bound_are_those_of_the_context(bool generated)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.FromSeconds(7), IPv6 = true });
        var options = new DealerOptions();
        Bind(generated, Of(("Immediate", "true")), options);
        using DealerSocket socket = context.CreateDealer(options);
        Assert.Equal((TimeSpan.FromSeconds(7), true), (socket.Options.Linger, socket.Options.IPv6));
    }

    [Theory]
    [InlineData(true, "0xf")]
    [InlineData(false, "0xf")]
    [InlineData(true, "")]
    [InlineData(false, "")]
    public void A_text_that_is_no_routing_id_is_an_error(bool generated, string text) =>
        Assert.NotNull(Record.Exception(() => Bind(generated, Of(("RoutingId", text)), new DealerOptions())));

    [Theory]
    [InlineData(true, "SendHighWaterMark", "0")]
    [InlineData(false, "SendHighWaterMark", "0")]
    [InlineData(true, "SendHighWaterMark", "many")]
    [InlineData(false, "SendHighWaterMark", "many")]
    [InlineData(true, "Linger", "-00:00:05")]
    [InlineData(false, "Linger", "-00:00:05")]
    public void A_value_that_an_option_does_not_take_is_an_error(bool generated, string key, string value) =>
        Assert.NotNull(Record.Exception(() => Bind(generated, Of((key, value)), new DealerOptions())));

    [Theory]
    [InlineData(true, "SendHighWatermarks")]
    [InlineData(false, "SendHighWatermarks")]
    [InlineData(true, "Tls:Server")]
    [InlineData(false, "Tls:Server")]
    public void A_key_that_names_no_option_is_an_error_where_it_is_asked_for(bool generated, string key)
    {
        IConfiguration configuration = Of((key, "1"));
        var options = new DealerOptions();
        Exception? thrown = Record.Exception(() =>
        {
            if (generated)
            {
                configuration.Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true);
            }
            else
            {
                BindStrictlyByReflection(configuration, options, static binder => binder.ErrorOnUnknownConfiguration = true);
            }
        });
        Assert.Contains(key.Split(':')[^1], Assert.IsType<InvalidOperationException>(thrown).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_of_every_type_are_bound_by_the_generator()
    {
        IConfiguration configuration = Of(("ReceiveHighWaterMark", "7"));
        var pair = new PairOptions();
        var router = new RouterOptions();
        var pub = new PubOptions();
        var sub = new SubOptions();
        var xsub = new XSubOptions();
        var stream = new StreamOptions();
        configuration.Bind(pair);
        configuration.Bind(router);
        configuration.Bind(pub);
        configuration.Bind(sub);
        configuration.Bind(xsub);
        configuration.Bind(stream);
        Assert.All(new SocketOptions[] { pair, router, pub, sub, xsub, stream },
            static options => Assert.Equal(7, options.ReceiveHighWaterMark));
    }

    private static void Bind(bool generated, IConfiguration configuration, DealerOptions options)
    {
        if (generated)
        {
            configuration.Bind(options);
        }
        else
        {
            BindByReflection(configuration, options);
        }
    }

    private static IConfiguration Of(params (string Key, string Value)[] values) =>
        new ConfigurationBuilder().AddInMemoryCollection(
            values.Select(static one => KeyValuePair.Create<string, string?>(one.Key, one.Value))).Build();
}
