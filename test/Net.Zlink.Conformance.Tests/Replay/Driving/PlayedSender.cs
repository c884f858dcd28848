using Net.Zlink.Conformance.Tests.Replay.Played;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>Puts the played side's bytes on the wire in the pieces that the variant asks for, and cuts the connection where a severed run ends.</summary>
internal sealed class PlayedSender(ReplayOptions options, Stillness stillness)
{
    /// <summary>
    /// split: of a big run of bytes the first and last 64 are each waited for until they were read; in between, every byte is still a write of its own,
    /// and every 1,024th is waited for: 70,000 waits would take minutes and show nothing new.
    /// </summary>
    private const int WatchedEdge = 64;
    private const int WatchedEvery = 1024;

    private PlayedConnection? _last;

    /// <summary>True once the run's cut was made.</summary>
    public bool IsCut { get; private set; }

    /// <summary>Sends these bytes; <paramref name="segment"/> is the file's own wish for pieces of that size, null for one write.</summary>
    public async Task SendAsync(PlayedConnection connection, ReadOnlyMemory<byte> bytes, int? segment)
    {
        if (_last is not null && _last != connection)
        {
            // What came first on the wire must come first to the application, across connections too: the file lists one order.
            await stillness.WaitUntilTakenAsync(_last);
        }

        _last = connection;
        bool cutsHere = options.Cut is { } cut && cut.Connection == connection.Number && cut.Bytes <= connection.SentCount + bytes.Length;
        ReadOnlyMemory<byte> whole = cutsHere ? bytes[..(options.Cut!.Value.Bytes - connection.SentCount)] : bytes;
        int piece = options.Variant switch
        {
            Variant.Split => 1,
            Variant.Plain => segment ?? whole.Length,
            _ => whole.Length,
        };
        await SendPiecesAsync(connection, whole, piece);
        if (cutsHere)
        {
            IsCut = true;
            connection.ShutdownSend();
        }
    }

    private async Task SendPiecesAsync(PlayedConnection connection, ReadOnlyMemory<byte> bytes, int piece)
    {
        using var deadline = new CancellationTokenSource(options.Guard);
        try
        {
            for (int sent = 0; sent < bytes.Length; sent += piece)
            {
                int count = Math.Min(piece, bytes.Length - sent);
                await connection.SendAsync(bytes.Slice(sent, count), deadline.Token);
                bool edge = sent < WatchedEdge || sent >= bytes.Length - WatchedEdge || sent % WatchedEvery == 0;
                if (piece < bytes.Length && edge)
                {
                    await stillness.WaitUntilReadAsync(connection);
                }
            }
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested)
        {
            throw new ReplayFailedException($"what was sent on connection {connection.Number} was not taken in");
        }
    }
}
