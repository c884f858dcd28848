using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Transports.Pipes;

/// <summary>The shard reads what the last wait brought. Until it has read all of it, the pipe is not asked for more.</summary>
internal sealed class PipeReading(PipeWire wire, PipeReader reader) : PipeHalf
{
    private ReadOnlySequence<byte> _unread;
    private SequencePosition _end;
    private bool _isHeld;
    private int _unreadBytes;

    /// <summary>Any thread.</summary>
    public int UnreadBytes => Volatile.Read(ref _unreadBytes);

    /// <summary>Behind what is unread.</summary>
    public bool HasEnded { get; private set; }

    public bool TryWait() => UnreadBytes == 0 && !HasEnded && TryBegin();

    public int Receive(Span<byte> into)
    {
        if (IsBusy)
        {
            return 0;
        }

        int received = (int)Math.Min(into.Length, _unread.Length);
        _unread.Slice(0, received).CopyTo(into);
        Keep(_unread.Slice(received));
        return received;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    protected override async ValueTask RunAsync()
    {
        do
        {
            if (_isHeld)
            {
                _isHeld = false;
                reader.AdvanceTo(_end);
            }

            ReadResult result = await OffCallerAsync(reader.ReadAsync(CancellationToken.None)).ConfigureAwait(false);
            (_end, _isHeld) = (result.Buffer.End, true);
            HasEnded = result.IsCompleted;
            Keep(result.Buffer);
        }
        while (!HasEnded && UnreadBytes == 0 && !IsClosed);
    }

    protected override void Cancel() => reader.CancelPendingRead();

    protected override void Complete(Exception? reason) => reader.Complete(reason);

    protected override void Notify() => wire.Sink.OnInput();

    private void Keep(in ReadOnlySequence<byte> unread)
    {
        _unread = unread;
        Volatile.Write(ref _unreadBytes, (int)Math.Min(int.MaxValue, unread.Length));
    }
}
