using Net.Zlink.Conformance.Tests.Replay.Played;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>Puts the played side's bytes on the wire in the pieces that the variant asks for, and cuts the connection where a severed run
/// ends.</summary>
internal sealed class PlayedSender(ReplayOptions options, Stillness stillness)
{
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
        using var deadline = new CancellationTokenSource();
        try
        {
            for (int sent = 0; sent < bytes.Length; sent += piece)
            {
                deadline.CancelAfter(options.Guard); // Each piece has its time: 70,000 that are all waited for may take longer together.
                int count = Math.Min(piece, bytes.Length - sent);
                await connection.SendAsync(bytes.Slice(sent, count), deadline.Token);
                if (piece < bytes.Length && options.Sampling.IsWaitedFor(sent, bytes.Length))
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
