using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/patterns.md about a program that has a host, compiled and run, with stand-ins for what the host's packages
/// have.</summary>
public sealed class HostedPatternSnippets
{
    [Fact]
    public async Task A_context_of_the_container_logs_where_its_host_logs_and_a_service_of_it_answers_until_it_is_stopped()
    {
        var log = new RecordingLoggers();
        var services = new ServiceCollection();
        Register(services);
        ServiceDescriptor registered = Assert.Single(services, static one => one.ServiceType == typeof(ZlinkContext));
        await using var context = (ZlinkContext)registered.ImplementationFactory!(new OnlyLoggers(log));
        using DealerSocket client = context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        client.Connect("inproc://hosted");
        using var service = new PriceService(context, new PriceSettings("inproc://hosted"));
        await service.StartAsync(Guard.Token);
        client.Send("EUR"u8);
        using (Message reply = await client.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("1.2", reply.GetString());
        }

        await service.StopAsync(Guard.Token).Guarded();
        using PairSocket failing = context.CreatePair();
        using IDisposable calls = failing.OnEvent(Net.Zlink.Monitoring.SocketEventTypes.Listening, static _ => throw new InvalidOperationException("to be logged"));
        failing.Bind("tcp://127.0.0.1:0");
        await Guard.UntilAsync(() => log.TextsOf(12).Any(), "the context's log reaches the host's loggers");
    }

    private static void Register(IServiceCollection services)
    {
        services.AddSingleton(static provider => new ZlinkContext(new ZlinkContextOptions
        {
            LoggerFactory = provider.GetRequiredService<ILoggerFactory>(),
            ShutdownTimeout = TimeSpan.FromSeconds(10),
        }));
        services.AddSingleton(new PriceSettings("tcp://*:5555"));
        services.AddHostedService<PriceService>();
    }

    public sealed record PriceSettings(string Endpoint);

    public sealed class PriceService(ZlinkContext context, PriceSettings settings) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            using RouterSocket router = context.CreateRouter(new RouterOptions { Linger = TimeSpan.FromSeconds(5) });
            router.Bind(settings.Endpoint);
            await foreach (Message request in router.ReceiveAllAsync(stoppingToken))
            {
                using (request)
                {
                    await router.SendAsync(request.RoutingId, PriceOf(request.GetString()), CancellationToken.None);
                }
            }
        }

        private static byte[] PriceOf(string currency) => currency is "EUR" ? "1.2"u8.ToArray() : [];
    }

    private sealed class OnlyLoggers(ILoggerFactory loggers) : IServiceProvider
    {
        public object? GetService(Type serviceType) => serviceType == typeof(ILoggerFactory) ? loggers : null;
    }
}
