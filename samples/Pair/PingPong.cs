using System.Buffers.Binary;
using Net.Zlink;

namespace Samples.Pair;

/// <summary>One side sends a number, the other sends it back.</summary>
internal sealed class PingPong(string endpoint, int rounds, TextWriter output)
{
    /// <summary>Balls that came back with the number they went with.</summary>
    public long Returned { get; private set; }

    /// <summary>Plays.</summary>
    public async Task PlayAsync(CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        using PairSocket server = context.CreatePair();
        using PairSocket client = context.CreatePair();
        string where = server.Bind(endpoint);
        client.Connect(where);
        output.WriteLine(FormattableString.Invariant($"{rounds:N0} balls over {where}; Ctrl-C stops."));
        Task answering = AnswerAsync(server, cancellation);

        byte[] ball = new byte[sizeof(int)];
        var progress = new Progress(output, "balls", rounds);
        for (int i = 0; i < rounds; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(ball, i);
            await client.SendAsync(ball, cancellation).ConfigureAwait(false);

            // A received message is a lease on pooled memory: it ends with the block.
            using Message message = await client.ReceiveAsync(cancellation).ConfigureAwait(false);
            Returned += message.Span.SequenceEqual(ball) ? 1 : 0;
            progress.Show(i + 1);
        }

        server.Dispose(); // Ends the other side's loop.
        await answering.ConfigureAwait(false);
    }

    private static async Task AnswerAsync(PairSocket socket, CancellationToken cancellation)
    {
        await foreach (Message message in socket.ReceiveAllAsync(cancellation).ConfigureAwait(false))
        {
            // Accepted, the message belongs to the socket, and is ended by it.
            await socket.SendAsync(message, cancellation).ConfigureAwait(false);
        }
    }
}
