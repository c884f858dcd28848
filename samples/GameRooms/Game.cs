namespace Samples.GameRooms;

/// <summary>Starts the node processes, shows their address, and does what keys ask for.</summary>
internal static class Game
{
    private static readonly TimeSpan KeyInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Absence = TimeSpan.FromSeconds(10);

    /// <returns>What went wrong, or null.</returns>
    public static async Task<string?> RunAsync(Func<int, NodeChild> start, int nodes, int port, CancellationToken cancellation)
    {
        List<NodeChild> children = [start(port)];
        try
        {
            children.AddRange(Enumerable.Range(1, nodes - 1).Select(_ => start(-1)));
            string address = await children[0].ReadAsync("READY", cancellation).ConfigureAwait(false);
            Console.WriteLine($"READY {address}   k: kill a node for 10 s   s: a slow subscriber at node 1   Ctrl-C: end");
            _ = ShowAsync(children[0], cancellation);
            using var timer = new PeriodicTimer(KeyInterval);
            while (await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false))
            {
                switch (Console.IsInputRedirected || !Console.KeyAvailable ? '\0' : Console.ReadKey(intercept: true).KeyChar)
                {
                    case 's':
                        children[0].Tell("SLOW");
                        break;
                    case 'k':
                        children[^1].Kill();
                        Console.WriteLine("A node was killed: when its lease is over, the others take over its zones.");
                        await Task.Delay(Absence, cancellation).ConfigureAwait(false);
                        children[^1].Dispose();
                        children[^1] = start(-1);
                        break;
                    default:
                        break;
                }
            }
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            // Ctrl-C.
        }
        finally
        {
            children.ForEach(static child => child.Dispose());
        }

        return null;
    }

    private static async Task ShowAsync(NodeChild child, CancellationToken cancellation)
    {
        while (!cancellation.IsCancellationRequested)
        {
            Console.WriteLine($"node 1: {await child.ReadAsync("STATUS", cancellation).ConfigureAwait(false)}");
        }
    }
}
