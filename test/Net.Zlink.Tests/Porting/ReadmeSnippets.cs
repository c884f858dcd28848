using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of README.md, compiled with stand-ins for the package that logs to the console.</summary>
internal static class ReadmeSnippets
{
    internal static async Task QuickStart()
    {
        using ILoggerFactory loggers = LoggerFactory.Create(logging => logging.AddConsole());
        await using var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = loggers });

        RouterSocket server = context.CreateRouter();
        server.Bind("tcp://127.0.0.1:5555");

        DealerSocket client = context.CreateDealer();
        client.Connect("tcp://127.0.0.1:5555");     // returns at once; connects, and reconnects, in the background
        await client.SendAsync("hello");

        using Message request = await server.ReceiveAsync();
        await server.SendAsync(request.RoutingId, request.Memory);

        using Message reply = await client.ReceiveAsync();
        Console.WriteLine(reply.GetString());

        PubSocket publisher = context.CreatePub();
        publisher.Bind("tcp://127.0.0.1:5556");

        SubSocket subscriber = context.CreateSub();
        subscriber.Subscribe("price.");             // messages that begin with these bytes
        subscriber.Connect("tcp://127.0.0.1:5556");

        for (int tick = 1; tick <= 10; tick++)
        {
            await publisher.SendAsync($"price.EUR {tick}");
            await Task.Delay(100);
            while (subscriber.TryReceive(out Message update))
            {
                using (update)
                {
                    Console.WriteLine(update.GetString());
                }
            }
        }
    }

    private static class LoggerFactory
    {
        public static ILoggerFactory Create(Action<Logging> configure)
        {
            configure(new Logging());
            return NullLoggerFactory.Instance;
        }
    }

    private sealed class Logging
    {
        public void AddConsole()
        {
        }
    }
}
