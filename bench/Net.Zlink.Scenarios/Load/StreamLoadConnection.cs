using System.Buffers;
using System.Net.Sockets;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>A connection of the load over TLS or WebSocket: any stream of bytes. Reads and writes are two loops, for either may have to
/// wait for the other end.</summary>
internal sealed class StreamLoadConnection(Stream stream, LoadState state, uint id) : ILoadConnection
{
    private const int ReadSize = 64 * 1024;

    private readonly Conversation _conversation = new(state, id);
    private readonly Lock _gate = new();
    private bool _isWriting;
    private bool _isEnding;
    private bool _isOver;

    public int InFlight => _conversation.InFlight;

    public long Sent => _conversation.Sent;

    public bool IsOver => Volatile.Read(ref _isOver);

    public void Start()
    {
        _ = Task.Run(ReadAsync);
        Fill();
    }

    public void Probe()
    {
        lock (_gate)
        {
            if (IsOver)
            {
                return;
            }

            _conversation.AllowProbe();
        }

        Fill();
    }

    public void End()
    {
        Volatile.Write(ref _isEnding, true);
        Over(SocketError.Success);
    }

    private async Task ReadAsync()
    {
        byte[] rest = [];
        int restLength = 0;
        try
        {
            while (!IsOver)
            {
                // Waits without a buffer, so that 10,000 idle connections hold none.
                await stream.WaitForDataAsync();
                byte[] buffer = ArrayPool<byte>.Shared.Rent(restLength + ReadSize);
                try
                {
                    rest.AsSpan(0, restLength).CopyTo(buffer);
                    int read = await stream.ReadAsync(buffer.AsMemory(restLength));
                    if (read == 0)
                    {
                        Over(SocketError.Success);
                        return;
                    }

                    int length = restLength + read;
                    int used = Take(buffer.AsSpan(0, length));
                    if (used < 0)
                    {
                        End();
                        return;
                    }

                    restLength = length - used;
                    if (rest.Length < restLength)
                    {
                        rest = new byte[Math.Max(restLength, Math.Min(Frames.FrameLength(buffer.AsSpan(used)), 2 * restLength))];
                    }

                    buffer.AsSpan(used, restLength).CopyTo(rest);
                }
                finally
                {
                    ArrayPool<byte>.Shared.Return(buffer);
                }

                Fill();
            }
        }
        catch (Exception e) when (IoStreamErrors.IsOfConnection(e))
        {
            Over(IoStreamErrors.ErrorOf(e));
        }
    }

    private int Take(ReadOnlySpan<byte> bytes)
    {
        lock (_gate)
        {
            return _conversation.OnBytes(bytes, state.Worker);
        }
    }

    private void Fill()
    {
        lock (_gate)
        {
            if (_isWriting || !_conversation.MaySend)
            {
                return;
            }

            _isWriting = true;
        }

        _ = WriteAsync();
    }

    private async Task WriteAsync()
    {
        try
        {
            byte[] batch = ArrayPool<byte>.Shared.Rent(state.Worker.Batch.Length);
            try
            {
                while (Compose(batch) is int length && length > 0)
                {
                    await stream.WriteAsync(batch.AsMemory(0, length));
                }
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(batch);
            }
        }
        catch (Exception e) when (IoStreamErrors.IsOfConnection(e))
        {
            Over(IoStreamErrors.ErrorOf(e));
        }
    }

    private int Compose(byte[] batch)
    {
        lock (_gate)
        {
            byte[] template = state.Worker.Batch;
            int length = IsOver ? 0 : _conversation.Compose(template);
            template.AsSpan(0, length).CopyTo(batch);
            _isWriting = length > 0;
            return length;
        }
    }

    private void Over(SocketError error)
    {
        if (!Interlocked.Exchange(ref _isOver, true))
        {
            if (!Volatile.Read(ref _isEnding))
            {
                state.CountLost(error);
            }

            stream.Dispose();
        }
    }
}
