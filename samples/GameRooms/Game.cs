namespace Samples.GameRooms;

/// <summary>Starts the node processes, shows their address, and does what keys ask for.</summary>
internal static class Game
{
    private static readonly TimeSpan KeyInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Absence = TimeSpan.FromSeconds(10);

    /// <returns>What went wrong, or null.</returns>
    public static async Task<string?> RunAsync(Func<int, ChildProcess> start, int nodes, int port, CancellationToken cancellation)
    {
        List<ChildProcess> children = [start(port)];
        try
        {
            children.AddRange(Enumerable.Range(1, nodes - 1).Select(_ => start(-1)));
            string address = await children[0].ReadWordAsync("READY", cancellation).ConfigureAwait(false);
            Console.WriteLine($"READY {address}   k: kill a node for 10 s   s: a slow subscriber at node 1   Ctrl-C: end");
            _ = ShowAsync(children[0], cancellation);
            using var timer = new PeriodicTimer(KeyInterval);
            while (await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false))
            {
                switch (Console.IsInputRedirected || !Console.KeyAvailable ? '\0' : Console.ReadKey(intercept: true).KeyChar)
                {
                    case 's':
                        children[0].Send("SLOW");
                        break;
                    case 'k':
                        children[^1].Kill();
                        Console.WriteLine("A node was killed: when its lease is over, the others take over its zones.");
                        await Task.Delay(Absence, cancellation).ConfigureAwait(false);
                        await children[^1].DisposeAsync().ConfigureAwait(false);
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
            foreach (ChildProcess child in children)
            {
                await child.DisposeAsync().ConfigureAwait(false);
            }
        }

        return null;
    }

    /// <summary>What a node says next that begins with this word, without it.</summary>
    /// <exception cref="IOException">It has ended.</exception>
    public static async Task<string> ReadWordAsync(this ChildProcess node, string word, CancellationToken cancellation) =>
        await node.ReadLineAsync(word, Timeout.InfiniteTimeSpan, cancellation).ConfigureAwait(false) is { } line
            ? line[word.Length..].Trim()
            : throw new IOException($"a node process has ended before its time: {node.LastErrors}");

    private static async Task ShowAsync(ChildProcess child, CancellationToken cancellation)
    {
        while (!cancellation.IsCancellationRequested)
        {
            Console.WriteLine($"node 1: {await child.ReadWordAsync("STATUS", cancellation).ConfigureAwait(false)}");
        }
    }
}
