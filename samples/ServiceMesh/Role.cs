using System.Text.Json;
using Net.Zlink;
using Net.Zlink.Services;

namespace ServiceMesh;

/// <summary>A process of the mesh: runs one service, writes its status to standard output, and obeys the lines of standard input. It ends
/// when that ends, so no process outlives the one that started it.</summary>
internal static class Role
{
    public const string ServiceName = "double";

    private static readonly TimeSpan StatusInterval = TimeSpan.FromMilliseconds(250);

    public static async Task<int> RunAsync(RoleSettings settings)
    {
        // Ctrl-C goes to every process of the terminal; these end with their input.
        Console.CancelKeyPress += static (_, pressed) => pressed.Cancel = true;
        await using var context = new ZlinkContext();
        switch (settings.Kind)
        {
            case RoleKind.Registry:
                await using (ServiceRegistry registry = StartRegistry(context, settings))
                {
                    await ServeInputAsync(() => StatusOf(registry), static _ => Task.CompletedTask);
                }

                break;
            case RoleKind.Receiver:
                await using (var receiver = new MeshReceiver(context, settings))
                {
                    await ServeInputAsync(receiver.GetStatus, receiver.ObeyAsync);
                }

                break;
            default:
                await using (var gateway = new MeshGateway(context, settings))
                {
                    await ServeInputAsync(gateway.GetStatus, gateway.ObeyAsync);
                }

                break;
        }

        return 0;
    }

    private static ServiceRegistry StartRegistry(ZlinkContext context, RoleSettings settings)
    {
        var registry = new ServiceRegistry(context, new ServiceRegistryOptions
        {
            Id = (uint)settings.Number,
            PublisherEndpoint = settings.Publisher,
            RouterEndpoint = settings.Endpoint,
            Peers = [.. settings.Others],
            PeerSocket = { ReconnectInterval = TimeSpan.FromMilliseconds(100) },
        });
        registry.Start();
        return registry;
    }

    private static RoleStatus StatusOf(ServiceRegistry registry)
    {
        RegistrySnapshot snapshot = registry.GetSnapshot();
        return new RoleStatus
        {
            Listed = [.. snapshot.Entries.Select(static entry => entry.Instance.Endpoint)],
            Connected = snapshot.Peers.Count(static peer => peer.IsConnected),
            Requests = snapshot.ListsSent,
        };
    }

    /// <summary>Returns at the end of the input, or when a line has ended the role.</summary>
    private static async Task ServeInputAsync(Func<RoleStatus> status, Func<string, Task> obey)
    {
        using var timer = new PeriodicTimer(StatusInterval);
        Task<bool> tick = timer.WaitForNextTickAsync().AsTask();
        Task<string?> input = ReadLineAsync();
        while (true)
        {
            Console.WriteLine(JsonSerializer.Serialize(status()));
            await Task.WhenAny(tick, input);
            if (tick.IsCompleted)
            {
                tick = timer.WaitForNextTickAsync().AsTask();
            }

            if (!input.IsCompleted)
            {
                continue;
            }

            if (await input is not { Length: > 0 } line)
            {
                return;
            }

            await obey(line);
            if (string.Equals(line, "drain", StringComparison.Ordinal))
            {
                return;
            }

            input = ReadLineAsync();
        }
    }

    /// <summary>The console has no read that does not block.</summary>
    private static Task<string?> ReadLineAsync() =>
        Task.Factory.StartNew(static () => Console.In.ReadLine(), CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
}
