using System.Buffers.Binary;
using Net.Zlink;

namespace Samples.DealerRouter;

/// <summary>A client with a DEALER bound to one endpoint, and workers that connect a ROUTER each: requests go round the workers that have
/// room.</summary>
/// <remarks>A request is a number; its answer is two parts, the number and its square.</remarks>
internal sealed class RequestReply(int workers, int requests, string endpoint, TextWriter output)
{
    // Requests under way at once: enough to keep every worker busy, and few enough that none waits long.
    private const int Window = 256;

    private readonly long[] _served = new long[workers];

    /// <summary>How many requests each worker has answered.</summary>
    public IReadOnlyList<long> Served => _served;

    /// <summary>Answers that were right.</summary>
    public long Right { get; private set; }

    /// <summary>Runs the demo.</summary>
    public async Task RunAsync(CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        using DealerSocket client = context.CreateDealer();
        string where = client.Bind(endpoint);
        RouterSocket[] sockets = [.. Enumerable.Range(0, workers).Select(_ => context.CreateRouter())];
        Task[] serving = [.. sockets.Select((socket, number) =>
            Task.Run(() => ServeAsync(socket, where, number, cancellation), cancellation))];

        // Requests sent before all workers are there would all go to the first ones.
        while (client.GetPeers().Count(static p => p.IsConnected) < workers)
        {
            if (Array.Find(serving, static worker => worker.IsCompleted) is { } ended)
            {
                await ended.ConfigureAwait(false); // It could not connect, and says why.
            }

            await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
        }

        output.WriteLine(FormattableString.Invariant($"{workers:N0} workers at {where}; Ctrl-C stops."));
        using var window = new SemaphoreSlim(Window);
        Task receiving = ReceiveAsync(client, window, cancellation);
        byte[] request = new byte[sizeof(long)];
        for (long i = 0; i < requests; i++)
        {
            Task place = window.WaitAsync(cancellation);
            if (!place.IsCompleted && await Task.WhenAny(place, receiving).ConfigureAwait(false) == receiving)
            {
                await receiving.ConfigureAwait(false); // It failed, and says why: nobody frees a place any more.
            }

            await place.ConfigureAwait(false);
            BinaryPrimitives.WriteInt64LittleEndian(request, i);
            await client.SendAsync(request, cancellation).ConfigureAwait(false);
        }

        await receiving.ConfigureAwait(false);
        foreach (RouterSocket socket in sockets)
        {
            socket.Dispose(); // Ends the worker's loop.
        }

        await Task.WhenAll(serving).ConfigureAwait(false);
    }

    private async Task ServeAsync(RouterSocket socket, string where, int number, CancellationToken cancellation)
    {
        socket.Connect(where);
        using var reply = new MessageBuilder();
        await foreach (Message request in socket.ReceiveAllAsync(cancellation).ConfigureAwait(false))
        {
            using (request)
            {
                long asked = BinaryPrimitives.ReadInt64LittleEndian(request.Span);
                reply.Add(request.Span);
                BinaryPrimitives.WriteInt64LittleEndian(reply.AddSpace(sizeof(long)), unchecked(asked * asked));

                // The routing id says whom to answer; an accepted send leaves the builder empty, for the next answer.
                await socket.To(request.RoutingId).SendAsync(reply, cancellation).ConfigureAwait(false);
                _served[number]++;
            }
        }
    }

    private async Task ReceiveAsync(DealerSocket client, SemaphoreSlim window, CancellationToken cancellation)
    {
        var seen = new bool[requests];
        for (int received = 0; received < requests; received++)
        {
            using Message reply = await client.ReceiveAsync(cancellation).ConfigureAwait(false);
            long number = BinaryPrimitives.ReadInt64LittleEndian(reply[0].Span);
            long square = BinaryPrimitives.ReadInt64LittleEndian(reply[1].Span);
            bool isNew = number >= 0 && number < requests && !seen[number];
            if (isNew && reply.PartCount == 2 && square == unchecked(number * number))
            {
                seen[number] = true;
                Right++;
            }

            window.Release();
        }
    }
}
