namespace Net.Zlink.Extensions.Tests.Docs;

/// <summary>What the code of a page uses and does not declare, because the reader has it already.</summary>
/// <param name="Names">Fields.</param>
/// <param name="Types">Types.</param>
internal sealed record Ambient(string Names, string Types = "")
{
    public static IReadOnlyDictionary<string, Ambient> OfPages { get; } = new Dictionary<string, Ambient>(StringComparer.Ordinal)
    {
        ["README.md"] = new(
            "ZlinkContext context; HostApplicationBuilder builder; Prices prices;",
            "interface Prices { ValueTask<Quote> FindAsync(Ask ask, CancellationToken cancellation); }"),
        ["src/Net.Zlink/PACKAGE.md"] = new("ZlinkContext context;"),
        ["src/Net.Zlink.AspNetCore/PACKAGE.md"] = new(
            "WebApplication app; PubSocket prices; StreamSocket chat;",
            """
            sealed class Room : StreamHandler
            {
                public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames) => default;
            }
            """),
        ["src/Net.Zlink.Extensions.Connections/PACKAGE.md"] = new("HostApplicationBuilder builder;"),
        ["src/Net.Zlink.Extensions.Hosting/PACKAGE.md"] = new("RequestClient quotes; CancellationToken cancellation;"),
        ["src/Net.Zlink.Extensions.OpenTelemetry/PACKAGE.md"] = new("HostApplicationBuilder builder;"),
        ["src/Net.Zlink.Porting/PACKAGE.md"] = new("DealerSocket dealer;"),
        ["src/Net.Zlink.Extensions.Nats/PACKAGE.md"] = new("ZlinkContext context; ServiceReceiver receiver; NatsConnection nats;"),
        ["src/Net.Zlink.Extensions.ServiceDiscovery/PACKAGE.md"] = new("""
            ZlinkContext context; HostApplicationBuilder builder; IServiceProvider provider; RegistryDirectory discovery;
            """),
        ["docs/analyzers.md"] = new("DealerSocket socket; DealerSocket other; CancellationToken token;"),
        ["docs/coming-from.md"] = new("""
            ZlinkContext context; SubSocket subscriber; RequestClient client; CancellationToken token;
            """, "record Ask(string Currency); record Quote(decimal Price);"),
        ["docs/PortingGuide.md"] = new("""
            ZlinkContext context; RouterSocket router; DealerSocket dealer; PubSocket pub; SubSocket sub; PairSocket one; PairSocket two;
            Message request; StringBuilder text; int missed; CancellationToken cancellation;
            """),
        ["docs/aspnetcore.md"] = new(
            "WebApplicationBuilder builder; WebApplication app; PubSocket prices; StreamSocket chat; ServiceGateway gateway;"),
        ["docs/javascript.md"] = new("WebApplication app; ServiceGateway gateway;"),
        ["docs/hosting.md"] = new("HostApplicationBuilder builder; RequestClient client; CancellationToken cancellation;"),
        ["docs/patterns.md"] = new(
            """
            ZlinkContext context; HostApplicationBuilder builder; JsonMessageSerializer json; RouterSocket router; PubSocket publisher;
            DealerSocket socket; PairSocket source; PairSocket target; SpotNode node; string registryLists; string registryRequests;
            StreamHandler handler; MeterListener listener; RoutingId id; Sessions sessions; TimeSpan pause; CancellationToken end;
            CancellationToken cancellation; Action<string, ReadOnlySpan<byte>> Show; System.IO.Pipelines.IDuplexPipe pipe;
            Func<string, CancellationToken, ValueTask<Quote>> PriceOfAsync;
            """,
            """
            record Ask(string Currency); record Quote(decimal Price);
            interface Sessions { ValueTask<object?> FindAsync(string? cookie, CancellationToken cancellation); }
            """),
        ["docs/monitoring.md"] = new("ZlinkContext context;"),
        ["docs/services.md"] = new(
            """
            ZlinkContext context; RegistryDirectory discovery; ServiceReceiver receiver; DnsDirectory directory; NatsConnection nats;
            Policy policy; byte[] question; byte[] position; CancellationToken cancellation;
            """,
            "interface Policy { Task<bool> MayRegisterAsync(string? subject, string service, CancellationToken cancellation); }"),
        ["docs/stream.md"] = new("StreamSocket stream; DealerSocket server; DealerSocket client; CancellationToken cancellation;"),
        ["examples"] = new(
            """
            ZlinkContext context; ILoggerFactory loggers; WebApplicationBuilder builder; WebApplication app; IServiceCollection services;
            IServiceProvider provider; ServiceGateway gateway; PairSocket socket;
            RouterSocket router; DealerSocket requests; SubSocket prices; RouterSocket frontRouter; DealerSocket backDealer;
            StreamHandler handler; RegistryDirectory discovery; DnsDirectory directory; ServiceReceiver receiver; NatsConnection nats;
            byte[] payload; byte[] position; CancellationToken cancellation; CancellationToken stoppingToken;
            Func<string, CancellationToken, ValueTask<Quote>> PriceOfAsync;
            """,
            """
            record Ask(string Currency); record Quote(decimal Price); abstract class ChatRoom : StreamHandler;
            abstract class EchoConnection : ConnectionHandler;
            """),
    };
}
