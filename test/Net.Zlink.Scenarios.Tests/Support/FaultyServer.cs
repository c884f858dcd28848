using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Scenarios.Tests.Support;

/// <summary>An echo server that does one thing wrong.</summary>
internal sealed class FaultyServer : IAsyncDisposable
{
    // Among the first that a connection sends, so that it comes however slow the machine is.
    private const int FaultyMessage = 1;
    private const int ConnectionAt = 4 + 8;
    private const int SequenceAt = 4 + 12;

    private readonly Fault _fault;
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _end = new();
    private readonly Task _accepting;

    public FaultyServer(Fault fault)
    {
        _fault = fault;
        _listener.Start();
        _accepting = Task.Run(AcceptAsync);
    }

    public string Endpoint => $"tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        _listener.Dispose();
        await _accepting;
        _end.Dispose();
    }

    private async Task AcceptAsync()
    {
        var serving = new List<Task>();
        try
        {
            while (true)
            {
                serving.Add(ServeAsync(await _listener.AcceptSocketAsync(_end.Token)));
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException or SocketException
            or InvalidOperationException)
        {
            // The end.
        }

        await Task.WhenAll(serving);
    }

    private async Task ServeAsync(Socket socket)
    {
        using Socket owned = socket;
        socket.NoDelay = true;
        await using var stream = new NetworkStream(socket);
        byte[] header = new byte[4];
        byte[]? held = null;
        try
        {
            for (long number = 0; ; number++)
            {
                await stream.ReadExactlyAsync(header, _end.Token);
                byte[] frame = new byte[4 + BinaryPrimitives.ReadInt32BigEndian(header)];
                header.CopyTo(frame, 0);
                await stream.ReadExactlyAsync(frame.AsMemory(4), _end.Token);
                if (_fault == Fault.Reorders && number == FaultyMessage)
                {
                    held = frame;
                    continue;
                }

                foreach (byte[] reply in Replies(frame, number, socket))
                {
                    await stream.WriteAsync(reply, _end.Token);
                }

                if (held is not null)
                {
                    await stream.WriteAsync(held, _end.Token);
                    held = null;
                }

                if (_fault == Fault.Ends && number == FaultyMessage)
                {
                    return;
                }
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or ObjectDisposedException)
        {
            // The client left, or it was its fault that it did.
        }
    }

    private IEnumerable<byte[]> Replies(byte[] frame, long number, Socket socket)
    {
        if (_fault == Fault.ChangesTheMiddle)
        {
            frame[40] ^= 1;
        }

        if (number != FaultyMessage)
        {
            return _fault == Fault.Stalls && number > FaultyMessage ? [] : [frame];
        }

        switch (_fault)
        {
            case Fault.Drops or Fault.Stalls or Fault.Ends:
                return [];
            case Fault.Duplicates:
                return [frame, frame];
            case Fault.Resets:
                socket.LingerState = new LingerOption(true, 0);
                socket.Close();
                return [];
            case Fault.Invents:
                byte[] invented = [.. frame];
                BinaryPrimitives.WriteInt64LittleEndian(invented.AsSpan(SequenceAt), 1_000_000_000);
                return [invented, frame];
            case Fault.Confuses:
                byte[] confused = [.. frame];
                BinaryPrimitives.WriteUInt32LittleEndian(confused.AsSpan(ConnectionAt), 999);
                return [confused, frame];
            case Fault.ChangesTheEnd:
                frame[^1] ^= 1;
                return [frame];
            case Fault.Lengthens:
                byte[] longer = [.. frame, 0];
                BinaryPrimitives.WriteInt32BigEndian(longer, longer.Length - 4);
                return [longer];
            default:
                return [frame];
        }
    }
}
